"""The list of all jobs. Rows are only recomputed for changed jobs, then sorted and filtered."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import Struct

from ....events.network.job_addresses import job_path
from ....results.jobs.fleet import FleetJob, FleetOrder
from ....results.jobs.job import JobSummary
from ...access.viewer import Viewer
from ...aggregator import Aggregator
from ...jobs.job_state import State
from ...jobs.job_summary import known_losses
from ...jobs.job_table import Card
from ...jobs.losses.failures import AnalysisFailedError
from ...jobs.session import JobSession
from .job_access import SLICE_S

RECENT_BIN_S: Final = 4.0
_RECENT_BINS: Final = 30
_REFRESH_S: Final = 0.9
_SHARE: Final = 0.05
"""Maximum share of a core for computing rows."""
_ACTIVE_S: Final = 12.0
"""Time after its last event at which a job has no bandwidth, s."""
_MAX_TEXT: Final = 200
_ENDED: Final = (State.ENDED, State.REMOVED)


class Row(Struct, frozen=True):
    """Data of a job for sorting, search and display; ``version`` changes when the job changes."""

    version: tuple[Any, ...]
    job: str
    name: str
    user: str
    command: str
    state: str
    nodes: int
    ranks: int
    bandwidth: float
    read: int
    written: int
    last_s: float | None
    period_s: float | None
    confidence: float
    next_s: float | None
    complete: bool
    failures: int


class Fleet:
    """Stores a row for each job.

    Args:
        aggregator: aggregator of the jobs.
        clock: Unix time.
    """

    def __init__(self, aggregator: Aggregator, clock: Callable[[], float]) -> None:
        self._aggregator = aggregator
        self._clock = clock
        self._rows: dict[str, Row] = {}
        self._fresh_until_s = 0.0
        self._one_at_a_time = asyncio.Lock()

    async def rows(self) -> list[Row]:
        """Return the rows of all jobs.

        They are at most a second old, or twenty times as old as their computation took.
        """
        async with self._one_at_a_time:
            if time.monotonic() >= self._fresh_until_s:
                spent_s = await self._refresh()
                self._fresh_until_s = time.monotonic() + max(_REFRESH_S, spent_s / _SHARE)
        return list(self._rows.values())

    def recent(self, job: str) -> list[float]:
        """Return the bandwidth of the last two minutes."""
        table = self._aggregator.jobs
        if job in table.asleep or job not in table:
            return []
        session = table.get_existing(job)
        now_s = session.last_ns / 1e9 if session.own_clock and session.last_ns else self._clock()
        try:
            series = session.signal(RECENT_BIN_S * _RECENT_BINS, now_s)
        except AnalysisFailedError:
            return []
        begin_s, bins = now_s - RECENT_BIN_S * _RECENT_BINS, [0.0] * _RECENT_BINS
        for at, (read, written) in enumerate(zip(series.read, series.written, strict=True)):
            place = int((series.start_s + (at + 0.5) * series.bin_s - begin_s) / RECENT_BIN_S)
            if (read or written) and 0 <= place < _RECENT_BINS:
                bins[place] += (read + written) * series.bin_s / RECENT_BIN_S
        return bins

    async def _refresh(self) -> float:
        """Compute the rows again; return its CPU time, s, without that of other tasks in its pauses."""
        table, paused_s = self._aggregator.jobs, time.monotonic()
        spent_s, began_s = 0.0, time.thread_time()
        rows: dict[str, Row] = {}
        for job in [*table.awake_names(), *table.asleep]:
            known, card = self._rows.get(job), table.asleep.get(job)
            if card is not None:
                rows[job] = (
                    known if known is not None and known.version == _version_of_card(card) else _row_of_card(card)
                )
            elif job in table:
                session = table.get_existing(job)
                now_s = self._clock()
                mark = _version_of(session, now_s)
                rows[job] = known if known is not None and known.version == mark else _row(session, mark, now_s)
            if time.monotonic() - paused_s > SLICE_S:  # lets batches be processed meanwhile
                spent_s += time.thread_time() - began_s
                await asyncio.sleep(0)
                paused_s, began_s = time.monotonic(), time.thread_time()
        self._rows = rows
        return spent_s + time.thread_time() - began_s


def visible_rows(rows: list[Row], viewer: Viewer, projects: Mapping[str, str]) -> list[Row]:
    """Return the rows of the jobs that a viewer may see. ``projects`` has the projects of jobs."""
    return rows if viewer.sees_all else [row for row in rows if viewer.sees(row.user, projects.get(row.job, ""))]


def matching_rows(rows: list[Row], search: str) -> list[Row]:
    """Return the rows that have each word of a search, in any case.

    Words may be in job, name, user, command or state.
    """
    words = search.lower().split()
    if not words:
        return rows
    kept = []
    for row in rows:
        text = f"{row.job}\n{row.name}\n{row.user}\n{row.command}\n{row.state}".lower()
        if all(word in text for word in words):
            kept.append(row)
    return kept


def sorted_rows(rows: list[Row], order: FleetOrder, *, descending: bool) -> list[Row]:
    """Return the rows in an order; those without a value come last."""
    value = _SORT_KEYS[order]
    with_value = sorted((row for row in rows if value(row) is not None), key=lambda row: row.job)
    with_value.sort(key=value, reverse=descending)
    return [*with_value, *(row for row in rows if value(row) is None)]


def count_states(rows: list[Row]) -> dict[str, int]:
    """Return the number of jobs in each state."""
    return dict(Counter(row.state for row in rows))


def fleet_job(row: Row, recent: list[float], alerts: int) -> FleetJob:
    """Return a row as part of the answer."""
    return FleetJob(
        job=row.job,
        page=f"jobs/{job_path(row.job)}",
        name=row.name[:_MAX_TEXT],
        user=row.user,
        command=row.command[:_MAX_TEXT],
        state=row.state,
        nodes=row.nodes,
        ranks=row.ranks,
        bandwidth=row.bandwidth,
        bytes_read=row.read,
        bytes_written=row.written,
        last_event_at_s=row.last_s,
        period_s=row.period_s,
        confidence=row.confidence,
        next_start_s=row.next_s,
        complete=row.complete,
        failures=row.failures,
        alerts=alerts,
        recent=recent,
    )


def _version_of(session: JobSession, now_s: float) -> tuple[Any, ...]:
    """Return a value that changes with a row. For a job with current I/O it always changes."""
    active = _is_active(session, now_s)
    return session.heard_at_s, session.predictions, session.state, len(session.streams), now_s if active else 0


def _is_active(session: JobSession, now_s: float) -> bool:
    return session.last_ns is not None and (session.own_clock or now_s - session.last_ns / 1e9 < _ACTIVE_S)


def _row(session: JobSession, mark: tuple[Any, ...], now_s: float) -> Row:
    prediction = session.prediction
    has_period = prediction is not None and prediction.periodic
    upcoming = prediction.next_phase if prediction is not None and has_period and not session.own_clock else None
    return Row(
        version=mark,
        job=session.job,
        name="" if session.batch is None else session.batch.title,
        user=session.user,
        command=session.command,
        state="ended" if session.state in _ENDED else session.state.value,
        nodes=len(session.hosts),
        ranks=max(session.communicator, len(session.ranks)),
        bandwidth=session.bandwidth(now_s) if session.state not in _ENDED and _is_active(session, now_s) else 0.0,
        read=session.bytes_read,
        written=session.bytes_written,
        last_s=None if session.last_ns is None else session.last_ns / 1e9,
        period_s=prediction.period_s.value if prediction is not None and has_period and prediction.period_s else None,
        confidence=prediction.confidence if prediction is not None and has_period else 0.0,
        next_s=None if upcoming is None else upcoming.start_s.value,
        complete=not known_losses(session, now_s),
        failures=len(session.failures.summaries()),
    )


def _version_of_card(card: Card) -> tuple[Any, ...]:
    return "card", card.state, card.heard_at_s


def _row_of_card(card: Card) -> Row:
    summary = JobSummary.model_validate_json(card.summary)
    return Row(
        version=_version_of_card(card),
        job=summary.job,
        name="" if summary.batch is None else summary.batch.title,
        user=summary.user,
        command=summary.command,
        state=summary.state,
        nodes=len(summary.hosts),
        ranks=summary.ranks,
        bandwidth=0.0,
        read=summary.bytes_read,
        written=summary.bytes_written,
        last_s=summary.last_event_at_s,
        period_s=None,
        confidence=0.0,
        next_s=None,
        complete=summary.complete,
        failures=len(summary.failures),
    )


_SORT_KEYS: Final[dict[FleetOrder, Callable[[Row], Any]]] = {
    "bandwidth": lambda row: row.bandwidth,
    "job": lambda row: row.job,
    "user": lambda row: row.user,
    "state": lambda row: row.state,
    "period": lambda row: row.period_s,
    "next": lambda row: row.next_s,
    "read": lambda row: row.read,
    "written": lambda row: row.written,
    "last": lambda row: row.last_s,
}
