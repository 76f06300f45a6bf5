"""Jobs of a simulation from traces, archives and running aggregators."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Literal
from urllib.parse import urlsplit

import numpy as np

from ...analyzers.offline.phase_signal import phases_of, signal_of
from ...analyzers.offline.trace import examine
from ...analyzers.settings import DetectSettings
from ...clients.job_fetch import fetch, fetch_for_all_jobs, is_address
from ...clients.schedulers.fluid import Job
from ...clients.schedulers.observed import job_from_phases, job_from_prediction, predictions_by_period
from ...events import InputError
from ...events.network.job_addresses import job_path
from ...results.contention import Contention, FileSystemState
from ...results.jobs.job import JobList
from ...results.prediction import Prediction
from ...results.traces.plot_data import PhaseColumns, TraceSignal
from ..common.job_names import unique_name
from ..traces.trace_reading import read_and_report

Start = Literal["recorded", "together", "random"]
_ITERATIONS: Final = 20
_FIRM: Final = ("configured", "learnt")
_PAUSE_BINS: Final = 3
"""Maximum pause within a phase in a trace without a period, in bins."""


@dataclass(slots=True)
class RealJobs:
    """Jobs, notes on them, the assumed duration of running jobs, and the capacity of their file system, bytes/s."""

    jobs: list[Job] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    clocks: set[bool] = field(default_factory=set)
    duration_s: float | None = None
    capacity: float | None = None
    capacity_of: str = ""


def read_jobs(sources: Sequence[str], duration_s: float | None) -> RealJobs:
    """Read each source. A trace or archive is one job; an address is one running job or all jobs of an aggregator.

    Args:
        sources: files, folders of archives and addresses.
        duration_s: duration of running jobs; None for twenty of the longest period.

    Raises:
        InputError: a source cannot be read, or none has a job.
    """
    real = RealJobs()
    predictions = [
        each
        for source in sources
        if is_address(source)
        for reasons in _predictions(source)
        for each in predictions_by_period(reasons)
    ]
    for source in sources:
        if not is_address(source):
            _add_traces(real, Path(source))
    if predictions:
        periods = [each.period_s.value for each in predictions if each.period_s is not None]
        lasting = duration_s or _ITERATIONS * max(periods, default=1.0)
        real.duration_s = None if len(sources) > sum(map(is_address, sources)) else lasting
        for prediction in predictions:
            try:
                real.jobs.append(job_from_prediction(prediction, lasting))
            except ValueError as error:
                real.notes.append(f"job {prediction.job} {error}: left out")
        if all(map(is_address, sources)):
            _add_capacity(real, sources)
    if not real.jobs:
        reasons = "; ".join(real.notes) or "no job"
        raise InputError(", ".join(sources), None, reasons, "at least one job that does I/O")
    taken: set[str] = set()
    real.jobs = [replace(job, name=unique_name(job.name, taken)) for job in real.jobs]
    return real


def place_jobs(real: RealJobs, start: Start | None, seed: int) -> list[Job]:
    """Return the jobs with their starts, the first at 0.

    Raises:
        InputError: times were recorded by clocks without a common zero.
    """
    if start == "recorded" and real.clocks == {True, False}:
        raise InputError("--start recorded", None, "not all traces say when they were made", "--start together")
    jobs = real.jobs
    if start == "together" or (start is None and real.clocks != {True}):
        return [replace(job, start_s=0.0) for job in jobs]
    if start == "random":
        chance = random.Random(seed)  # noqa: S311  (no secret)
        longest = max(job.gaps_s[0] + sum(job.gaps_s[1:]) / max(1, len(job.gaps_s) - 1) for job in jobs)
        return [replace(job, start_s=chance.random() * longest) for job in jobs]
    first = min(job.start_s for job in jobs)
    return [replace(job, start_s=job.start_s - first) for job in jobs]


def _add_traces(real: RealJobs, path: Path) -> None:
    """Add a trace, or all archives in a folder of ``iotide run`` or ``iotide serve``.

    A damaged archive in a folder is left out with a note, so that the other jobs of the folder are simulated.
    """
    archives = sorted(each for each in path.rglob("*.iotide") if each.is_file()) if path.is_dir() else []
    if not archives:
        try:
            _add_trace(real, path)  # some formats are folders
        except InputError:
            if path.is_dir():
                raise InputError(
                    str(path), None, "the folder has no archive (*.iotide)", "a folder of iotide run or iotide serve"
                ) from None
            raise
        return
    for archive in archives:
        try:
            _add_trace(real, archive)
        except InputError as error:
            real.notes.append(f"{error}: left out")


def _predictions(address: str) -> list[Prediction]:
    parts = urlsplit(address)
    base = f"{parts.scheme}://{parts.netloc}"
    if "/jobs/" in parts.path:
        return [fetch(address, "prediction", Prediction)]
    listed = fetch_for_all_jobs(address, "jobs", JobList)
    running = [job.job for job in listed.jobs if job.state != "ended" and job.predictions]
    return [fetch(f"{base}/jobs/{job_path(name)}", "prediction", Prediction) for name in running]


def _add_capacity(real: RealJobs, addresses: Sequence[str]) -> None:
    """Add the known capacity of the file system of all running jobs, if it is only one."""
    known: dict[str, FileSystemState] = {}
    for origin in {f"{parts.scheme}://{parts.netloc}" for parts in map(urlsplit, addresses)}:
        with contextlib.suppress(InputError):  # an aggregator without the analysis of contention
            found = fetch_for_all_jobs(origin, "contention", Contention)
            used = {phase.file_system for phase in found.next_phases}
            known |= {each.file_system: each for each in found.file_systems if each.file_system in used}
    if len(known) != 1:
        return
    (state,) = known.values()
    if state.capacity.bytes_per_s is None or state.capacity.known not in _FIRM:
        return
    real.capacity, real.capacity_of = (
        state.capacity.bytes_per_s.value,
        f"{state.capacity.known} capacity of {state.file_system}",
    )


def _add_trace(real: RealJobs, path: Path) -> None:
    settings = DetectSettings()
    trace = read_and_report((path,), None, settings.rule, signal_only=True)
    name = next((stream.info.job for stream in trace.streams.values() if stream.info.job), path.stem)
    prediction, _ = examine(trace.batches(), settings, name)
    signal = signal_of(trace.batches(), settings, prediction)
    phases = phases_of(signal, prediction)
    if not len(phases):
        phases = _bursts(signal)
        real.notes.append(f"{path.name} has no period: nothing is predicted of it")
    first, last = trace.span_ns
    try:
        job = job_from_phases(name, (first / 1e9, last / 1e9), phases, prediction)
    except ValueError as error:
        real.notes.append(f"{path.name}: {error}: left out")
        return
    real.jobs.append(job)
    real.clocks.add(trace.wall_clock)


def _bursts(signal: TraceSignal) -> PhaseColumns:
    """Return intervals of I/O; those with short pauses between them are joined."""
    busy = np.flatnonzero(signal.total > 0)
    if not len(busy):
        return PhaseColumns(np.zeros(0), np.zeros(0), np.zeros(0))
    breaks = np.flatnonzero(np.diff(busy) > _PAUSE_BINS)
    first, last = busy[np.r_[0, breaks + 1]], busy[np.r_[breaks, len(busy) - 1]]
    volumes = np.add.reduceat(signal.total, first) * signal.bin_s
    starts, ends = (signal.start_s + edges.astype(np.float64) * signal.bin_s for edges in (first, last + 1))
    return PhaseColumns(starts, ends, volumes.astype(np.float64))
