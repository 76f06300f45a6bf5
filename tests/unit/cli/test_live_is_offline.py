"""A job session and the commands on finished traces report the same for the same events, however they arrive."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from iotide.analyzers.dfg.spec.filters import Filter
from iotide.analyzers.dfg.spec.graph_definition import GraphDefinition
from iotide.analyzers.interaction.settings import InteractionSettings
from iotide.analyzers.layers.report.report import Cut
from iotide.analyzers.offline.detection import AnalysisOptions
from iotide.analyzers.pipeline.contract import Reporting
from iotide.analyzers.pipeline.settings import AnalyzerSettings
from iotide.analyzers.registry import ANALYZERS
from iotide.analyzers.settings import DetectSettings
from iotide.archive.file.writer import ArchiveWriter
from iotide.cli.advise.from_traces import advice_of_trace
from iotide.cli.detect.from_traces import report_of as detection_of
from iotide.cli.dfg.from_traces import graph_of, select
from iotide.cli.layers.from_traces import report_of as layers_of
from iotide.cli.rank.from_traces import rank_traces
from iotide.cli.traces.trace_analysis import add_events, context_of
from iotide.cli.traces.trace_reading import Trace, read_traces
from iotide.daemon.jobs.job_findings import frozen_advice
from iotide.daemon.jobs.job_summary import detail_of
from iotide.daemon.jobs.session import JobSession
from iotide.daemon.settings import AggregatorSettings
from iotide.events import Definitions, EventBatch, Flag, Kind, Layer, StreamInfo, make_batch
from iotide.events.definitions import FileInfo
from support.jobs.alike import assert_alike

RANKS, PHASES, CALLS, PERIOD_NS, ZERO_S = 3, 12, 24, 3 * 10**9, 1_700_000_000
NAMES = ["MPI_File_write_at_all", "pwrite64", "read", "openat", "MPI_File_iwrite_at", "MPI_Wait"]
FILES = [FileInfo(path) for path in ("/scratch/out.h5", "/scratch/in.dat", "/usr/lib/libm.so", "/scratch/log.txt")]
CUT = Cut(handles=200, files=200)


@dataclass(frozen=True, slots=True)
class Case:
    """What is special about a job's events, and about their arrival.

    Attributes:
        depth: calls record their depth.
        nested: calls of MPI-IO make calls of POSIX.
        asynchronous: writes are begun by one call and completed by another one.
        losses: a stream reports lost events at its end.
        shuffled: pieces of the streams arrive in any order; otherwise phase by phase.
    """

    depth: bool = True
    nested: bool = True
    asynchronous: bool = False
    losses: bool = False
    shuffled: bool = False


CASES = {
    "recorded depths": Case(),
    "no depths": Case(depth=False, nested=False),
    "asynchronous": Case(asynchronous=True),
    "asynchronous, no depths": Case(depth=False, nested=False, asynchronous=True),
    "losses": Case(losses=True),
    "out of order": Case(shuffled=True),
    "out of order, all": Case(depth=False, nested=False, asynchronous=True, losses=True, shuffled=True),
}


def phase(case: Case, rank: int, number: int) -> EventBatch:
    """One phase of a rank, by end: writes of odd lengths, reads of data and of system files, failures, opens."""
    rng = np.random.default_rng(rank * 1000 + number)
    lasts = rng.integers(1_000_000, 9_000_000, CALLS)
    begin = ZERO_S * 10**9 + number * PERIOD_NS + rank * 50_000 + np.arange(CALLS) * 30_000_000
    size = rng.integers(1, 1 << 20, CALLS)
    upper = Layer.MPIIO if case.nested or case.asynchronous else Layer.POSIX
    parts = [
        {"start": begin, "duration": lasts, "call": 1, "layer": upper, "kind": Kind.WRITE, "file": 1, "bytes": size,
         "requested": size, "handle": 1},
        {"start": begin + 15_000_000, "duration": lasts // 9, "call": 3, "layer": Layer.POSIX, "kind": Kind.READ,
         "file": rng.choice([2, 3], CALLS), "bytes": 4096, "requested": 4096, "handle": 4},
        {"start": begin + 18_000_000, "duration": 1000, "call": 4, "layer": Layer.POSIX, "kind": Kind.CREATE,
         "file": rng.choice([2, 4], CALLS), "flags": rng.choice([0, int(Flag.FAILED)], CALLS)},
    ]  # fmt: skip
    if case.nested:
        parts.append(
            {"start": begin + 1000, "duration": lasts // 2, "call": 2, "layer": Layer.POSIX, "kind": Kind.WRITE,
             "file": 1, "bytes": size, "requested": size, "depth": 1, "handle": 3, "parent": 1}
        )  # fmt: skip
    if case.asynchronous:
        parts += [
            {"start": begin + 20_000_000, "duration": 900, "call": 5, "layer": Layer.MPIIO, "kind": Kind.WRITE,
             "file": 1, "requested": size, "handle": 1},
            {"start": begin + 22_000_000, "duration": 2_000_000, "call": 6, "layer": Layer.MPIIO, "kind": Kind.WRITE,
             "file": 1, "bytes": size, "requested": size, "handle": 1},
        ]  # fmt: skip
    columns = {
        name: np.concatenate([np.broadcast_to(part.get(name, 0), (CALLS,)) for part in parts])
        for name in ("start", "duration", "call", "layer", "kind", "file", "bytes", "requested", "depth", "handle",
                     "parent", "flags")
    }  # fmt: skip
    batch = make_batch(CALLS * len(parts), columns | {"rank": rank, "pid": 100 + rank, "tid": 100 + rank})
    return batch.select(np.lexsort((255 - batch.depth, batch.end)))


def streams_of(case: Case) -> dict[str, tuple[StreamInfo, list[EventBatch]]]:
    """Return the streams of a job with their events by end, in pieces."""
    infos = {
        f"r{rank}": StreamInfo(
            job="sim", source="preload", host=f"n{rank // 2}", pid=100 + rank, rank=rank, ranks=RANKS, command="./sim",
            clock_offset_ns=0,
        )
        for rank in range(RANKS)
    }  # fmt: skip
    return {name: (info, [phase(case, info.rank, number) for number in range(PHASES)]) for name, info in infos.items()}


def arrivals(case: Case, streams: dict[str, tuple[StreamInfo, list[EventBatch]]]) -> Iterator[tuple[str, EventBatch]]:
    """Yield pieces of the streams as they arrive; those of one stream are in order."""
    turns = [name for _ in range(PHASES) for name in streams]
    if case.shuffled:
        turns = np.random.default_rng(3).permutation(turns).tolist()
    left = {name: iter(pieces) for name, (_, pieces) in streams.items()}
    for name in turns:
        yield name, next(left[name])


def live_session(case: Case) -> JobSession:
    """Return the session of a job that has ended."""
    # an aggregator waits only so long for a late stream
    settings = AggregatorSettings.model_validate({"dfg": {"lateness_s": 3600}})
    session, streams = JobSession("sim", settings, ZERO_S), streams_of(case)
    defined: set[str] = set()
    for name, (info, _) in streams.items():
        session.open_stream(name, info, ZERO_S)
    end_s = float(ZERO_S + PHASES * PERIOD_NS // 10**9)
    for name, batch in arrivals(case, streams):
        fresh = Definitions() if name in defined else definitions()
        defined.add(name)
        session.update(name, batch, fresh, end_s, end_s)
    for name in streams:
        lost = {"events_dropped:test": 7} if case.losses and name == "r1" else {}
        session.close_stream(name, end_s, lost, end_s)
    return session


def definitions() -> Definitions:
    return Definitions(list(enumerate(NAMES, 1)), list(enumerate(FILES, 1)))


def archive(case: Case, path: Path) -> Path:
    """Write the archive of the same job."""
    writer = ArchiveWriter()
    written = writer.begin({"job": "sim"})
    for name, (info, pieces) in streams_of(case).items():
        written += writer.opened(name, info) + writer.batch(name, pieces[0], definitions())
        for batch in pieces[1:]:
            written += writer.batch(name, batch, Definitions())
        written += writer.closed(name, {"events_dropped:test": 7} if case.losses and name == "r1" else {})
    path.write_bytes(written + writer.end())
    return path


def data(model: Any, *left_out: str) -> dict[str, Any]:
    told: dict[str, Any] = model.model_dump(mode="json")
    return {name: value for name, value in told.items() if name not in left_out}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_session_and_commands_report_the_same(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    session = live_session(case)
    path = archive(case, tmp_path / "sim.iotide")
    trace = read_traces([path], format_name=None, job="sim", progress=lambda *_: None)

    view = GraphDefinition.parse("call+dirs:2")
    graphs = [
        data(session.graph.deferred_result()()) if session.graph else {},
        data(graph_of(select(trace, view), view, "sim")),
    ]
    for graph in graphs:
        for row in graph["activities"]:
            del row["exact"]  # whether events arrived in order, as in a finished trace
    assert graphs[0]["edges"]
    assert_alike(*graphs, "graph")

    assert session.layers is not None
    layers = layers_of(trace, [path], Filter.parse(""), "sim", CUT).layers
    # the timeline of a finished trace is finer, and it nests calls by time, if it has none with depths
    different = ("marks",) if case.depth else ("marks", "nesting")
    assert_alike(data(session.layers.deferred_result()(CUT), *different), data(layers, *different), "layers")

    assert session.interactions is not None
    ranking = rank_traces([path], None, InteractionSettings()).ranking
    assert ranking.files
    assert_alike(data(session.interactions.deferred_result()()), data(ranking), "ranking")

    for kind in ANALYZERS.values():
        if kind.result is not None and kind.name != "advice":
            reporting = session.analyzers.reporting_analyzer(kind.name)
            assert reporting is not None
            assert_alike(data(reporting.deferred_result()()), data(offline(kind.name, trace)), kind.name)

    detection = detection_of([path], trace, DetectSettings(), AnalysisOptions()).report
    detail = detail_of(session, ZERO_S + PHASES * PERIOD_NS / 1e9)
    for each in ("events", "bytes_read", "bytes_written", "not_counted"):
        assert getattr(detail, each) == getattr(detection, each), each
    final = session.predict(ZERO_S + PHASES * PERIOD_NS / 1e9, whole=True)
    assert final is not None
    assert final.period_s is not None
    assert detection.prediction.period_s is not None
    assert final.period_s.value == pytest.approx(detection.prediction.period_s.value, rel=0.01)

    advice = frozen_advice(session)
    assert advice is not None
    assert_alike(data(advice()), data(advice_of_trace(trace, "sim", 0.02, 86_400.0)), "advice")


def offline(name: str, trace: Trace) -> Any:
    context = context_of("sim", AnalyzerSettings())
    analyzer = ANALYZERS[name].make(context)
    assert isinstance(analyzer, Reporting)
    add_events(analyzer, trace, context.names)  # type: ignore[arg-type]
    return analyzer.deferred_result()()
