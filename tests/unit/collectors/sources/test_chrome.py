"""Import of Chrome traces: those of iotide are restored completely; of others, the I/O calls are read."""

from __future__ import annotations

import io
import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.clients.traces.chrome import write_chrome
from iotide.collectors.source import Origin
from iotide.collectors.sources._nesting import nesting_depths
from iotide.collectors.sources.chrome.parser import ChromeParser
from iotide.collectors.sources.registry import open_file, read_all, sniff
from iotide.events import Definitions, Flag
from support.formats.archives import archived
from support.formats.parsing import Stream, collect, only_stream, parse, split_at
from support.system.waiting import DEADLINE_S
from support.tracing.programs import need

READ = {"name": "read", "ph": "X", "ts": 1.5, "dur": 2, "pid": 7, "tid": 8, "args": {"fname": "/a", "ret": 10}}


def text_of(*events: Any, indent: int | None = None) -> bytes:
    return json.dumps(list(events), indent=indent).encode()


def events_of(streams: dict[str, Stream]) -> list[tuple[Any, ...]]:
    keys = ("call", "file", "start", "duration", "bytes", "pid", "tid", "depth", "flags")
    return [tuple(row[key] for key in keys) for stream in streams.values() for row in stream.rows()]


@pytest.mark.parametrize("seed", range(3))
def test_exported_calls_are_restored_with_every_column(seed: int) -> None:
    reader, out = archived(seed), io.StringIO()
    write_chrome(reader, out)
    streams, about = parse(ChromeParser, out.getvalue().encode())
    assert about.problems.total == 0
    for number, (stream, kept) in enumerate(zip(streams.values(), reader.streams.values(), strict=True), 1):
        info = stream.info
        assert (info.job, info.host, info.user, info.command) == ("sim", f"n{number - 1}", "u", "./a b")
        assert (info.rank, info.pid, info.clock_offset_ns) == (number - 1, 70, 0)
        before = Stream(kept.info)
        before.definitions.apply(Definitions(files=list(kept.files.items())))
        for each in reader.calls(number):
            before.definitions.apply(each.definitions)
            before.batches.append(each.batch)
        for row, was in zip(stream.rows(), before.rows(), strict=True):
            text = stream.definitions.signature(row.pop("signature"))
            assert text == before.definitions.signature(was.pop("signature"))
            assert row == was


@pytest.mark.slow
@settings(deadline=None)
@given(st.lists(st.integers(0, 10_000), max_size=6))
def test_any_split_gives_the_same_calls(places: list[int]) -> None:
    odd = {"name": 'a"}, {[\\', "ph": "X", "ts": 0, "dur": 0, "pid": 1, "args": {"x": [{"y": 1}, {"z": "}"}]}}
    begin = {"name": "write", "ph": "B", "ts": 5, "pid": 7, "tid": 1}
    end = {"ph": "E", "ts": 6.25, "pid": 7, "tid": 1, "args": {"bytesWritten": 3}}
    for data in (
        text_of(READ, odd, begin, end, READ),
        json.dumps({"otherData": {"x": ["{"]}, "traceEvents": [odd, READ, begin, odd, end], "z": 1}, indent=1).encode(),
        b'[{"name": "torn\n,{"name": 1}\n' + text_of(READ, odd)[1:],
    ):
        whole, about = parse(ChromeParser, data)
        pieces, again = parse(ChromeParser, split_at(data, places))
        assert events_of(pieces) == events_of(whole)
        assert [str(each) for each in again.problems.first] == [str(each) for each in about.problems.first]
        assert len(events_of(whole)) >= 1


def test_begin_and_end_become_one_call_and_an_instant_one_without_duration() -> None:
    data = text_of(
        {"name": "outer", "ph": "B", "ts": 1, "pid": 1, "tid": 1},
        {"name": "fs.sync.write", "ph": "B", "ts": 2, "pid": 1, "tid": 1, "args": {"path": "/out"}},
        {"name": "fs.sync.write", "ph": "E", "ts": 4.5, "pid": 1, "tid": 1, "args": {"bytesWritten": 9}},
        {"name": "outer", "ph": "E", "ts": 8, "pid": 1, "tid": 1},
        {"name": "sys_fsync", "ph": "i", "ts": 9, "pid": 1, "tid": 2},
        {"ph": "E", "ts": 8, "pid": 1, "tid": 1},
        {"name": "read", "ph": "B", "ts": 8, "pid": 1, "tid": 1},
        {"name": "load", "ph": "C", "ts": 8, "pid": 1, "args": {"x": 1}},
    )
    streams, about = parse(ChromeParser, data)
    assert events_of(streams) == [
        ("write", "/out", 2000, 2500, 9, 1, 1, 0, 0),
        ("fsync", "", 9000, 0, 0, 1, 2, 0, 0),
    ]
    assert about.unsupported.counts == {
        "events that are no I/O call": 1,
        "counters": 1,
        "ends of events that were not begun": 1,
        "events that were begun and not ended": 1,
    }
    assert not about.problems.total


