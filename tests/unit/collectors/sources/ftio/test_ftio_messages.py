"""Messages of FTIO's tracers: every form is parsed, and no message breaks the reader."""

from __future__ import annotations

import re
import struct
from typing import Any

import msgpack
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.collectors.source import Input, Origin
from iotide.collectors.sources.tmio.ftio_messages import Message, read_message
from iotide.events import Kind, Layer
from support.places import DATA

BURST = {"ranks": 4, "b": [100.0, 50.0], "ts": [1.0, 2.5], "te": [2.0, 4.5]}
GEKKO = {
    "flush_t": 9_000_000,
    "hostname": "node7",
    "pid": 41,
    "io_type": "w",
    "start_t_micro": [1_000_000, 2_500_000],
    "end_t_micro": [2_000_000, 4_500_000],
    "req_size": [100, 100],
    "total_iops": 2,
    "total_bytes": 200,
}


def read(data: bytes) -> tuple[Message, Input]:
    about = Input("tcp://127.0.0.1:5555", Origin(job="ftio"))
    return read_message(data, about, 1), about


def understood(data: bytes) -> Message:
    message, about = read(data)
    assert about.problems.total == 0, about.problems.first
    return message


def told(message: Message) -> list[tuple[str, float, float, float]]:
    return [
        (intervals.section, *map(float, row))
        for intervals, _ in message.sections
        for row in zip(intervals.start_s, intervals.end_s, intervals.bandwidth, strict=True)
    ]


def several(*values: Any) -> bytes:
    return b"".join(map(msgpack.packb, values))


def test_map_of_bandwidth_begins_and_ends_is_writes_in_bytes_a_second() -> None:
    message = understood(msgpack.packb(BURST))
    assert told(message) == [("write_sync", 1.0, 2.0, 100.0), ("write_sync", 2.5, 4.5, 50.0)]
    ((intervals, layer),) = message.sections
    assert (intervals.kind, intervals.ranks, layer) == (Kind.WRITE, 4, Layer.OTHER)
    assert (message.job, message.host) == ("", "")


def test_the_bytes_in_the_documents_are_such_a_message_and_its_reply() -> None:
    page = (DATA.parents[1] / "docs/sources.md").read_text()
    message, reply = (
        bytes.fromhex(line) for line in re.findall(r"^```\n((?:[0-9a-f]{2} ?)+)\n```$", page, re.MULTILINE)
    )
    assert len(message) == 46
    assert told(understood(message)) == [("write_sync", 0.0, 0.1, 1e7)]
    assert understood(message).sections[0][0].ranks == 4
    assert struct.unpack("<dd", reply) == (0.1, 0.75)


def test_ranks_may_be_left_out_and_numbers_may_be_integers() -> None:
    assert told(understood(msgpack.packb({"b": [100], "ts": [1], "te": [2]}))) == [("write_sync", 1.0, 2.0, 100.0)]


def test_several_maps_in_one_message_all_count() -> None:
    second = BURST | {"ts": [11.0, 12.5], "te": [12.0, 14.5]}
    assert [row[1] for row in told(understood(several(BURST, second)))] == [1.0, 2.5, 11.0, 12.5]
    assert [row[1] for row in told(understood(msgpack.packb([BURST, second])))] == [1.0, 2.5, 11.0, 12.5]


@pytest.mark.parametrize(
    "data",
    [
        msgpack.packb(GEKKO),
        several(*({name: value} for name, value in GEKKO.items())),
        several(*GEKKO.values()),
        msgpack.packb(list(GEKKO.values())),
        several(*list(GEKKO.values())[:7]),
    ],
    ids=["one map", "a map each", "one after another", "array", "without totals"],
)
def test_gekkofs_fields_are_requests_in_bytes_and_microseconds(data: bytes) -> None:
    message = understood(data)
    ((intervals, layer),) = message.sections
    assert (intervals.section, intervals.kind, layer) == ("write", Kind.WRITE, Layer.POSIX)
    assert intervals.start_s.tolist() == pytest.approx([1.0, 2.5])
    assert (intervals.bandwidth * (intervals.end_s - intervals.start_s)).tolist() == pytest.approx([100, 100])
    assert message.host == "node7"


