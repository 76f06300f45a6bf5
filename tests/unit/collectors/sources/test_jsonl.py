"""JSON lines, one call per line."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.collectors.files.lines import MAX_LINE_BYTES
from iotide.collectors.source import Input, Origin
from iotide.collectors.sources.jsonl import parser as jsonl
from iotide.collectors.sources.jsonl.parser import JsonLinesParser
from iotide.events import Flag, Kind, Layer
from support.formats.parsing import collect, only_stream, parse, split_at

GOOD = b'{"call":"write","path":"/x","start":1.5,"dur":0.25,"size":4096}\n'


def line(**fields: Any) -> bytes:
    return json.dumps({"call": "write", "start": 1.0, "dur": 0.5} | fields).encode() + b"\n"


def rows_of(data: bytes) -> list[dict[str, Any]]:
    return only_stream(parse(JsonLinesParser, data)[0]).rows()


def test_all_fields_become_columns() -> None:
    text = (
        b'{"call":"pwrite64","path":"/scratch/out","rank":3,"pid":41,"tid":42,"start":1.5,"dur":0.25,"size":4096,'
        b'"offset":8192,"layer":"POSIX","handle":7,"parent":6,"depth":2,"errno":0}\n'
    )
    streams, about = parse(JsonLinesParser, text)
    stream = only_stream(streams)
    assert stream.info.source == "jsonl"
    assert (stream.info.job, stream.info.host, stream.info.user) == ("job", "node1", "ann")
    assert stream.rows() == [
        {
            "start": 1_500_000_000,
            "duration": 250_000_000,
            "call": "pwrite64",
            "layer": Layer.POSIX,
            "kind": Kind.WRITE,
            "rank": 3,
            "pid": 41,
            "tid": 42,
            "file": "/scratch/out",
            "handle": 7,
            "parent": 6,
            "depth": 2,
            "offset": 8192,
            "requested": 0,
            "bytes": 4096,
            "errno": 0,
            "flags": 0,
            "signature": 0,
        }
    ]
    assert about.counters["events"] == 1


def test_nanoseconds_are_exact_and_go_before_seconds() -> None:
    start = 1_790_000_000_123_456_789
    assert [row["start"] for row in rows_of(line(start=7, start_ns=start))] == [start]
    assert [row["start"] for row in rows_of(b'{"call":"read","start_ns":%d,"dur_ns":1}\n' % start)] == [start]


def test_lines_may_differ_in_their_keys() -> None:
    rows = rows_of(line() + line(offset=5) + line(start_ns=9, rank=2) + line(pid=4, size=1))
    assert [row["offset"] for row in rows] == [-1, 5, -1, -1]
    assert [row["rank"] for row in rows] == [-1, -1, 2, -1]
    assert [row["pid"] for row in rows] == [0, 0, 0, 4]
    assert [row["start"] for row in rows] == [10**9, 10**9, 9, 10**9]


def test_unknown_fields_are_ignored_however_many_and_whatever_their_names() -> None:
    many = {f"extra{number}": [number] for number in range(100)}
    rows = rows_of(line(note={"a": [1]}) + line(**{'"odd\\\n': 1}) + line(**many) + line(offset=4))
    assert [row["offset"] for row in rows] == [-1, -1, -1, 4]


def test_null_means_not_given() -> None:
    assert [row["rank"] for row in rows_of(line(rank=None, path=None, errno=None))] == [-1]


def test_escaped_keys_and_paths_are_understood() -> None:
    rows = rows_of(b'{"c\\u0061ll":"read","start":1,"dur":1,"off\\u0073et":3,"path":"/\\u00e4\\n"}\n')
    assert [(row["call"], row["offset"], row["file"]) for row in rows] == [("read", 3, "/ä\n")]


@pytest.mark.parametrize(
    ("call", "layer", "kind"),
    [
        ("openat", Layer.POSIX, Kind.CREATE),
        ("lseek", Layer.POSIX, Kind.SEEK),
        ("fread", Layer.STDIO, Kind.READ),
        ("fclose", Layer.STDIO, Kind.DESTROY),
        ("MPI_File_write_at_all", Layer.MPIIO, Kind.WRITE),
        ("PMPI_File_open", Layer.MPIIO, Kind.CREATE),
        ("H5Dread", Layer.HDF5, Kind.READ),
        ("H5Fflush", Layer.HDF5, Kind.SYNC),
        ("ncmpi_put_vara_float_all", Layer.PNETCDF, Kind.WRITE),
        ("ncmpi_enddef", Layer.PNETCDF, Kind.OTHER),
        ("nc_get_var_double", Layer.NETCDF, Kind.READ),
        ("my_write", Layer.OTHER, Kind.WRITE),
        ("readlink", Layer.POSIX, Kind.OTHER),
    ],
)
def test_layer_and_kind_follow_from_the_call(call: str, layer: Layer, kind: Kind) -> None:
    row = rows_of(line(call=call, size=8))[0]
    assert (row["layer"], row["kind"]) == (layer, kind)
    assert row["bytes"] == (8 if kind in (Kind.READ, Kind.WRITE) else 0)


def test_layer_that_is_named_goes_before_the_table() -> None:
    rows = rows_of(line(layer="mpi-io") + line(layer="hdf5") + line(layer="unheard of") + line())
    assert [row["layer"] for row in rows] == [Layer.MPIIO, Layer.HDF5, Layer.POSIX, Layer.POSIX]


def test_failed_call_moved_nothing() -> None:
    rows = rows_of(line(size=10, errno=28) + line(size=-1) + line(size=10))
    assert [row["bytes"] for row in rows] == [0, 0, 10]
    assert [row["flags"] for row in rows] == [Flag.FAILED, Flag.FAILED, 0]


def test_each_job_and_host_is_a_stream_of_its_own() -> None:
    text = line(job="a", host="n1") + line(job="b", host="n1") + line(job="a", host="n2") + line(job="a", host="n1")
    streams, _ = parse(JsonLinesParser, text + line())
    assert {(stream.info.job, stream.info.host): len(stream.events) for stream in streams.values()} == {
        ("a", "n1"): 2,
        ("b", "n1"): 1,
        ("a", "n2"): 1,
        ("job", "node1"): 1,
    }


def test_streams_are_bounded_and_what_is_lost_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "MAX_STREAMS", 2)
    streams, about = parse(JsonLinesParser, b"".join(line(job=f"j{number}") for number in range(5)))
    assert len(streams) == 2
    assert about.counters["events_dropped:too_many_streams"] == 3


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        (b"garbage", "JSON is malformed"),
        (b'{"call":"write","start":1.0,"dur":', "truncated"),
        (b'{"call":"write","start":NaN,"dur":1}', "malformed"),
        (b'{"call":"write","start":1e999,"dur":1}', "out of range"),
        (b'{"call":"write","start":-1.5,"dur":1}', "start"),
        (b'{"call":"write","start":1,"dur":-1}', "dur"),
        (b'{"call":"write","start":1e300,"dur":1}', "start"),
        (b'{"call":"write","start_ns":9000000000000000000,"dur":1}', "start_ns"),
        (b'{"call":"write","start":1,"dur":1,"size":-2}', "size"),
        (b'{"call":"write","start":1,"dur":1,"size":99999999999999999999999}', "size"),
        (b'{"call":"write","start":1,"dur":1,"size":"4096"}', "Expected `int`, got `str`"),
        (b'{"call":"write","start":1,"dur":1,"rank":4294967296}', "rank"),
        (b'{"call":"write","start":1,"dur":1,"depth":256}', "depth"),
        (b'{"call":7,"start":1,"dur":1}', "Expected `str`, got `int`"),
        (b'{"start":1,"dur":1}', "missing required field `call`"),
        (b'{"call":"write","dur":1}', "no start or no duration"),
        (b'{"call":"write","start":1}', "no start or no duration"),
        (b'["write",1,1]', "Expected `object`"),
        (b'{"call":"write\xff","start":1,"dur":1}', "UTF-8"),
        (b"[" * 100_000, ""),
    ],
)
def test_bad_line_is_named_and_its_neighbours_are_kept(bad: bytes, problem: str) -> None:
    streams, about = parse(JsonLinesParser, GOOD + b"\n" + bad + b"\n" + GOOD, name="calls.jsonl")
    assert len(only_stream(streams).events) == 2
    assert about.counters["lines_malformed"] == about.problems.total == 1
    error = about.problems.first[0]
    assert error.line == 3
    assert str(error).startswith("calls.jsonl:3: ")
    assert problem.casefold() in error.problem.casefold()  # as the JSON library spells it
    assert '{"call": "write"' in error.expected


def test_line_that_never_ends_is_cut() -> None:
    streams, about = parse(JsonLinesParser, [GOOD, b"x" * (MAX_LINE_BYTES + 1), b"x" * 1000, b"\n" + GOOD])
    assert len(only_stream(streams).events) == 2
    assert [error.line for error in about.problems.first] == [2]


def test_last_line_without_an_end_counts() -> None:
    assert len(rows_of(GOOD + GOOD.rstrip())) == 2


def test_empty_input_opens_no_stream() -> None:
    assert parse(JsonLinesParser, b"\n \n")[0] == {}


_MIXED = GOOD + line(job="b", errno=5) + b"\r\n{bad\n" + line(call="read", host="n2", offset=7) + GOOD.rstrip()


@given(st.lists(st.integers(0, len(_MIXED)), max_size=8))
@settings(deadline=None)
def test_any_split_gives_the_same_events(places: list[int]) -> None:
    whole, whole_about = parse(JsonLinesParser, _MIXED)
    split, split_about = parse(JsonLinesParser, split_at(_MIXED, places))
    assert {key: stream.rows() for key, stream in split.items()} == {
        key: stream.rows() for key, stream in whole.items()
    }
    assert [str(error) for error in split_about.problems.first] == [str(error) for error in whole_about.problems.first]


_numbers = st.one_of(st.integers(-(2**70), 2**70), st.floats(), st.none(), st.text(max_size=3), st.booleans())
_KEYS = (
    "start",
    "dur",
    "start_ns",
    "dur_ns",
    "size",
    "offset",
    "rank",
    "pid",
    "handle",
    "depth",
    "errno",
    "path",
    "job",
)
_fields = st.sampled_from(_KEYS)


@pytest.mark.slow
@given(st.lists(st.dictionaries(_fields, _numbers, max_size=6), max_size=12), st.binary(max_size=40))
@settings(deadline=None)
def test_every_line_is_an_event_or_a_problem_and_columns_are_in_bounds(
    lines: list[dict[str, Any]], garbage: bytes
) -> None:
    garbage = garbage.replace(b"\n", b"") or b"?"
    text = b"".join(line(**fields) for fields in lines) + garbage + b"\n"
    parser = JsonLinesParser(about := Input("x", Origin("j")))
    streams = collect(parser.feed(text) + parser.finish())
    events = sum(len(stream.events) for stream in streams.values())
    assert events == about.counters["events"]
    assert events + about.problems.total == len(lines) + bool(garbage.strip())
    for stream in streams.values():
        for name in ("start", "duration", "bytes"):
            assert getattr(stream.events, name).min() >= 0
        assert stream.events.end.min() >= 0


def test_an_object_over_several_lines_is_none_wherever_the_input_is_split() -> None:
    data = GOOD + GOOD.replace(b',"', b',\n"', 1) + b"\n" + GOOD
    for pieces in ([data], split_at(data, range(len(data)))):
        streams, about = parse(JsonLinesParser, pieces)
        assert len(only_stream(streams).rows()) == 2
        assert about.counters["lines_malformed"] == about.problems.total == 2


def test_as_many_objects_as_lines_are_not_one_per_line() -> None:
    data = GOOD.rstrip() + GOOD + GOOD.replace(b',"', b',\n"', 1)
    for pieces in ([data], split_at(data, range(len(data)))):
        streams, about = parse(JsonLinesParser, pieces)
        assert not streams
        assert [each.line for each in about.problems.first] == [1, 2, 3]


def test_lines_that_name_what_others_leave_to_the_origin_are_in_order_wherever_the_input_is_split() -> None:
    names = [{}, {"host": "n1"}, {"host": "n1", "job": "j"}, {}, {"job": "j"}, {"job": "other"}, {"host": "n1"}]
    data = b"".join(line(start=at, stream="1", **name) for at, name in enumerate(names))
    for pieces in ([data], data.splitlines(keepends=True)):
        parser = JsonLinesParser(Input("a", Origin(job="j", host="n1")))
        streams = collect([item for piece in pieces for item in parser.feed(piece)] + parser.finish())
        starts = sorted([each.events.start // 10**9 for each in streams.values()], key=len)
        assert [each.tolist() for each in starts] == [[5], [0, 1, 2, 3, 4, 6]]


@pytest.mark.parametrize("wrong", [{"flags": 70_000}, {"flags": 2**40}, {"depth": 256}, {"errno": 2**16}])
def test_number_that_its_column_cannot_hold_costs_its_line_wherever_the_input_is_split(wrong: dict[str, int]) -> None:
    data = GOOD + line(**wrong) + GOOD
    for pieces in ([data], split_at(data, range(len(data)))):
        streams, about = parse(JsonLinesParser, pieces)
        assert len(only_stream(streams).rows()) == 2
        assert about.counters["lines_malformed"] == 1