def test_processes_are_streams_named_by_their_metadata_also_when_it_comes_late() -> None:
    other = READ | {"pid": "node1:9", "tid": "main"}
    named = {"name": "process_name", "ph": "M", "pid": 7, "args": {"name": "solver"}}
    streams, _ = parse(ChromeParser, text_of(named, READ, other))
    assert [(each.info.pid, each.info.command) for each in streams.values()] == [(7, "solver"), (0, "")]
    parser_items = open_items(text_of(READ, named))
    assert [item.info.command for item in parser_items if hasattr(item, "info")] == ["", "solver"]


def test_clock_of_a_process_that_comes_late_applies_from_there_on_wherever_the_input_is_split() -> None:
    call = {**READ, "cat": "POSIX,READ", "pid": 1}
    own = {"name": "process_name", "ph": "M", "pid": 1, "args": {"clock": "own", "begin_ns": "7"}}
    events = [call, own, call, {**own, "pid": 2}, {**call, "pid": 2}, {**own, "args": {"command": "x"}}, call]
    data = json.dumps({"otherData": {"begin_unix_ns": "1000"}, "traceEvents": events}).encode()
    for pieces in ([data], split_at(data, range(len(data)))):
        starts = [stream.events.start.tolist() for stream in parse(ChromeParser, pieces)[0].values()]
        assert starts == [[2500, 1507, 2500], [1507]]


def open_items(data: bytes) -> list[Any]:
    from iotide.collectors.source import Input

    parser = ChromeParser(Input(name="t", origin=Origin(job="j")))
    return [*parser.feed(data), *parser.finish()]


@pytest.mark.parametrize(("ts", "offset"), [(1.5, None), (1_700_000_000_000_000, 0)])
def test_stamps_are_unix_time_when_they_can_be_nothing_else(ts: float, offset: int | None) -> None:
    stream = only_stream(parse(ChromeParser, text_of(READ | {"ts": ts}))[0])
    assert stream.info.clock_offset_ns == offset
    assert stream.rows()[0]["start"] == int(ts * 1000)


def test_failed_calls_move_nothing_and_names_of_other_tools_are_understood() -> None:
    calls = [
        {"name": "write", "args": {"filename": "/a", "ret": -1, "count": 5}},
        {"name": "write", "args": {"file": "/a", "size": "4096", "position": 8}},
        {"name": "read", "args": {"pathname": "/b", "nbytes": 5.0, "file_offset": 3}},
        {"name": "close", "args": {"ret": 7}},
    ]
    stream = only_stream(parse(ChromeParser, text_of(*(READ | call for call in calls)))[0])
    assert stream.events.bytes.tolist() == [0, 4096, 5, 0]
    assert stream.events.offset.tolist() == [-1, 8, 3, -1]
    assert stream.events.flags.tolist() == [Flag.FAILED, 0, 0, 0]
    assert [row["file"] for row in stream.rows()] == ["/a", "/a", "/b", ""]


def test_calls_made_by_another_layer_are_nested_and_neighbours_are_not() -> None:
    start = np.array([0, 1, 5, 10, 10, 3])
    duration = np.array([10, 2, 5, 4, 0, 1])
    thread = np.array([1, 1, 1, 1, 1, 2])
    layer = np.array([4, 1, 1, 1, 4, 1])
    assert nesting_depths(start, duration, thread, layer).tolist() == [0, 1, 1, 0, 1, 0]


@pytest.mark.parametrize("indent", [None, 2])
def test_malformed_event_costs_itself_and_is_named(indent: int | None) -> None:
    bad = [
        READ | {"ts": -1}, READ | {"dur": None}, READ | {"ts": "soon"}, READ | {"args": 5}, READ | {"ts": 1e300},
        READ | {"args": {"handle": 2**40}}, READ | {"ts": [1, 2]}, [1], "x", READ | {"args": {"depth": [[3]]}},
    ]  # fmt: skip
    streams, about = parse(ChromeParser, text_of(READ, *bad, READ, indent=indent))
    assert len(only_stream(streams).events) == 3  # a depth that is no number counts as unknown
    assert about.counters["lines_malformed"] == 9
    assert [problem.line for problem in about.problems.first] == sorted(range(2, 11))


