"""Incremental use of file systems by a job.

It takes batches of events, and returns phases by file system on request.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
import numpy.typing as npt

from ...results.jobs.file_systems import FileSystemUse, IoPhase, JobFileSystems, Latency, MetadataPhase
from ..file_groups import DATA, READS, WRITES
from ..pipeline.analysis_queue import QueuedEvents
from ..pipeline.contract import AnalyzerKind, JobContext
from . import phase_table as table
from .event_sums import METADATA, summed, totals_of
from .file_system_table import UNKNOWN, FileSystemTable, IdentifiedFileSystem
from .phase_table import PhaseTable, quantile_s
from .settings import FileSystemsSettings

_MAX_HOSTS: Final = 64  # maximum number of listed hosts per file system
_SUMMED: Final = (table.READ, table.WRITTEN, table.CALLS, table.BUSY, table.METADATA, table.METADATA_BUSY)
_SATURATION: Final = 2**62  # value at which sums saturate


class FileSystemsAnalyzer:
    """Tracks the use of each file system by one job.

    Data calls are those in the job's signal. Metadata calls are calls at depth 0 on files of its data that open, close,
    create, rename, remove or stat them. Flushes count as data calls without bytes.
    """

    def __init__(self, context: JobContext, settings: FileSystemsSettings) -> None:
        self._job = context.job
        self._names = context.names
        self._gap_s, self._gap_ns = settings.gap_s, int(settings.gap_s * 1e9)
        self._places = FileSystemTable(settings.max_file_systems, settings.names)
        self._phases = PhaseTable(self._gap_ns, settings.max_phases)
        self._sums = np.zeros((1, len(_SUMMED)), np.int64)
        self._counts = np.zeros(1, np.uint8)
        self._own_clock = False

    def update(self, queued: QueuedEvents) -> None:
        """Add events."""
        self._places.add_files(self._names.files)
        if len(self._counts) < len(self._names.files):
            data = self._names.groups == DATA
            data[0] = False
            ways = np.where(data, np.uint8(METADATA), np.uint8(0))
            self._counts = ways | (self._names.left_out ^ np.uint8(READS | WRITES))
        for rows in summed(queued.batch, self._hosts(queued), self._places, self._counts, self._gap_ns):
            totals = totals_of(rows, len(self._places.all), _SUMMED)
            totals[: len(self._sums)] += self._sums
            self._sums = np.minimum(totals, _SATURATION)
            self._phases.add(rows)

    def close_stream(self, stream: str) -> None:
        """Do nothing."""

    def compact(self) -> None:
        """Do nothing; no events are held back."""

    def losses(self) -> dict[str, int]:
        """Return the number of dropped phases, and of uses reported as unknown. Both are due to the bound."""
        losses = {"phases": self._phases.dropped, "file_systems": self._places.beyond}
        return {reason: number for reason, number in losses.items() if number}

    def deferred_result(self) -> Callable[[], JobFileSystems]:
        """Copy the phases and return a function that computes the result."""
        rows, sums = self._phases.rows.copy(), self._sums  # sums are replaced, never changed in place
        job, gap_s, own_clock = self._job, self._gap_s, self._own_clock
        places = [(place, self._places.users(number)) for number, place in enumerate(self._places.all)]
        points = [place.points[:] for place, _ in places]

        def result() -> JobFileSystems:
            made = [
                _use(place, points[number], hosts, sums[number].tolist(), rows, number, gap_s)
                for number, (place, hosts) in enumerate(places)
                if number < len(sums) and sums[number].any()
            ]
            made.sort(key=lambda use: (-use.bytes_read - use.bytes_written, use.file_system))
            return JobFileSystems(job=job, gap_s=gap_s, own_clock=own_clock, file_systems=made)

        return result

    def _hosts(self, queued: QueuedEvents) -> npt.NDArray[np.int64]:
        """Return the host number of each event."""
        numbers = []
        for run in queued.runs:
            numbers.append(self._places.host(run.info.host))
            self._own_clock = self._own_clock or run.info.clock_offset_ns is None
        if min(numbers) == max(numbers):
            return np.broadcast_to(np.int64(numbers[0]), (len(queued.batch),))
        return np.repeat(np.array(numbers, np.int64), queued.lengths)


def _use(
    place: IdentifiedFileSystem,
    points: list[str],
    hosts: list[str],
    sums: list[int],
    rows: table.Rows,
    number: int,
    gap_s: float,
) -> FileSystemUse:
    read, written, calls, busy, metadata, metadata_busy = sums
    data, looks = (rows[rows[:, table.LANE] == 2 * number + lane] for lane in (0, 1))
    return FileSystemUse(
        file_system=place.name,
        place=place.node_file_system.place if place.name != UNKNOWN else "unknown",
        type=place.node_file_system.type,
        source=place.node_file_system.source,
        mount_points=points,
        hosts=hosts[:_MAX_HOSTS],
        nodes=len(hosts),
        bytes_read=read,
        bytes_written=written,
        calls=calls,
        seconds=busy / 1e9,
        metadata_calls=metadata,
        metadata_seconds=metadata_busy / 1e9,
        phases=[_phase(row, goes_on) for row, goes_on in zip(data.tolist(), _continuing(data, gap_s), strict=True)],
        metadata_phases=[
            _metadata_phase(row, goes_on) for row, goes_on in zip(looks, _continuing(looks, gap_s), strict=True)
        ],
    )


def _continuing(rows: table.Rows, gap_s: float) -> list[bool]:
    """Return whether each phase continues the one before."""
    pauses = rows[1:, table.START] - rows[:-1, table.END]
    return [False, *(pauses <= int(gap_s * 1e9)).tolist()][: len(rows)]


def _phase(row: list[int], goes_on: bool) -> IoPhase:
    return IoPhase(
        start_s=row[table.START] / 1e9,
        end_s=row[table.END] / 1e9,
        bytes_read=row[table.READ],
        bytes_written=row[table.WRITTEN],
        calls=row[table.CALLS],
        seconds=row[table.BUSY] / 1e9,
        continues=goes_on,
    )


def _metadata_phase(row: table.Rows, goes_on: bool) -> MetadataPhase:
    counts, longest = row[table.BUCKETS :], int(row[table.LONGEST])
    median, high, highest = (quantile_s(counts, share, longest) for share in (0.5, 0.9, 0.99))
    return MetadataPhase(
        start_s=int(row[table.START]) / 1e9,
        end_s=int(row[table.END]) / 1e9,
        calls=int(row[table.METADATA]),
        seconds=int(row[table.METADATA_BUSY]) / 1e9,
        latency=Latency(median_s=median, p90_s=high, p99_s=highest, longest_s=longest / 1e9),
        continues=goes_on,
    )


def _make(context: JobContext) -> FileSystemsAnalyzer | None:
    settings = context.settings_of("filesystems", FileSystemsSettings)
    return FileSystemsAnalyzer(context, settings) if settings.enabled else None


KIND = AnalyzerKind("filesystems", _make, settings=FileSystemsSettings, result=JobFileSystems)
