"""Checks of ``iotide doctor --aggregator``.

They test answers of a running aggregator, and the balance of its jobs' ledgers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pydantic import RootModel

from ...clients.job_fetch import fetch, fetch_for_all_jobs
from ...events import InputError
from ...events.counted_text import counted
from ...events.losses import LOST_IN_JOURNAL, REASONS, STATE_LOST, STREAM_FORGOTTEN, TAKEN_ELSEWHERE, loss_lines
from ...events.network.job_addresses import job_path
from ...results.jobs.job import JobList, JobSummary
from ...results.jobs.ledger import JobLedger
from ...results.status import AggregatorStatus, ClusterStatus
from .checks import Finding

_MAX_JOBS: Final = 1000
_MAX_LISTED: Final = 10
_HOPS: Final = {
    "collector": "collector to aggregator",
    "analyzers": "aggregator to analyzers",
    "archive": "aggregator to archive",
}
_UNCOUNTED: Final = frozenset((LOST_IN_JOURNAL, STATE_LOST, STREAM_FORGOTTEN, TAKEN_ELSEWHERE))
_OWN_BOUNDS: Final = (":max_jobs", ":max_streams", ":max_collectors", ":job_bytes")
_REMEDY: Final = "calls are missing, or counted twice, and nothing says why: please report it with the job's ledger"


def aggregator_findings(address: str) -> list[Finding]:
    """Check the ledgers of an aggregator's latest jobs, at most a thousand. Its address is ``http://HOST:PORT``."""
    try:
        jobs = fetch_for_all_jobs(address, "jobs", JobList, latest=str(_MAX_JOBS)).jobs
    except InputError as error:
        return [Finding("aggregator", False, True, str(error), "start iotide serve, or name its address and a token")]
    found = [Finding("aggregator", True, True, f"{counted(len(jobs), 'jobs')} at {address}"), *status_findings(address)]
    wrong: list[str] = []
    explained: list[str] = []
    checked = 0
    for job in jobs:
        try:
            ledger = fetch(f"{address.rstrip('/')}/jobs/{job_path(job.job)}", "ledger", JobLedger)
        except InputError:  # the job was removed in the meantime
            continue
        checked += 1
        (explained if _are_missing_by(job, ledger) else wrong).extend(problems_of(ledger))
    if explained:
        found.append(Finding("losses", False, False, _listed(explained), "see the losses of these jobs"))
    if wrong:
        return [*found, Finding("ledgers", False, True, _listed(wrong), _REMEDY)]
    if explained:
        return found
    return [*found, Finding("ledgers", True, True, f"the accounts of {counted(checked, 'jobs')} add up")]


def _are_missing_by(job: JobSummary, ledger: JobLedger) -> bool:
    """Return whether a loss without a count of calls explains that fewer calls arrived than were made."""
    missing = set(ledger.unaccounted) == {"collector"} and min(ledger.missing.values(), default=1) > 0
    return missing and not _UNCOUNTED.isdisjoint(job.losses)


def _listed(problems: list[str]) -> str:
    more = [f"and {len(problems) - _MAX_LISTED} more"] if len(problems) > _MAX_LISTED else []
    return "; ".join([*problems[:_MAX_LISTED], *more])


class _Status(RootModel[AggregatorStatus | ClusterStatus]):
    """Answer of one aggregator, or of a member of a cluster."""


def status_findings(address: str) -> list[Finding]:
    """Check health, storage and reached bounds of an aggregator. In a cluster each partition is checked."""
    try:
        status = fetch_for_all_jobs(address, "status", _Status).root
    except InputError as error:  # an earlier version, or a token that sees its own jobs only
        return [Finding("status", False, False, str(error), "a token with the permission operate")]
    if isinstance(status, AggregatorStatus):
        return _findings_of(status, "")
    found = [
        Finding(f"partition {number}", False, True, problem, "see its member in /api/v1/cluster")
        for number, problem in status.missing.items()
    ]
    return found + [
        each for number, one in status.partitions.items() for each in _findings_of(one, f"partition {number} ")
    ]


def _findings_of(status: AggregatorStatus, prefix: str) -> list[Finding]:
    state = (
        f"version {status.iotide}, up {status.uptime_s:,.0f} s, {counted(status.streams, 'streams')}, "
        f"{counted(status.collectors, 'collectors')}"
    )
    found = [
        Finding(f"{prefix}{trouble.part}", False, True, trouble.problem, trouble.remedy) for trouble in status.troubles
    ]
    if status.bounds:
        reached = ", ".join(f"{bound.option} ({bound.count:,})" for bound in status.bounds)
        found.append(Finding(f"{prefix}bounds", False, False, f"reached: {reached}", "raise these options"))
    if lost := list(loss_lines(_by_options_of_collectors(status.losses))):
        found.append(Finding(f"{prefix}losses since the start", False, False, _listed(lost)))
    return found or [Finding(f"{prefix}status", True, True, state)]


def _by_options_of_collectors(losses: Mapping[str, int]) -> dict[str, int]:
    """Return the losses that an option outside of the aggregator avoids; ``bounds`` has those of the aggregator."""
    return {
        name: count
        for name, count in losses.items()
        if (known := REASONS.get(name)) is not None and known.remedy and not name.endswith(_OWN_BOUNDS)
    }


def problems_of(ledger: JobLedger) -> list[str]:
    """Return the differences in a job's ledger, hop by hop."""
    if ledger.balanced:
        return []
    streams = f", of streams {', '.join(sorted(ledger.missing)[:3])}" if ledger.missing else ""
    return [
        f"job {ledger.job}: {_HOPS.get(place, place)}: {count:,} calls{streams if place == 'collector' else ''}"
        for place, count in ledger.unaccounted.items()
    ]