def test_gekkofs_reads_and_calls_shorter_than_a_tick_are_counted() -> None:
    ((intervals, _),) = understood(
        msgpack.packb(GEKKO | {"io_type": "r", "start_t_micro": [5, 7], "end_t_micro": [5, 9]})
    ).sections
    assert intervals.kind is Kind.READ
    moved = intervals.bandwidth * (intervals.end_s - intervals.start_s)
    assert np.rint(moved).tolist() == [100, 100]


def test_tmio_flush_in_one_message_has_all_its_records() -> None:
    left_out = several(["io_time", *range(18)], ["write_async", *range(12), [[0, 1.0, 2.0, 2.5, 9.0, 8.0, 7.0, 6.0]]])
    message = understood((DATA / "tmio-8ranks.msgpack").read_bytes() + left_out)
    assert sum(len(intervals.start_s) for intervals, _ in message.sections) == 2 * 15 * 73 + 1
    assert {layer for _, layer in message.sections} == {Layer.MPIIO}
    assert {intervals.section for intervals, _ in message.sections} == {"read_sync", "write_sync", "write_async_t"}
    assert set(message.rules) == {"required_bandwidth", "io_time"}


def test_sections_as_in_tmio_files_are_taken() -> None:
    section = {"number_of_ranks": 8, "bandwidth": {"b_rank_avr": [5.0], "t_rank_s": [1.0], "t_rank_e": [2.0]}}
    message = understood(msgpack.packb({"read_sync": section, "io_time": {}}))
    assert told(message) == [("read_sync", 1.0, 2.0, 5.0)]
    assert [(intervals.ranks, layer) for intervals, layer in message.sections] == [(8, Layer.MPIIO)]


@pytest.mark.parametrize(
    ("field", "value", "job"), [("job", "4711", "4711"), ("job_id", 4711, "4711"), ("job", [], "")]
)
def test_a_message_may_name_its_job_and_host(field: str, value: Any, job: str) -> None:
    message = understood(msgpack.packb(BURST | {field: value, "hostname": "node\n3"}))
    assert (message.job, message.host) == (job, "node?3")


def test_arrays_of_unequal_length_are_used_as_far_as_they_go_and_reported() -> None:
    message, about = read(msgpack.packb(BURST | {"te": [2.0]}))
    assert told(message) == [("write_sync", 1.0, 2.0, 100.0)]
    assert about.counters["lines_malformed"] == 1
    assert "2, 2, 1 values" in str(about.problems.first[0])


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b"hello", "no bandwidth"),
        (b'{"b": [1], "ts": [1], "te": [2]}', "no bandwidth"),
        (b"\xc1", "no MessagePack"),
        (msgpack.packb(BURST)[:-3], "no MessagePack"),
        (b"\x91" * 100_000, "no MessagePack"),
        (b"\xdd\xff\xff\xff\xff", "no MessagePack"),
        (msgpack.packb(7), "no bandwidth"),
        (msgpack.packb(["write_strange", 1]), "no bandwidth"),
        (msgpack.packb({"b": 1.0, "ts": 2.0, "te": 3.0}), "no bandwidth"),
        (msgpack.packb({1: [1.0], b"b": [2.0]}), "no bandwidth"),
        (msgpack.packb([[[[[[[[BURST]]]]]]]]), "no bandwidth"),
        (b"\x81\x91\x01\x02", "no bandwidth"),
    ],
)
def test_invalid_message_is_reported_with_the_expected_form(data: bytes, words: str) -> None:
    message, about = read(data)
    assert message.sections == []
    assert about.counters["lines_malformed"] == 1
    (problem,) = about.problems.first
    assert words in str(problem)
    assert "{ranks, b: [bytes/s, ...]" in str(problem)


def test_values_before_a_cut_are_kept() -> None:
    message, about = read(several(BURST, BURST)[:-5])
    assert len(told(message)) == 2
    assert about.counters["lines_malformed"] == 1
    assert about.counters["bytes_dropped:malformed"] == len(msgpack.packb(BURST)) - 5


