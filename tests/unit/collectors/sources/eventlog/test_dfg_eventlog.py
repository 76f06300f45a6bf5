"""Event logs: written logs are read unchanged, in every form; damage affects only the damaged part."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import h5py
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from iotide.clients.eventlog.log import EventLog, LogCase
from iotide.clients.eventlog.writing import check_log, write
from iotide.collectors.call_classes import classify
from iotide.collectors.source import Input, Origin
from iotide.collectors.sources.eventlog.csv_log import CsvParser
from iotide.collectors.sources.eventlog.hdf5_log import parse_hdf5, parse_hdf5_here
from iotide.collectors.sources.eventlog.parquet_log import parse_parquet
from iotide.collectors.sources.registry import FORMATS, open_file, read_all, sniff
from iotide.events import Flag, Kind, Layer, UnavailableError
from support.formats.parsing import Stream, collect, only_stream, parse, split_at

READ_AGAIN = ("a.h5", "a.csv", "a.parquet", "a.xes")
FORMS = pytest.mark.parametrize("name", READ_AGAIN)
CALLS = ["", "read", "pwrite64", "openat", "H5Dwrite", 'odd "call", x']
FILES = ["", "/scratch/a b/out.h5", "quoted \",' file", "line\nend\r\\n\\", "käse/日本", "/a" * 100]


def log_case(name: str, rows: list[tuple[int, ...]], **given: Any) -> LogCase:
    columns = [np.array(column, np.int64) for column in zip(*rows, strict=True)] or [np.zeros(0, np.int64)] * 9
    pid, tid, rank, call, start, duration, file, size, activity = columns
    depth = np.arange(len(rows)) % 3
    known = {"command": "", "host": "", "rank": -1, "clock": True} | given
    return LogCase(
        name=name, pid=pid, tid=tid, ranks=rank, call=call, start=start, duration=duration, file=file, size=size,
        activity=activity, depth=depth, **known,
    )  # fmt: skip


ROWS = [
    # pid, tid, rank, call, start, duration, file, size, activity
    (7, 7, 3, 3, 1_700_000_000_000_000_001, 10, 1, -1, 0),
    (7, 8, 3, 2, 1_700_000_000_000_000_100, 2_500, 1, 4096, 1),
    (7, 7, 3, 1, 1_700_000_000_000_003_000, 30, 3, -1, 0),
]
LOG = EventLog(CALLS, FILES, ["one", 'two, "2"'], [log_case("ls_n1_3", ROWS, command="ls", host="n1", rank=3)])


def bytes_of(log: EventLog, name: str, folder: Path) -> bytes:
    write(folder / name, name, log)
    return (folder / name).read_bytes()


def read_again(data: bytes, name: str) -> tuple[dict[str, Stream], Input]:
    return parse(FORMATS[sniff(data[:4096], name)].parser, data, name)


@FORMS
def test_events_are_read_again_as_they_were(name: str, tmp_path: Path) -> None:
    streams, about = read_again(bytes_of(LOG, name, tmp_path), name)
    assert about.problems.total == 0
    stream = only_stream(streams)
    assert (stream.info.command, stream.info.host, stream.info.rank) == ("ls", "n1", 3)
    assert (stream.info.job, stream.info.user, stream.info.clock_offset_ns) == ("job", "ann", 0)
    rows = stream.rows()
    for key, expected in {
        "start": [row[4] for row in ROWS],
        "duration": [10, 2500, 30],
        "call": ["openat", "pwrite64", "read"],
        "file": [FILES[1], FILES[1], FILES[3]],
        "pid": [7, 7, 7],
        "tid": [7, 8, 7],
        "rank": [3, 3, 3],
        "bytes": [0, 4096, 0],
        "kind": [Kind.CREATE, Kind.WRITE, Kind.READ],
        "layer": [Layer.POSIX] * 3,
        "flags": [0, 0, 4],
        "depth": [0, 1, 2],
    }.items():
        assert [row[key] for row in rows] == expected, key


@FORMS
@pytest.mark.parametrize("text", ["\udcff", "a\udcffb", "\\udcff", "a\\\udcff"])
def test_names_that_are_not_utf_8_keep_their_bytes_as_escapes(name: str, text: str, tmp_path: Path) -> None:
    row = (1, 1, 0, 1, 0, 0, 1, 0, 0)
    written = [log_case(text if name == "a.csv" else "case", [row], clock=False, host=text)]
    data = bytes_of(EventLog(["", text], ["", text], [text], written), name, tmp_path)
    streams, _ = read_again(data, name)
    (read,) = only_stream(streams).rows()
    assert (read["call"], read["file"]) == (stored(text, name), stored(text, name))


TEXT = st.text(st.characters() | st.sampled_from("\x00\udcff\n\\"), min_size=1, max_size=20)
CALL = st.sampled_from(CALLS[1:5])
ROW = st.tuples(
    st.integers(1, 2**31 - 1),
    st.integers(1, 2**31 - 1),
    st.integers(-1, 2**31 - 1),
    st.integers(1, 5),
    st.integers(0, 2**62),
    st.integers(0, 2**61),
    st.integers(0, 5),
    st.integers(-1, 2**61),
    st.just(0),
)
NAMES = st.from_regex(r"[A-Za-z0-9._-]{1,20}", fullmatch=True).filter(lambda name: name.strip("."))


def stored(text: str, name: str) -> str:
    """Return a text as a log has it. HDF5's texts have no NUL, and no format has lone surrogates."""
    text = text.replace("\0", "\\0") if name.endswith(".h5") else text
    return text.encode(errors="backslashreplace").decode()


