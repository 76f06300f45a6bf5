"""Traces that are too large for memory: commands get the same events as for small traces."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from iotide.analyzers.dfg.spec.filters import Filter
from iotide.analyzers.dfg.spec.graph_definition import GraphDefinition
from iotide.analyzers.layers.report.report import Cut
from iotide.analyzers.offline.detection import AnalysisOptions, analyse
from iotide.analyzers.offline.per_group_results import analyse_groups
from iotide.analyzers.offline.requests import Requests
from iotide.analyzers.periodicity.aliasing import is_alias
from iotide.analyzers.periodicity.estimator import SignalWindow
from iotide.analyzers.settings import DetectSettings
from iotide.archive.file.reader import ArchiveReader, Calls
from iotide.archive.file.writer import ArchiveWriter
from iotide.cli.dfg.from_traces import graph_of, select, timeline_of
from iotide.cli.layers.from_traces import report_of
from iotide.cli.traces.trace_events import TraceEvents
from iotide.cli.traces.trace_reading import Trace, read_traces
from iotide.events import Definitions, EventBatch, Kind, Layer, StreamInfo, concatenate, make_batch
from iotide.events.definitions import FileInfo
from support.jobs.batches import rows
from support.places import DATA

_DAY_NS = 86_400 * 10**9


def calls_of(rank: int, *, mixed: bool) -> EventBatch:
    """Phases every two seconds of one of two groups of ranks; each MPI-IO write contains a stdio write."""
    count, at = 400, np.arange(400)
    begin = 10**9 * (2 + rank % 2) * (at // 20) + at % 20 * 3_000_000 + rank * 7
    start = np.stack([begin + 1_000, begin, begin + 2_000_000], 1).ravel()
    taken = np.tile([900_000, 1_000_000, 5_000], count)
    columns = {
        "start": start, "duration": taken, "bytes": np.tile([4096, 4096, 100], count), "rank": rank,
        "layer": np.tile([Layer.POSIX, Layer.MPIIO, Layer.POSIX], count), "depth": np.tile([1, 0, 0], count),
        "kind": np.tile([Kind.WRITE, Kind.WRITE, Kind.READ], count), "call": np.tile([1, 2, 3], count),
        "file": np.tile([1, 1, 2 + rank % 2], count), "pid": 50 + rank, "tid": 50 + rank,
    }  # fmt: skip
    batch = make_batch(3 * count, columns)
    return batch.select(np.random.default_rng(rank).permutation(len(batch))) if mixed else batch


@pytest.fixture(scope="module", params=["archive", "shuffled", "text"])
def path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    names = ["pwrite64", "MPI_File_write", "read"]
    files = [FileInfo("/s/out"), FileInfo("/s/a"), FileInfo("/s/b")]
    folder = tmp_path_factory.mktemp("traces")
    ranks = {rank: calls_of(rank, mixed=request.param == "shuffled") for rank in range(6)}
    if request.param == "text":
        lines = [
            (int(start + taken), {
                "call": names[call - 1], "path": files[file - 1].path, "start_ns": int(start), "dur_ns": int(taken),
                "size": int(size), "rank": rank, "layer": Layer(layer).name, "depth": int(depth), "pid": 50 + rank,
            })
            for rank, batch in ranks.items()
            for start, taken, call, file, size, layer, depth in zip(
                batch.start, batch.duration, batch.call, batch.file, batch.bytes, batch.layer, batch.depth, strict=True
            )
        ]  # fmt: skip
        made = folder / "trace.jsonl"
        made.write_text("".join(json.dumps(line) + "\n" for _, line in sorted(lines, key=lambda each: each[0])))
        return made
    writer = ArchiveWriter()
    written = writer.begin({"job": "job"})
    for rank, batch in ranks.items():
        info = StreamInfo(job="job", source="preload", rank=rank, pid=50 + rank, host=f"n{rank % 2}")
        definitions = Definitions(list(enumerate(names, 1)), list(enumerate(files, 1)))
        written += writer.opened(str(rank), info) + writer.batch(str(rank), batch, definitions)
    made = folder / "trace.iotide"
    made.write_bytes(written + writer.end())
    return made


def read(path: Path, *, signal_only: bool = False, keeps_signal: bool = False, most_bytes: int = 2**30) -> Trace:
    return read_traces(
        [path],
        format_name=None,
        job="job",
        progress=lambda path, done: None,
        signal_only=signal_only,
        keeps_signal=keeps_signal,
        most_bytes=most_bytes,
    )


@pytest.mark.parametrize("most_bytes", [0, 40_000])
def test_events_are_the_same_each_time_wherever_they_are(path: Path, most_bytes: int) -> None:
    few, many = read(path), read(path, most_bytes=most_bytes)
    assert (few.events, few.span_ns) == (many.events, many.span_ns) == (7200, few.span_ns)
    for _ in range(2):
        streams = {
            name: [row for batch in batches for row in rows(batch)] for name, batches in many.chunks.of_streams()
        }
        assert list(streams) == list(few.chunks.names)
        for name, batches in few.chunks.of_streams():
            assert streams[name] == rows(concatenate(batches))
        assert sum(len(batch) for _, batch in many.chunks) == 7200


def test_an_archive_that_grows_meanwhile_has_the_events_that_it_had(tmp_path: Path) -> None:
    writer = ArchiveWriter()
    batch = calls_of(0, mixed=False)
    info = StreamInfo(job="job", source="preload", pid=50)
    begun = writer.begin({"job": "job"}) + writer.opened("0", info) + writer.batch("0", batch, Definitions([(1, "a")]))
    begun += writer.checkpoint()
    path = tmp_path / "growing.iotide"
    path.write_bytes(begun)
    trace = read(path, most_bytes=0)
    path.write_bytes(begun + writer.batch("0", batch, Definitions()) + writer.end())
    assert sum(len(batch) for _, batch in trace.chunks) == trace.events > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "chosen",
    [{}, {"mode": "write"}, {"method": "reference"}, {"sampling_frequency_hz": 20.0}, {"sampling": "point"}],
    ids=str,
)
def test_periods_of_many_events_are_those_of_few(path: Path, chosen: dict[str, object]) -> None:
    settings = DetectSettings.model_validate(chosen)
    found = []
    for most_bytes, keeps in ((2**30, False), (0, False), (0, True)):
        trace = read(path, signal_only=not keeps, keeps_signal=keeps, most_bytes=most_bytes)
        answer = analyse(trace.batches(), settings, "job", AnalysisOptions(all_modes=True), trace.with_members)[:2]
        keys, names = trace.keys("rank")
        found.append((answer, trace.moved(), analyse_groups(trace.batches(), keys, names, settings, "rank", 3)))
    assert found[0] == found[1] == found[2]
    assert found[0][1].read == 6 * 400 * 100
    assert found[0][1].written == 6 * 400 * 4096


def test_windows_of_many_events_are_those_of_few(path: Path) -> None:
    few, many = (read(path, most_bytes=size).within(3 * 10**9, 9 * 10**9 + 500) for size in (2**30, 0))
    assert (few.events, few.span_ns, few.moved()) == (many.events, many.span_ns, many.moved())
    assert 0 < few.events < 7200


def test_layers_of_many_events_are_those_of_few(path: Path) -> None:
    reports = []
    for size in (2**30, 0):
        trace = read(path, most_bytes=size)
        reports += [
            report_of(trace, [path], Filter.parse(filters), "job", Cut(handles=9, files=9))
            for filters in ("", "call=*write*", "rank=1")
        ]
    assert reports[:3] == reports[3:]
    assert reports[0].layers.events == 7200


def test_layers_do_not_depend_on_the_pieces_in_which_a_file_is_read() -> None:
    """Numbers of nodes depend on the order of calls, and lists are truncated."""
    path = DATA / "lttng.txt.gz"
    pieces, whole = read(path), read(path)
    whole.chunks = TraceEvents()
    whole.chunks.begin(path)
    for name, batches in pieces.chunks.of_streams():
        whole.chunks.add(name, concatenate(batches))
    cut = Cut(handles=200, files=200)
    reports = [report_of(each, [path], Filter.parse(""), "job", cut) for each in (pieces, whole)]
    assert reports[0] == reports[1]


@pytest.mark.parametrize("text", ["", "call+role by rank", "layer+name by file where call=*write*", "kind by host"])
def test_graphs_of_many_events_are_those_of_few(path: Path, text: str) -> None:
    view = GraphDefinition.parse(text)
    found = []
    for size in (2**30, 0):
        selection = select(read(path, most_bytes=size), view)
        sides = [selection.filtered([Filter.parse(side)]) for side in ("rank=0", "rank=1-")]
        graphs = [graph_of(each, view, "job", size) for each in (selection, *sides)]
        shown = timeline_of(selection, selection.mapper.names[0])
        found.append((graphs, [(each.events, each.left_out) for each in (selection, *sides)], shown))
    assert found[0] == found[1]
    assert found[0][0][0].events == found[0][1][0][0] > found[0][1][1][0] > 0


@pytest.mark.parametrize("on_clock", [True, False])
def test_requests_in_pieces_are_those_together(on_clock: bool) -> None:
    """Some are more than four days before or after the others."""
    random = np.random.default_rng(5)
    batches = []
    for first in (0, 10 * _DAY_NS, 10 * _DAY_NS + 10**12, 14 * _DAY_NS - 10**9, 30 * _DAY_NS):
        start = first + np.sort(random.integers(0, 10**12, 900 if first == 10 * _DAY_NS else 400))
        taken, size = random.integers(0, 10**9, len(start)), random.integers(0, 9, len(start))
        columns = {"start": start, "duration": taken, "bytes": size, "kind": Kind.WRITE}
        batches.append((make_batch(len(start), columns), np.zeros(0, np.uint8)))
    few, many = (Requests(batches, "both", on_clock=on_clock, most_held=most) for most in (10**6, 0))
    assert (few.count, few.first_ns, few.last_ns) == (many.count, many.first_ns, many.last_ns)
    assert len(list(few)) == 1
    assert few.is_one_piece
    assert not many.is_one_piece
    for column in range(3):
        one, other = (np.concatenate([piece[column] for piece in requests]) for requests in (few, many))
        assert np.array_equal(one, other)
    kept = batches[1:4] if on_clock else batches
    assert few.count == sum(int((batch.bytes > 0).sum()) for batch, _ in kept)
    assert few.firsts == [int(batch.start.min()) for batch, _ in batches]


def test_an_alias_is_one_in_pieces_too() -> None:
    start = np.arange(20_000, dtype=np.int64) * 10**9
    end, volume = start + 10**6, np.full(len(start), 100, np.int64)
    values = np.histogram(start / 1e9, np.arange(0, 20_001, 163.84))[0].astype(np.float64)
    view = SignalWindow(values, bin_s=163.84, start_s=0.0, now_s=len(values) * 163.84)
    pieces = [(start[at : at + 999], end[at : at + 999], volume[at : at + 999]) for at in range(0, len(start), 999)]
    for period_s in (400.0, 4096.0, 1000.0):
        assert is_alias(pieces, view, period_s) == is_alias([(start, end, volume)], view, period_s)
    assert is_alias(pieces, view, 4096.0)


def test_an_archive_whose_signal_is_kept_is_decoded_once_more_for_all_its_events(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = read(path, keeps_signal=True, most_bytes=0)
    decoded: list[bool] = []
    original = ArchiveReader.calls

    def counted_calls(self: ArchiveReader, stream: int, *, signatures: bool = True) -> Iterator[Calls]:
        decoded.append(signatures)
        return original(self, stream, signatures=signatures)

    monkeypatch.setattr(ArchiveReader, "calls", counted_calls)
    analyse(trace.batches(), DetectSettings(), "job", AnalysisOptions(), trace.with_members)
    trace.moved()
    assert decoded == []
    assert sum(len(batch) for _, batch in trace.chunks) == trace.events
    assert decoded == [False] * (len(trace.streams) if path.suffix == ".iotide" else 0)