def test_a_false_length_takes_no_memory() -> None:
    """A hundred nested arrays, each with a claimed length of four thousand million elements."""
    message, about = read(msgpack.packb(BURST) + b"\xdd\xff\xff\xff\xff" * 100)
    assert len(told(message)) == 2
    assert about.problems.total == 1


def test_a_message_of_very_many_values_is_not_read_to_its_end() -> None:
    message, about = read(several(BURST) + b"\x80" * (8 << 20))
    assert len(told(message)) == 2
    assert about.counters["bytes_dropped:malformed"] > 8_000_000


numbers = st.one_of(st.floats(allow_nan=True, allow_infinity=True), st.integers(-(2**63), 2**64 - 1))
values: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, st.text(max_size=5), st.binary(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=5),
        st.dictionaries(
            st.one_of(
                st.sampled_from(
                    ["b", "ts", "te", "t", "ranks", "bandwidth", "write_sync", "io_time", "b_ind", "t_ind_s", "job"]
                ),
                st.sampled_from(list(GEKKO)),
                st.integers(0, 3),
            ),
            inner,
            max_size=6,
        ),
    ),
    max_leaves=12,
)


@settings(deadline=None, max_examples=300)
@given(st.binary(max_size=200))
def test_no_bytes_raise(data: bytes) -> None:
    read(data)


@pytest.mark.slow
@settings(deadline=None)
@given(st.lists(values, min_size=1, max_size=4), st.integers(0, 50))
def test_no_values_raise_and_arrays_come_out_equally_long(sent: list[Any], cut: int) -> None:
    data = several(*sent)
    message, _ = read(data[: len(data) - cut])
    for intervals, _ in message.sections:
        assert len(intervals.start_s) == len(intervals.end_s) == len(intervals.bandwidth)
        assert all(values.dtype == np.float64 for values in (intervals.start_s, intervals.end_s, intervals.bandwidth))


@pytest.mark.parametrize("count", [0, 15, 16, 56, 57, 65_535, 65_536])
def test_arrays_of_every_head_come_out_as_they_went_in(count: int) -> None:
    b, ts = [0.5 * at for at in range(count)], [float(at) for at in range(count)]
    message = understood(msgpack.packb({"b": b, "ts": ts, "te": [at + 1.0 for at in ts]}))
    ((intervals, _),) = message.sections
    assert (intervals.bandwidth.tolist(), intervals.start_s.tolist()) == (b, ts)


@pytest.mark.parametrize("last", [2, 2**40], ids=["shorter than a double", "as long as one"])
def test_a_long_array_may_mix_doubles_with_other_numbers(last: int) -> None:
    b = [1.5] * 100 + [last] * 9 + [None]
    ((intervals, _),) = understood(msgpack.packb({"b": b, "ts": [0.0] * 110, "te": [1.0] * 110})).sections
    assert intervals.bandwidth[:-1].tolist() == b[:-1]
    assert np.isnan(intervals.bandwidth[-1])
    b[-1] = last
    ((intervals, _),) = understood(msgpack.packb({"b": b, "ts": [0.0] * 110, "te": [1.0] * 110})).sections
    assert intervals.bandwidth.tolist() == b


finite = st.floats(0, 1e9, allow_subnormal=False)


@pytest.mark.slow
@settings(deadline=None)
@given(
    st.one_of(
        st.lists(st.tuples(finite, finite, finite), max_size=30),
        st.lists(st.tuples(finite, finite, finite), min_size=60, max_size=80),
        st.lists(st.tuples(*[st.integers(0, 2**53)] * 3), max_size=80),
    ),
    st.integers(0, 2**31 - 1),
    st.text("ab-1.", max_size=9),
)
def test_good_messages_come_out_as_they_went_in(rows: list[tuple[float, float, float]], ranks: int, job: str) -> None:
    b, ts, te = (list(column) for column in zip(*rows, strict=True)) if rows else ([], [], [])
    message = understood(msgpack.packb({"ranks": ranks, "b": b, "ts": ts, "te": te, "job": job}))
    assert [row[1:] for row in told(message)] == [(start, end, rate) for rate, start, end in rows]
    assert all(intervals.ranks == ranks for intervals, _ in message.sections)
    assert message.job == job
