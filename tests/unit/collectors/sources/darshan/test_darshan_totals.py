"""Darshan's counters against the sums of our events: bytes, calls and seconds per file and layer."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from iotide.analyzers.dfg.spec.filters import Filter
from iotide.analyzers.layers.report.report import Cut
from iotide.analyzers.totals import Totals
from iotide.cli.layers.from_traces import report_of
from iotide.cli.traces.trace_reading import read_traces
from iotide.collectors.source import Origin
from iotide.collectors.sources.registry import open_file, read_all
from iotide.events import Flag, Kind, Layer
from iotide.events.summaries import busy_ns, calls_in
from iotide.results.layers import Layers
from support.formats.darshan_package import FOLDER, LOGS, darshan, needs_darshan
from support.formats.parsing import Stream, collect

pytestmark = needs_darshan
ALL = sorted({path.read_bytes(): path for path in sorted(FOLDER.rglob("*.darshan"))}.values())
MODULES = {"POSIX": Layer.POSIX, "MPI-IO": Layer.MPIIO, "STDIO": Layer.STDIO}
READS = ("READS", "INDEP_READS", "COLL_READS", "SPLIT_READS", "NB_READS")
WRITES = ("WRITES", "INDEP_WRITES", "COLL_WRITES", "SPLIT_WRITES", "NB_WRITES")
OPENS = ("OPENS", "INDEP_OPENS", "COLL_OPENS", "FDOPENS")
SYNCS = ("FSYNCS", "FDSYNCS", "SYNCS", "FLUSHES")
TIMES = ("read", "write", "meta")
TOLERANCE_S = 1e-6

Sums = dict[tuple[Layer, str], Counter[str]]
ids = [f"{path.parent.name}-{path.stem[:24]}" for path in ALL]


@dataclass(frozen=True)
class Log:
    """A log as PyDarshan reads it: modules, facts of the job, names of files, and counters by module."""

    modules: list[str]
    job: dict[str, Any]
    names: dict[int, str]
    records: dict[str, Any]


@cache
def log_of(path: Path) -> Log:
    report = darshan.DarshanReport(str(path), read_all=False)
    for module in set(MODULES) & set(report.modules):
        report.mod_read_all_records(module, dtype="pandas")
    records = {module: report.records[module][0] for module in set(MODULES) & set(report.modules)}
    return Log(list(report.modules), report.metadata["job"], dict(report.name_records), records)


def counted(path: Path) -> Sums:
    """Totals from Darshan's own reader, summed like ``darshan-parser --total``, per layer and file."""
    log, found = log_of(path), Sums()
    for module, layer in MODULES.items():
        if module not in log.records:
            continue
        pandas = log.records[module]
        rows = (pandas[which].to_dict("records") for which in ("counters", "fcounters"))
        for numbers, times in zip(*rows, strict=True):
            name = log.names.get(int(numbers["id"]), "")
            values = {key.split("_", 1)[-1]: value for key, value in numbers.items() if key not in ("id", "rank")}
            values |= {key.split("_", 1)[-1]: value for key, value in times.items() if key not in ("id", "rank")}
            sums = found.setdefault((layer, name), Counter())
            sums["bytes_read"] += int(values["BYTES_READ"])
            sums["bytes_written"] += int(values["BYTES_WRITTEN"])
            for what, names in (("reads", READS), ("writes", WRITES), ("opens", OPENS), ("syncs", SYNCS),
                                ("seeks", ("SEEKS",)), ("stats", ("STATS",))):  # fmt: skip
                sums[what] += sum(max(int(values.get(each, 0)), 0) for each in names)
            for what in TIMES:
                sums[f"{what}_s"] += max(float(values[f"F_{what.upper()}_TIME"]), 0.0)  # type: ignore[assignment]
    return found


@cache
def streams_of(path: Path) -> list[Stream]:
    source = open_file(path, Origin(job="none"))
    streams = list(collect(read_all(source)).values())
    assert not source.problems.total
    return streams


KINDS = {
    Kind.READ: ("reads", "read_s"), Kind.WRITE: ("writes", "write_s"), Kind.CREATE: ("opens", "meta_s"),
    Kind.SYNC: ("syncs", "write_s"), Kind.SEEK: ("seeks", "meta_s"), Kind.OTHER: ("", "meta_s"),
    Kind.DUPLICATE: ("", "meta_s"), Kind.DESTROY: ("", "meta_s"), Kind.CHANGE_FLAGS: ("", "meta_s"),
}  # fmt: skip


def ours(path: Path) -> Sums:
    found = Sums()
    for stream in streams_of(path):
        events = stream.events
        names = [stream.definitions.string(each) for each in range(stream.definitions.string_count)]
        files = [stream.definitions.file(each).path for each in range(stream.definitions.file_count)]
        columns = (events.layer, events.file, events.kind, events.call, events.bytes, calls_in(events), busy_ns(events))
        for layer, file, each, call, size, count, ns in zip(*(column.tolist() for column in columns), strict=True):
            sums, kind = found.setdefault((Layer(layer), files[file]), Counter()), Kind(each)
            what, seconds = KINDS[kind]
            sums["stats" if names[call] == "stat" else what] += count
            sums[seconds] += ns / 1e9  # type: ignore[assignment]
            if kind in (Kind.READ, Kind.WRITE):
                sums["bytes_read" if kind == Kind.READ else "bytes_written"] += size
    return found


