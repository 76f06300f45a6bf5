"""TMIO's JSON lines, JSON, MessagePack and their short forms."""

from __future__ import annotations

import itertools
import json
from typing import Any

import msgpack
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.collectors.sources.tmio.parser import TmioParser
from iotide.events import Flag, Kind, Layer
from iotide.events.network.wire import MAX_BATCH_EVENTS
from support.formats.parsing import Stream, only_stream, parse, split_at
from support.places import DATA

NS = 10**9


def stream_of(value: Any) -> Stream:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return only_stream(parse(TmioParser, data)[0])


def told(stream: Stream) -> list[tuple[int, int, int]]:
    events = stream.events
    return list(zip(events.start.tolist(), events.duration.tolist(), events.bytes.tolist(), strict=True))


def section(**bandwidth: Any) -> dict[str, Any]:
    return {"write_sync": {"number_of_ranks": 4, "bandwidth": bandwidth}}


RANKS = {"b_rank_avr": [100, 50.0], "t_rank_s": [1, 2.5], "t_rank_e": [2, 4.5]}
RANK_EVENTS = [(1 * NS, 1 * NS, 100), (2_500_000_000, 2 * NS, 100)]


@pytest.mark.parametrize("name", ["tmio-8ranks.jsonl", "tmio-8ranks.msgpack"])
def test_eight_rank_sample_has_every_phase_of_every_flush(name: str) -> None:
    streams, about = parse(TmioParser, (DATA / name).read_bytes())
    stream = only_stream(streams)
    events = stream.events
    assert about.problems.total == 0
    assert stream.info.ranks == 8
    assert stream.info.clock_offset_ns is None
    assert len(events) == 2 * 15 * 73
    writes = events.select(events.kind == Kind.WRITE)
    assert len(writes) == 15 * 73
    assert int(writes.start.min()) == 53_090_000
    assert int(writes.end.max()) == 28_982_125_000
    assert set(events.flags.tolist()) == {int(Flag.AGGREGATE)}
    assert set(events.layer.tolist()) == {int(Layer.MPIIO)}


def test_first_version_counts_in_megabytes_and_later_ones_in_bytes() -> None:
    events = only_stream(parse(TmioParser, (DATA / "tmio-8ranks.jsonl").read_bytes())[0]).events
    written = int(events.bytes[events.kind == Kind.WRITE].sum())
    assert written == pytest.approx(15 * 329.1656e6, rel=1e-5)
    one_flush = section(b_rank_avr=[2.0], t_rank_s=[0.0], t_rank_e=[3.0])
    assert told(stream_of(one_flush)) == [(0, 3 * NS, 6)]
    one_flush["write_sync"]["max_transfersize_over_ranks"] = 25.2
    assert told(stream_of(one_flush)) == [(0, 3 * NS, 6_000_000)]


def test_custom_samples_are_in_bytes() -> None:
    ranks = stream_of((DATA / "tmio-custom-ranks.json").read_bytes())
    assert (len(ranks.events), ranks.info.ranks) == (32, 4)
    assert int(ranks.events.bytes.sum()) == pytest.approx(1.68e9, rel=0.002)  # total_bytes, rounded in the file
    application = stream_of((DATA / "tmio-custom-app.json").read_bytes())
    assert told(application) == [
        (1 * NS, 1 * NS, 1_000_000_000),
        (2 * NS, 2 * NS, 4_000_000_000),
        (4 * NS, 2 * NS, 10_000_000_000),
        (6 * NS, 1 * NS, 2_000_000_000),
        (7 * NS, 1 * NS, 1_000_000_000),
    ]


def test_rank_level_goes_before_requests_and_these_before_the_application() -> None:
    requests = {"b_ind": [7.0], "t_ind_s": [0.0], "t_ind_e": [1.0]}
    application = {"b_overlap_avr": [9.0, 0.0], "t_overlap": [0.0, 1.0]}
    assert told(stream_of(section(**RANKS, **requests, **application))) == RANK_EVENTS
    assert told(stream_of(section(b_rank_avr=[], t_rank_s=[], **requests, **application))) == [(0, NS, 7)]
    assert told(stream_of(section(**application))) == [(0, NS, 9)]


def test_missing_ends_are_the_next_beginnings() -> None:
    assert told(stream_of(section(b_rank_avr=[2.0, 3.0, 4.0], t_rank_s=[0.0, 1.0, 3.0]))) == [
        (0, NS, 2),
        (NS, 2 * NS, 6),
    ]