@pytest.mark.slow
@FORMS
@given(
    cases=st.dictionaries(NAMES, st.tuples(st.lists(ROW, min_size=1, max_size=6), st.booleans()), max_size=4),
    texts=st.lists(TEXT | CALL, min_size=5, max_size=5, unique=True),
    host=TEXT,
    places=st.lists(st.integers(0, 10**6), max_size=3),
)
@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_log_survives_writing_and_reading_however_it_is_split(
    name: str,
    cases: dict[str, tuple[list[tuple[int, ...]], bool]],
    texts: list[str],
    host: str,
    places: list[int],
    tmp_path: Path,
) -> None:
    calls, files = ["", *(text.strip() or "c" for text in texts)], ["", *texts]
    written = [log_case(case, rows, clock=clock, host=host) for case, (rows, clock) in cases.items()]
    data = bytes_of(EventLog(calls, files, ["activity"], written), name, tmp_path)
    streams, about = parse(FORMATS[sniff(data, name)].parser, split_at(data, places), name)
    assert about.problems.total == 0
    found = {stream.rsplit(":", 1)[1]: value for stream, value in streams.items()}
    assert set(found) == set(cases)
    for case, (rows, clock) in cases.items():
        assert (found[case].info.clock_offset_ns == 0) == clock
        read = [(row["pid"], row["tid"], row["rank"], row["call"], row["start"], row["duration"], row["file"])
                for row in found[case].rows()]  # fmt: skip
        assert read == [
            (p, t, r, stored(calls[c], name), s, d, stored(files[f], name)) for p, t, r, c, s, d, f, _, _ in rows
        ]
        moves = [classify(calls[row[3]])[1] in (Kind.READ, Kind.WRITE) for row in rows]
        sizes = [max(row[7], 0) if moving else 0 for row, moving in zip(rows, moves, strict=True)]
        assert found[case].events.bytes.tolist() == sizes
        failed = [moving and row[7] < 0 for row, moving in zip(rows, moves, strict=True)]
        assert (found[case].events.flags & int(Flag.FAILED) != 0).tolist() == failed


def test_hdf5_has_a_group_a_case_with_the_columns_of_the_method(tmp_path: Path) -> None:
    bytes_of(LOG, "a.h5", tmp_path)
    with h5py.File(tmp_path / "a.h5") as log:
        assert list(log) == ["ls_n1_3"]
        group = log["ls_n1_3"]
        assert {"pid", "call", "start", "dur", "fp", "size"} <= set(group)
        assert group["call"][:].tolist() == [b"openat", b"pwrite64", b"read"]
        assert group["size"][:].tolist() == [-1, 4096, -1]
        assert (group.attrs["cid"], group.attrs["host"], group.attrs["rid"]) == ("ls", "n1", 3)
        assert group["start"].attrs["units"] == "ns"