@pytest.mark.slow
@pytest.mark.parametrize("path", ALL, ids=ids)
def test_bytes_calls_and_seconds_of_each_file_and_layer_are_those_of_darshans_own_reader(path: Path) -> None:
    theirs, mine = counted(path), ours(path)
    traced = {MODULES[module.removeprefix("DXT_").replace("MPIIO", "MPI-IO")] for module in log_of(path).modules
              if module.startswith("DXT_")}  # fmt: skip
    for (layer, name), expected in theirs.items():
        found = mine.get((layer, name), Counter())
        for what in ("bytes_read", "bytes_written", "reads", "writes", "opens", "syncs", "seeks", "stats"):
            assert found[what] == expected[what], (layer, name, what)
        for what in ("read_s", "write_s", "meta_s"):
            if layer in traced and what != "meta_s":
                continue  # DXT has the times of its calls
            if found[what] or expected["reads"] + expected["writes"] + expected["opens"] + expected["stats"]:
                assert found[what] == pytest.approx(expected[what], abs=TOLERANCE_S), (layer, name, what)
    assert set(mine) <= set(theirs)


@pytest.mark.slow
@pytest.mark.parametrize("path", ALL, ids=ids)
def test_records_that_all_ranks_share_are_of_all_ranks(path: Path) -> None:
    log = log_of(path)
    shared = any((record["counters"]["rank"] < 0).any() for record in log.records.values())
    ranks = {stream.info.rank for stream in streams_of(path)}
    if shared:
        assert ranks == set(range(log.job["nprocs"]))
    assert -1 not in ranks


def layers_of(path: Path) -> Layers:
    trace = read_traces([path], format_name=None, job="job", progress=lambda path, done: None)
    return report_of(trace, [path], Filter(), "job", Cut()).layers


@pytest.mark.slow
@pytest.mark.parametrize(("name", "most"), [("noposix", 39_213), ("example", 118)])
def test_spans_are_not_times_in_calls_in_totals_and_layers(name: str, most: float) -> None:
    path = LOGS / f"{name}.darshan"
    expected = {
        layer: sum(sums[f"{what}_s"] for (of, _), sums in counted(path).items() if of == layer for what in TIMES)
        for layer in MODULES.values()
    }
    totals = Totals()
    for stream in streams_of(path):
        totals.update(stream.events)
        assert int(stream.events.end.max() - stream.events.start.min()) / 1e9 <= most
    assert sum(row.seconds for row in totals.calls()) == pytest.approx(sum(expected.values()), rel=1e-6)
    layers = layers_of(path)
    assert {Layer[row.layer]: row.seconds for row in layers.layers} == pytest.approx(
        {layer: seconds for layer, seconds in expected.items() if seconds}, rel=1e-6, abs=TOLERANCE_S
    )
    assert {row.processes for row in layers.layers} <= set(range(len(streams_of(path)) + 1))
    assert len(streams_of(path)) == log_of(path).job["nprocs"]


@pytest.mark.slow
def test_posix_calls_by_mpi_io_are_not_the_programs() -> None:
    path = LOGS / "example.darshan"
    for stream in streams_of(path):
        events = stream.events
        posix, mpiio = events.layer == Layer.POSIX, events.layer == Layer.MPIIO
        assert (events.depth[posix] == 1).all()
        assert (events.depth[mpiio] == 0).all()
    found = layers_of(path)
    assert {(row.caller, row.layer) for row in found.steps} == {("", "MPIIO"), ("", "STDIO"), ("MPIIO", "POSIX")}
    mpiio = next(row for row in found.layers if row.layer == "MPIIO")
    assert mpiio.exclusive_seconds < 1000  # of 100,447 s; the rest was spent in POSIX below


@pytest.mark.slow
def test_bytes_are_spread_over_the_time_in_which_they_were_moved() -> None:
    path = LOGS / "example.darshan"
    record = log_of(path).records["MPI-IO"]["fcounters"].iloc[0]
    begin = log_of(path).job["start_time_sec"]
    start, end = (begin + record[f"MPIIO_F_WRITE_{which}_TIMESTAMP"] for which in ("START", "END"))
    for stream in streams_of(path):
        events = stream.events
        rows = (events.layer == Layer.MPIIO) & (events.kind == Kind.WRITE)
        assert np.allclose(events.start[rows] / 1e9, start, atol=1e-6)
        assert np.allclose(events.end[rows] / 1e9, end, atol=1e-6)
        assert set(events.flags[rows].tolist()) == {int(Flag.AGGREGATE | Flag.SPREAD)}