@pytest.mark.parametrize(
    ("data", "calls", "problem"),
    [
        (text_of(READ, READ)[:-1], 2, ""),  # the closing bracket of an array may be missing
        (text_of(READ, READ)[:-9], 1, "trace:2: the file ends 98 bytes into an event"),
        (b'{"traceEvents": ' + text_of(READ), 1, ""),
        (b'{"traceEvents": ' + text_of(READ)[:-1], 1, "trace:2: the file ends before its array of events does"),
        (b'{"otherData": {}}', 0, "trace:1: there is no array of events"),
        (b'[{"name": "torn\n,' + text_of(READ)[1:], 1, "trace:1: a line ends inside a string"),
        (b"[}," + text_of(READ)[1:], 1, "trace:1: a line ends inside a string, or a bracket closes"),
    ],
)  # fmt: skip
def test_truncated_and_torn_traces_are_read_as_far_as_they_go(data: bytes, calls: int, problem: str) -> None:
    streams, about = parse(ChromeParser, data)
    assert len(events_of(streams)) == calls
    assert [str(each).partition("; expected")[0][: len(problem)] for each in about.problems.first] == [problem] * bool(
        problem
    )


def test_event_without_an_end_takes_no_more_memory_than_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("iotide.collectors.sources.chrome.pieces.MAX_BUFFERED_BYTES", 10_000)
    streams, about = parse(ChromeParser, [text_of(READ)[:-1] + b', {"name": "'] + [b"x" * 1000] * 50)
    assert len(events_of(streams)) == 1
    assert "trace:2: an event is longer than that (10000 bytes)" in str(about.problems.first[0])


@settings(deadline=None)
@given(st.binary(max_size=200), st.integers(0, 400))
def test_hostile_bytes_cost_events_but_raise_nothing(noise: bytes, at: int) -> None:
    data = text_of(READ, {"name": "x", "ph": "B", "pid": [], "tid": {}}, READ | {"ts": 2**70}, indent=1)
    parse(ChromeParser, data[:at] + noise + data[at:])


def test_traces_are_told_from_other_json() -> None:
    assert sniff(text_of(READ), "x") == "chrome"
    assert sniff(b'{"displayTimeUnit": "ns", "traceEvents": [\n', "x") == "chrome"
    assert sniff(b'[\n{"args": {"call": 1}, "ph": "M"}\n', "x") == "chrome"
    assert sniff(b'{"read_sync": {"bandwidth": {}}}', "x") == "tmio"
    assert sniff(b'{"call": "read", "ph": "X"}', "x") == "jsonl"


def test_trace_that_node_writes(tmp_path: Path) -> None:
    script = """
        const fs = require('fs'), fd = fs.openSync('out', 'w');
        for (let i = 0; i < 5; i++) fs.writeSync(fd, Buffer.alloc(4096));
        fs.fsyncSync(fd); fs.closeSync(fd);
    """
    command = [need("node"), "--trace-event-categories", "node.fs.sync", "-e", script]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=DEADLINE_S)
    source = open_file(next(tmp_path.glob("node_trace*.log")), Origin(job="j"))
    stream = only_stream(collect(read_all(source)))
    writes = [row for row in stream.rows() if row["call"] == "write"]
    assert [row["bytes"] for row in writes] == [4096] * 5
    assert {"open", "write", "fsync", "close"} <= {row["call"] for row in stream.rows()}
    assert stream.info.clock_offset_ns is None


_SAID = (5, 0, -1, 2**63 - 1, -(2**63), 2**63, 10**40, True, 1.0, 1e300, "7", [1], None)


@pytest.mark.parametrize("name", ["bytes", "offset", "handle"])
def test_argument_of_a_call_does_not_depend_on_the_calls_beside_it(name: str) -> None:
    def found(*said: Any) -> list[Any]:
        calls = [{**READ, "args": {"depth": 0, name: each}} for each in said]
        text = text_of(*calls, {**READ, "ph": "C"})  # the parser decodes all but the last event together
        return [row[name] for stream in parse(ChromeParser, text)[0].values() for row in stream.rows()]

    alone = [found(said) for said in _SAID]
    for number, said in enumerate(_SAID):
        for other, beside in enumerate(_SAID):
            assert found(said, beside) == alone[number] + alone[other], (said, beside)


@pytest.mark.parametrize("said", [-1, 2**63 - 1])
def test_bytes_that_no_call_can_move_cost_their_call_alone(said: int) -> None:
    """Of our own export, too: the aggregator would reject the whole batch."""
    out = io.StringIO()
    write_chrome(archived(1, calls=3), out)
    document = json.loads(out.getvalue())
    first = next(each for each in document["traceEvents"] if each["ph"] == "X")
    first["args"]["bytes"] = said
    streams, about = parse(ChromeParser, json.dumps(document).encode())
    moved = [each for stream in streams.values() for each in stream.events.bytes.tolist()]
    assert len(moved) == 5
    assert 0 <= min(moved) <= max(moved) <= 2**62
    assert about.problems.total == 1