def test_hdf5_of_others_with_seconds_and_variable_strings_is_read(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "x.h5", "w") as log:
        group = log.create_group("b_host1_9157")
        group["call"], group["fp"] = ["read", "write"], ["/usr/lib/x", "/dev/pts/7"]
        group["start"], group["dur"] = [1.5, 2.5], [0.25, 0.5]
        group["pid"], group["size"] = [4, 4], [832, 50]
        table = log.create_group("table").create_dataset(
            "events", (1,), np.dtype([("call", "S8"), ("start", "f8"), ("dur", "f8"), ("fp", "S9")])
        )
        table[0] = (b"read", 3.0, 1.0, b"/x")
        log.create_group("empty")
    streams, about = read_again((tmp_path / "x.h5").read_bytes(), "x.h5")
    first, second = streams["hdf5:x.h5:b_host1_9157"], streams["hdf5:x.h5:table"]
    assert (first.info.command, first.info.host, first.info.rank) == ("b", "host1", 9157)
    assert first.events.start.tolist() == [1_500_000_000, 2_500_000_000]
    assert first.events.bytes.tolist() == [832, 50]
    assert [row["file"] for row in second.rows()] == ["/x"]
    assert "'empty' is no case" in str(about.problems.first[0])


def test_csv_is_what_process_mining_reads_and_leaves_out_what_has_no_activity(tmp_path: Path) -> None:
    rows = [(*row[:-1], activity) for row, activity in zip(ROWS, (0, -1, 1), strict=True)]
    log = EventLog(CALLS, FILES, ["one", 'two, "2"'], [log_case("c", rows)])
    lines = list(csv.DictReader(bytes_of(log, "a.csv", tmp_path).decode().splitlines()))
    assert [line["concept:name"] for line in lines] == ["one", 'two, "2"']
    assert lines[0]["case:concept:name"] == "c"
    assert lines[0]["time:timestamp"] == "2023-11-14T22:13:20.000000001+00:00"


def test_xes_is_well_formed_and_holds_traces_of_events(tmp_path: Path) -> None:
    log = EventLog(
        ["", "a\x01<&"], FILES, ["x\n\"<'"], [log_case("c", [(1, 1, 0, 1, 5, 6, 3, 7, 0)] * 2), LOG.cases[0]]
    )
    log = EventLog([*log.calls, *CALLS[2:]], FILES, [*log.activities, "two"], log.cases)
    root = ET.fromstring(bytes_of(log, "a.xes", tmp_path))
    space = "{http://www.xes-standard.org/}"
    traces = root.findall(f"{space}trace")
    assert [len(trace.findall(f"{space}event")) for trace in traces] == [2, 3]
    event = {item.get("key"): item.get("value") for item in next(traces[0].iter(f"{space}event"))}
    assert (event["concept:name"], event["call"], event["fp"]) == (
        "x\n\"<'",
        "a\\u0001<&",
        "line\nend\r\\\\n\\\\",
    )
    assert event["time:timestamp"] == "1970-01-01T00:00:00.000000+00:00"


def test_damaged_lines_of_csv_cost_themselves(tmp_path: Path) -> None:
    lines = bytes_of(LOG, "a.csv", tmp_path).decode().splitlines()
    bad = [
        '"',
        "x,y",
        lines[1].replace("openat", ""),
        lines[1].replace(",10,", ",-10,"),
        lines[1].replace(",10,", ",ten,"),
    ]
    streams, about = read_again("\n".join([lines[0], lines[1], *bad, "", *lines[2:]]).encode(), "a.csv")
    assert only_stream(streams).events.start.tolist() == [row[4] for row in ROWS]
    assert [problem.line for problem in about.problems.first] == [3, 4, 5, 6, 7] or sorted(
        problem.line or 0 for problem in about.problems.first
    ) == [3, 4, 5, 6, 7]
    assert about.counters["lines_malformed"] == 5


def test_rows_of_cases_may_be_mixed_and_keep_their_order(tmp_path: Path) -> None:
    cases = [
        log_case(name, [(*row[:4], row[4] + shift, *row[5:]) for row in ROWS * 5]) for shift, name in enumerate("ab")
    ]
    head, *lines = bytes_of(EventLog(CALLS, FILES, ["one", "two"], cases), "a.csv", tmp_path).decode().splitlines()
    mixed = [line for pair in zip(lines[:15], lines[15:], strict=True) for line in pair]
    streams, about = read_again("\n".join([head, *mixed]).encode(), "a.csv")
    assert about.problems.total == 0
    assert [stream.events.start.tolist() for stream in streams.values()] == [case.start.tolist() for case in cases]


