"""dftracer traces: two real ones of a small program, other versions as documented, and malformed ones."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from iotide.collectors.source import Origin
from iotide.collectors.sources.dftracer.parser import DftracerParser
from iotide.collectors.sources.registry import open_file, read_all, sniff
from iotide.collectors.sources.sniffing import is_dftracer
from iotide.events import Flag, Kind, Layer
from iotide.events.summaries import busy_ns, calls_in
from support.formats.parsing import collect, only_stream, parse, split_at
from support.places import DATA

CALLS = gzip.decompress((DATA / "dftracer-calls.pfw.gz").read_bytes())
FILE = '{"name":"FH","cat":"dftracer","pid":7,"tid":7,"ph":"M","args":{"hhash":"ab","name":"/scratch/x","value":"cd"}}'


def line(name: str = "write", cat: str = "POSIX", **more: Any) -> bytes:
    record = {"id": 1, "name": name, "cat": cat, "pid": 7, "tid": 8, "ts": 1_795_000_000_000_000, "dur": 5, "ph": "X"}
    return json.dumps({**record, **more}, separators=(",", ":")).encode() + b"\n"


def rows(*lines: bytes) -> list[dict[str, Any]]:
    return only_stream(parse(DftracerParser, b"".join(lines))[0]).rows()


def test_names_beyond_the_bound_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("iotide.collectors.sources.dftracer.parser.MAX_NAMES", 1)
    names = [FILE.replace('"cd"', f'"{number}"').encode() + b"\n" for number in range(3)]
    _, about = parse(DftracerParser, b"".join(names) + line())
    assert about.unsupported.counts["names of files, nodes and texts beyond 1"] == 2


def test_every_call_of_a_real_run_comes_back() -> None:
    source = open_file(DATA / "dftracer-calls.pfw.gz", Origin(job="job"))
    stream = only_stream(collect(read_all(source)))
    assert (stream.info.source, stream.info.host, stream.info.command) == ("dftracer", "vm", "checkpoint")
    assert (stream.info.pid, stream.info.parent_pid, stream.info.clock_offset_ns) == (14184, 14159, 0)
    found = stream.rows()
    names = [row["call"] for row in found]
    assert names == [
        "open", *["pwrite"] * 20, *["pread"] * 20, "lseek", "write", "fsync", "close",
        "fopen", "fwrite", "fclose", "mkdir", "rmdir",
    ]  # fmt: skip
    writes = [row for row in found if row["call"] == "pwrite"]
    assert [row["offset"] for row in writes] == [16384 * at for at in range(20)]
    assert {(row["bytes"], row["requested"], row["file"], row["layer"]) for row in writes} == {
        (8192, 8192, "field.dat", Layer.POSIX)
    }
    (fwrite,) = (row for row in found if row["call"] == "fwrite")
    assert (fwrite["bytes"], fwrite["requested"], fwrite["layer"], fwrite["file"]) == (400, 400, Layer.STDIO, "run.log")
    assert found[0]["start"] == 1_795_273_220_864_799_000
    assert found[0]["duration"] == 44_000
    assert stream.definitions.signature(found[0]["signature"]) == "open(flags=66, mode=420)"
    assert source.counters["events"] == 50
    assert not source.problems.total
    assert not source.unsupported.counts


def test_aggregated_records_of_a_real_run_are_sums() -> None:
    source = open_file(DATA / "dftracer-sums.pfw.gz", Origin(job="job"))
    found = {row["call"]: row for row in only_stream(collect(read_all(source))).rows()}
    assert found["pwrite"]["bytes"] == 20 * 8192
    assert found["pread"]["bytes"] == 20 * 4096
    assert found["fwrite"]["bytes"] == 400
    both = Flag.AGGREGATE | Flag.SPREAD
    assert all(row["flags"] == both and row["duration"] == 10**9 for row in found.values())
    events = only_stream(collect(read_all(open_file(DATA / "dftracer-sums.pfw.gz", Origin(job="job"))))).events
    busy = dict(zip(found, busy_ns(events).tolist(), strict=False))
    assert (busy["pwrite"], busy["mkdir"], busy["rmdir"]) == (76_000, 106_000, 2_658_000)
    assert calls_in(events).sum() == 50
    assert source.unsupported.counts == {"calls within aggregated records, of which only the sums are known": 50}


@given(st.lists(st.integers(0, len(CALLS)), max_size=6))
def test_any_split_gives_the_same_calls(places: list[int]) -> None:
    whole = only_stream(parse(DftracerParser, CALLS)[0]).rows()
    assert only_stream(parse(DftracerParser, split_at(CALLS, places))[0]).rows() == whole


@pytest.mark.parametrize("wrong", [b"nonsense\n", b""])
@pytest.mark.parametrize("part", range(4))
def test_records_on_one_line_and_over_several_lines_do_not_depend_on_the_other_lines(wrong: bytes, part: int) -> None:
    one, two = line(args={"ret": 1}), line(args={"ret": 2})
    parts = [one.rstrip() + two, one.replace(b',"args"', b',\n"args"'), two, wrong]
    streams, about = parse(DftracerParser, [b"".join(parts[:part]), b"".join(parts[part:])])
    assert only_stream(streams).events.bytes.tolist() == [1, 2, 2]
    assert [each.line for each in about.problems.first] == [2, 3, 5][: 2 + bool(wrong)]


_SAID = (5, 0, -1, 2**63 - 1, -(2**63), 2**63, 10**40, True, 1.0, 1e300, "7", [1], None)


@pytest.mark.parametrize("name", ["ret", "count", "offset"])
def test_argument_of_a_call_does_not_depend_on_the_calls_beside_it(name: str) -> None:
    alone = {number: rows(line(args={name: said})) for number, said in enumerate(_SAID)}
    for number, said in enumerate(_SAID):
        for other, beside in enumerate(_SAID):
            together = rows(line(args={name: said}), line(args={name: beside}))
            assert [row["bytes"] for row in together] == [row["bytes"] for row in alone[number] + alone[other]]
            for column in ("offset", "requested", "flags"):
                assert together[0][column] == alone[number][0][column], (said, beside)


def test_earlier_versions_have_a_frame_letters_and_plain_names() -> None:
    found = rows(
        b"[\n", FILE.encode() + b"\n",
        line(args={"hhash": "ab", "ret": 10, "count": 12, "fhash": "cd"}),
        line("MPI_File_write_at", "MPI", args={"fname": "/a"}),
        line("read", args={"fname": "/scratch/y", "ret": 3, "hhash": "ab"}).replace(b"}}\n", b"}},\n"), b"]\n",
    )  # fmt: skip
    assert [row["bytes"] for row in found if row["call"] == "write"] == [10]
    assert [row["file"] for row in found if row["call"] == "write"] == ["/scratch/x"]


def test_names_of_the_first_versions_are_taken_as_they_are() -> None:
    found = rows(line(args={"fname": "/scratch/y", "ret": 3}), line("fork", ts=1, args={"ret": 9}))
    assert [(row["file"], row["bytes"]) for row in found] == [("/scratch/y", 3)]


@pytest.mark.parametrize(("unit", "factor"), [("NS", 1), ("US", 1000), ("MS", 10**6), ("SEC", 10**9)])
def test_unit_of_time_is_taken_from_the_trace(unit: str, factor: int) -> None:
    says = json.dumps({"name": "CM", "cat": "dftracer", "pid": 7, "tid": 7, "ph": 4, "args": {"name": "time_metric",
                      "value": unit}}).encode() + b"\n"  # fmt: skip
    ((row,),) = [rows(says, line(ts=2_000_000_000 * 10**9 // factor, dur=3, args={"ret": 1}))]
    assert (row["start"], row["duration"]) == (2_000_000_000 * 10**9, 3 * factor)


def test_calls_within_a_call_of_another_layer_count_once() -> None:
    found = rows(
        line("pwrite", ts=1_795_000_000_000_010, dur=5, args={"ret": 4096}),
        line("MPI_File_write_at", "MPIIO", ts=1_795_000_000_000_000, dur=40, args={}),
    )
    assert [(row["call"], row["depth"]) for row in found] == [("pwrite", 1), ("MPI_File_write_at", 0)]
    assert found[1]["kind"] == Kind.WRITE
    assert found[1]["bytes"] == 4096  # which the trace itself does not contain


def test_processes_are_streams_of_their_own() -> None:
    streams, _ = parse(DftracerParser, line(pid=1, args={"ret": 1}) + line(pid=2, args={"ret": 2}) * 2)
    assert sorted(stream.events.bytes.tolist() for stream in streams.values()) == [[1], [2, 2]]


def test_unsupported_events_are_counted_by_kind() -> None:
    data = b"".join((
        line("train", "PYTHON", args={"epoch": 3}), line("waitpid", args={"ret": 3}), line(),
        line("cpu", "sys", ph="C"), line(args={"fhash": "never said", "ret": 1}), line("x", ph="Q"),
    ))  # fmt: skip
    streams, about = parse(DftracerParser, data)
    assert about.unsupported.counts == {
        "events of PYTHON that are no I/O calls": 1,
        "events of POSIX that are no I/O calls": 1,
        "calls without arguments: dftracer records them with DFTRACER_INC_METADATA=1": 1,
        "records of counters": 1,
        "records of unknown kind": 1,
        "files whose names are not in the trace, only their hashes": 1,
    }
    assert [row["file"] for row in only_stream(streams).rows()] == ["", "fhash:never said"]


@pytest.mark.parametrize(
    "wrong",
    [
        b'{"name":"write","cat":"POSIX","pid":7\n',
        b"nonsense\n",
        b"\xff\xfe\n",
        b"[" * 4000 + b"\n",
        line(ts=-5),
        line(dur=-1),
        line(ts=10**30),
        line(ts=1e308),
        line(pid=10**40),
        line(ts="soon"),
        line(name=3),
    ],
)
def test_wrong_line_costs_itself_and_is_named(wrong: bytes) -> None:
    streams, about = parse(DftracerParser, line(args={"ret": 1}) + wrong + line(args={"ret": 2}))
    assert only_stream(streams).events.bytes.tolist() == [1, 2]
    assert about.counters["lines_malformed"] == 1
    assert about.problems.first[0].line == 2


@pytest.mark.parametrize(
    "said",
    [
        {"ret": "many"}, {"ret": [1]}, {"ret": 10**40}, {"size": 10**18, "ret": 10**18}, {"offset": -(10**40)},
        {"fhash": {"a": 1}}, {"hhash": ["x"]}, {"flags": {"deep": [1]}}, {"tid": -1}, {"ret": 1.5}, {"count": True},
    ],
)  # fmt: skip
def test_wrong_arguments_cost_at_most_themselves(said: dict[str, Any]) -> None:
    found = rows(line("fread", "STDIO", args=said), line(args={"ret": 2}))
    assert [row["bytes"] for row in found if row["call"] == "write"] == [2]
    assert len(found) == 2


@given(st.lists(st.one_of(st.binary(max_size=60), st.sampled_from(CALLS.splitlines())), max_size=12))
def test_any_bytes_are_calls_lost_or_named(lines: list[bytes]) -> None:
    _, about = parse(DftracerParser, b"\n".join(lines))
    assert about.counters["events"] <= len(lines)


def test_format_is_told_from_chrome_traces() -> None:
    assert sniff(CALLS[:4000], "trace") == "dftracer"
    assert sniff(b"[\n" + line(args={"ret": 1}), "trace") == "dftracer"
    assert sniff(gzip.decompress((DATA / "dftracer-sums.pfw.gz").read_bytes())[:4000], "trace") == "dftracer"
    assert not is_dftracer(b'[{"name":"f","cat":"c","pid":1,"tid":1,"ts":1,"dur":1,"ph":"X"}]')
    assert not is_dftracer(b'[{"name":"f","ph":"X","ts":1,"dur":2,"pid":1,"tid":1}]')


def test_fraction_of_a_stamp_costs_others_no_digit() -> None:
    found = rows(line(ts=1_795_273_220_865_017), line(ts=1_795_273_220_865_018.5))
    assert found[0]["start"] == 1_795_273_220_865_017_000
    assert abs(found[1]["start"] - 1_795_273_220_865_018_500) < 1000