def test_required_bandwidth_and_times_are_left_out_by_rule() -> None:
    record = {
        "read_async_t": {"bandwidth": RANKS},
        "read_async_b": {"bandwidth": RANKS},
        "write_async_b": {"bandwidth": RANKS},
        "io_time": {"delta_t_agg": 1.0},
    }
    streams, about = parse(TmioParser, json.dumps(record).encode())
    rows = only_stream(streams).rows()
    assert [(row["call"], row["kind"]) for row in rows] == [("read_async_t", Kind.READ)] * 2
    assert about.counters["sections_ignored:required_bandwidth"] == 2
    assert about.counters["sections_ignored:io_time"] == 1
    assert about.problems.total == 0


@pytest.mark.parametrize(
    ("record", "events"),
    [
        ({"bandwidth": RANKS}, RANK_EVENTS),
        (RANKS, RANK_EVENTS),
        ({"b": [100, 50], "ts": [1, 2.5], "te": [2, 4.5], "ranks": 3}, RANK_EVENTS),
        ({"b": [100, 50, 0], "t": [1, 2, 4]}, [(NS, NS, 100), (2 * NS, 2 * NS, 100)]),
        ({"b": [100, 50], "t": [1, 2, 4]}, [(NS, NS, 100), (2 * NS, 2 * NS, 100)]),
        ({"b_overlap": [5, 1], "t_overlap": [0, 2]}, [(0, 2 * NS, 10)]),
        ([{"b": [5, 1], "t": [0, 2]}, {"b": [1, 1], "t": [3, 4]}], [(0, 2 * NS, 10), (3 * NS, NS, 1)]),
    ],
)
def test_short_forms_are_read(record: Any, events: list[tuple[int, int, int]]) -> None:
    stream = stream_of(record)
    assert told(stream) == events
    assert set(stream.events.kind.tolist()) == {int(Kind.READ)}


def test_message_of_the_reference_predictor_is_a_write() -> None:
    stream = stream_of(msgpack.packb({"ranks": 3, "b": [100, 50], "ts": [1, 2.5], "te": [2, 4.5]}))
    assert told(stream) == RANK_EVENTS
    assert set(stream.events.kind.tolist()) == {int(Kind.WRITE)}
    assert stream.info.ranks == 3


def test_asynchronous_samples_of_messagepack_give_the_actual_throughput() -> None:
    sample = [40, 1.0, 3.0, 9.0, 25.0, 20.0, 1.0, 1.0, 1]
    record = ["write_async", True, True, 40, 0, 0, 0, 1, 0, 0, 1, 2, 8, [sample]]
    streams, about = parse(TmioParser, msgpack.packb(record) + msgpack.packb(["io_time", 1.0]))
    assert [(row["call"], row["bytes"]) for row in only_stream(streams).rows()] == [("write_async_t", 40)]
    assert about.counters["sections_ignored:required_bandwidth"] == 1
    assert about.counters["sections_ignored:io_time"] == 1


@pytest.mark.parametrize("token", ["nan", "-nan", "NaN", "inf", "-inf", "Infinity", "1e999", "null", '"x"', "-5.0"])
def test_wrong_number_costs_its_interval_only(token: str) -> None:
    arrays = f'"b_rank_avr": [1.0, {token}, 3.0], "t_rank_s": [0, 1, 2], "t_rank_e": [1, 2, 3]'
    text = '{"write_sync": {"bandwidth": {' + arrays + "}}}\n"
    streams, about = parse(TmioParser, text.encode(), name="8.jsonl")
    if token == "1e999":  # no double, so no JSON that can be repaired
        assert streams == {}
    else:
        assert told(only_stream(streams)) == [(0, NS, 1), (2 * NS, NS, 3)]
        assert about.counters["intervals_malformed"] == 1
    (error,) = about.problems.first
    assert str(error).startswith("8.jsonl:1: ")


@pytest.mark.parametrize(
    ("arrays", "events"),
    [
        ({"b_rank_avr": [1.0, 2.0], "t_rank_s": [0.0], "t_rank_e": [1.0]}, [(0, NS, 1)]),
        ({"b_rank_avr": [1.0], "t_rank_s": [0.0, 1.0], "t_rank_e": [1.0, 2.0]}, [(0, NS, 1)]),
        ({"b_overlap_avr": [1.0, 2.0, 3.0, 4.0], "t_overlap": [0.0, 1.0, 2.0]}, [(0, NS, 1), (NS, NS, 2)]),
    ],
)
def test_ragged_arrays_are_reported_and_their_common_part_is_used(arrays: Any, events: Any) -> None:
    streams, about = parse(TmioParser, json.dumps(section(**arrays)).encode())
    assert told(only_stream(streams)) == events
    (error,) = about.problems.first
    assert "values" in error.problem
    assert error.expected == "arrays of equal length"