def test_duplicate_column_makes_lines_with_fewer_fields_malformed() -> None:
    data = b"case:concept:name,call,start,dur,size,call\na,x,1,1,5,read\na,x,1,1,5\nb,x,1,1,5,read\n"
    streams, about = parse(CsvParser, data, "a.csv")
    assert [row["call"] for stream in streams.values() for row in stream.rows()] == ["read", "read"]
    assert about.problems.total == 1


def test_header_that_is_no_csv_is_a_malformed_line() -> None:
    _, about = parse(CsvParser, b"case:concept:name,\rcall,start,dur\na,b,1,1\n", "a.csv")
    assert about.problems.total == 2


def test_csv_without_the_columns_that_count_is_refused_line_by_line() -> None:
    streams, about = parse(CsvParser, b"case:concept:name,concept:name\na,b\n", "a.csv")
    assert not streams
    assert "columns case:concept:name, call, start and dur" in str(about.problems.first[0])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a.h5", "a.parquet"])
@given(data=st.data())
@settings(deadline=None, max_examples=60, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_damaged_documents_never_raise(name: str, data: st.DataObject, tmp_path: Path) -> None:
    whole = bytearray(bytes_of(LOG, name, tmp_path))
    whole = whole[: data.draw(st.integers(9, len(whole)))]
    for _ in range(data.draw(st.integers(0, 4))):
        whole[data.draw(st.integers(8, len(whole) - 1))] = data.draw(st.integers(0, 255))
    parse(parse_hdf5_here if name == "a.h5" else parse_parquet, bytes(whole), name)


@given(st.binary(max_size=300))
@settings(deadline=None)
def test_any_bytes_after_a_header_are_events_or_problems(data: bytes) -> None:
    head = b"case:concept:name,call,start,dur,fp,size\na,read,1,2,/x,3\n"
    streams, _ = parse(CsvParser, head + data, "a.csv")
    assert len(streams) >= 1


@FORMS
def test_file_is_told_by_its_content_and_streams_end(name: str, tmp_path: Path) -> None:
    (tmp_path / "unnamed").write_bytes(bytes_of(LOG, name, tmp_path))
    source = open_file(tmp_path / "unnamed", Origin(job="j"))
    stream = only_stream(collect(read_all(source)))
    assert stream.closed
    assert stream.info.source == sniff((tmp_path / name).read_bytes(), "x")
    assert source.counters["events"] == 3


@pytest.mark.parametrize(("name", "module"), [("a.h5", "h5py"), ("a.parquet", "pyarrow")])
def test_missing_library_is_named_with_what_to_install(name: str, module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for known in [key for key in sys.modules if key.split(".")[0] == module or "iotide.clients.eventlog." in key]:
        monkeypatch.delitem(sys.modules, known)
    monkeypatch.setitem(sys.modules, module, None)
    factory = FORMATS[sniff(b"", name)].parser
    for attempt in (lambda: check_log(name), lambda: factory(Input("x", Origin(job="j")))):
        with pytest.raises(UnavailableError, match=r"pip install 'iotide\[(hdf5|parquet)\]'"):
            attempt()


def test_unknown_ending_is_refused() -> None:
    with pytest.raises(ValueError, match=r"a.txt: the name must end in one of .h5"):
        check_log("a.txt")


def test_too_large_a_document_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("iotide.collectors.sources.eventlog.buffered_file.LARGEST_DOCUMENT", 100)
    streams, about = parse(parse_hdf5, [bytes(80)] * 3, "a.h5")
    assert not streams
    assert about.counters["bytes_dropped:too_large"] == 240
    assert about.problems.total == 1


def test_document_of_nothing_has_no_streams() -> None:
    assert parse(parse_parquet, b"", "a.parquet")[0] == {}


def test_cases_beyond_the_bound_are_left_out_and_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("iotide.collectors.sources.eventlog.cases.MAX_STREAMS", 2)
    log = EventLog(CALLS, FILES, ["one", 'two, "2"'], [log_case(name, ROWS) for name in "abcd"])
    streams, about = read_again(bytes_of(log, "a.csv", tmp_path), "a.csv")
    assert len(streams) == 2
    assert about.counters["events_dropped:too_many_streams"] == 6
    assert [str(problem) for problem in about.problems.first] == [
        "a.csv: 6 calls of further cases left out; expected at most 2 cases"
    ]
