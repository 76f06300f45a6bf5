"""Sums of one job by call and by file, from batches in the job's numbering."""

from __future__ import annotations

from ...results.jobs.job import CallTotal, FileTotal, NotCounted
from ..file_groups import CHANNEL, SYSTEM
from ..totals import Totals
from .analysis_queue import QueuedEvents
from .contract import AnalyzerKind, JobContext
from .numbering import JobNames


class JobTotals:
    """Passes a job's events to the sums.

    Attributes:
        totals: sums.
    """

    def __init__(self, context: JobContext) -> None:
        self._names = context.names
        self.totals = Totals(max_files=context.settings.max_files, max_calls=context.settings.max_calls)

    def update(self, queued: QueuedEvents) -> None:
        """Add events."""
        self.totals.update(queued.batch, self._names.left_out)

    def close_stream(self, stream: str) -> None:
        """Do nothing."""

    def compact(self) -> None:
        """Do nothing; no events are held back."""

    def losses(self) -> dict[str, int]:
        """Return an empty dict: items beyond the bounds are summed as other."""
        return {}


KIND = AnalyzerKind("totals", JobTotals)


def not_counted(totals: Totals, names: JobNames) -> NotCounted:
    """Return the bytes moved by the program that do not count."""
    moved = totals.not_counted(names.left_out, names.groups)
    readable, readable_files = totals.mapped_for_reading(names.left_out)
    (system_read, system_written), (channel_read, channel_written) = (
        moved.get(SYSTEM, (0, 0)),
        moved.get(CHANNEL, (0, 0)),
    )
    return NotCounted(
        system_read=system_read,
        system_written=system_written,
        channel_read=channel_read,
        channel_written=channel_written,
        mapped_for_writing=totals.mapped,
        flushed_at_most=totals.flushed,
        mapped_for_reading=readable,
        files_mapped_for_reading=readable_files,
    )


def file_totals(totals: Totals, names: JobNames, top: int) -> list[FileTotal]:
    """Return the ``top`` files with the most bytes."""
    return [
        FileTotal(
            path=names.files[row.number].path or "(other)",
            calls=row.calls,
            bytes_read=row.bytes_read,
            bytes_written=row.bytes_written,
            seconds=row.seconds,
        )
        for row in totals.files(top, names.left_out)
    ]


def call_totals(totals: Totals, names: JobNames, top: int) -> list[CallTotal]:
    """Return the ``top`` calls with the most bytes."""
    return [
        CallTotal(
            call=names.calls[row.number] or "(other)",
            layer=row.layer.name,
            calls=row.calls,
            failed=row.failed,
            bytes=row.bytes,
            seconds=row.seconds,
        )
        for row in totals.calls(top)
    ]