@pytest.mark.parametrize("rate", [1.0, -1.0])
def test_interval_that_ends_before_it_begins_is_reported(rate: float) -> None:
    record = section(b_rank_avr=[rate, 1], t_rank_s=[5.0, 6], t_rank_e=[4.0, 7])
    streams, about = parse(TmioParser, json.dumps(record).encode())
    assert told(only_stream(streams)) == [(6 * NS, NS, 1)]
    assert "from 5 s to 4 s" in about.problems.first[0].problem


FLUSH = json.dumps(section(**RANKS)).encode() + b"\n"


@pytest.mark.parametrize(
    "broken", [FLUSH[:40], b"garbage\n", b"{}\n", b'{"other": 1}\n', b"}\n", b"[1, 2]\n", b'"text"\n', b"17\n"]
)
def test_broken_flush_is_named_and_its_neighbours_are_kept(broken: bytes) -> None:
    broken = broken.rstrip() + b"\n"
    streams, about = parse(TmioParser, FLUSH + broken + FLUSH)
    assert told(only_stream(streams)) == RANK_EVENTS * 2
    assert [error.line for error in about.problems.first] == [2]


def test_last_flush_that_is_cut_off_is_reported() -> None:
    streams, about = parse(TmioParser, FLUSH + FLUSH[:50])
    assert told(only_stream(streams)) == RANK_EVENTS
    assert [(error.line, error.problem) for error in about.problems.first] == [(2, "the document is cut off")]


def test_indented_documents_follow_each_other() -> None:
    pretty = json.dumps(section(**RANKS), indent=1).encode()
    assert told(stream_of(b"\n\n" + pretty + b"\n" + FLUSH + pretty)) == RANK_EVENTS * 3


def test_document_without_an_end_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("iotide.collectors.sources.tmio.parser.MAX_DOCUMENT_BYTES", 1000)
    _, about = parse(TmioParser, b'{"write_sync": {\n' + b'"x":\n' * 1000)
    assert "too long" in about.problems.first[0].problem


def test_cut_off_and_garbled_messagepack_is_reported_and_what_came_before_is_kept() -> None:
    record = msgpack.packb({"b": [100, 50], "ts": [1, 2.5], "te": [2, 4.5]})
    for tail, problem in ((record[:-3], "cut off"), (b"\xc1" + record, "no MessagePack")):
        streams, about = parse(TmioParser, record + tail)
        assert told(only_stream(streams)) == RANK_EVENTS
        (error,) = about.problems.first
        assert error.line == 2
        assert problem in error.problem


def test_long_flush_is_handed_on_in_bounded_batches() -> None:
    count = MAX_BATCH_EVENTS + 10
    begins = np.arange(count, dtype=float)
    stream = stream_of(section(b_rank_avr=[8] * count, t_rank_s=begins.tolist(), t_rank_e=(begins + 1).tolist()))
    assert [len(batch) for batch in stream.batches] == [MAX_BATCH_EVENTS, 10]


_PRETTY = json.dumps(section(**RANKS), indent=2).encode()
_INPUTS = [
    FLUSH + b"junk\n" + _PRETTY + b"\n" + FLUSH[:30] + b"\n" + FLUSH,
    b"".join(msgpack.packb(item) for item in itertools.repeat({"b": [1.5], "ts": [0], "te": [2]}, 4)) + b"\xc1",
]


@pytest.mark.slow
@pytest.mark.parametrize("text", _INPUTS)
@given(places=st.lists(st.integers(0, 1000), max_size=8))
@settings(deadline=None)
def test_any_split_gives_the_same_events(text: bytes, places: list[int]) -> None:
    whole, whole_about = parse(TmioParser, text)
    split, split_about = parse(TmioParser, split_at(text, places))
    assert only_stream(split).rows() == only_stream(whole).rows()
    assert [str(error) for error in split_about.problems.first] == [str(error) for error in whole_about.problems.first]


_any_json = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["b", "t", "ts", "te", "bandwidth", "write_sync", "b_ind", "t_ind_s"]), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@given(_any_json)
@settings(deadline=None)
def test_any_document_is_survived(value: Any) -> None:
    streams, _ = parse(TmioParser, json.dumps(value).encode())
    for stream in streams.values():
        assert stream.events.bytes.min() > 0
        assert stream.events.duration.min() >= 0
    packed = json.loads(json.dumps(value), parse_int=float)
    parse(TmioParser, msgpack.packb([packed, packed]))


@pytest.mark.parametrize(
    "data",
    [b"\x81\x91\x01\x02", b"\x91" * 500 + b"\xc0", msgpack.packb({1: [1.0], "t": [2.0]})],
    ids=["key", "deep", "int"],
)
def test_messagepack_that_is_no_record_is_reported(data: bytes) -> None:
    streams, about = parse(TmioParser, data)
    assert streams == {}
    assert about.counters["lines_malformed"] == 1
