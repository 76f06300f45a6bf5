"""Checks of ``iotide doctor --aggregator``: answers of a running aggregator, and balance of its jobs' ledgers."""

from __future__ import annotations

import urllib.parse
from typing import Final

from ...clients.job_fetch import fetch, fetch_of_all
from ...events import InputError
from ...results.jobs.job import JobList
from ...results.jobs.ledger import JobLedger
from .checks import Finding

_MOST_JOBS: Final = 1000
_MOST_TOLD: Final = 10
_HOPS: Final = {
    "collector": "collector to aggregator",
    "analyzers": "aggregator to analyzers",
    "archive": "aggregator to archive",
}
_REMEDY: Final = "calls are missing, or counted twice, and nothing says why: please report it with the job's ledger"


def aggregator_findings(address: str) -> list[Finding]:
    """Check the ledgers of the latest jobs of an aggregator at ``http://HOST:PORT``, at most a thousand."""
    try:
        jobs = fetch_of_all(address, "jobs", JobList, latest=str(_MOST_JOBS)).jobs
    except InputError as error:
        return [Finding("aggregator", False, True, str(error), "start iotide serve, or name its address and a token")]
    found = [Finding("aggregator", True, True, f"{len(jobs)} jobs at {address}")]
    wrong: list[str] = []
    checked = 0
    for job in jobs:
        try:
            ledger = fetch(f"{address.rstrip('/')}/jobs/{urllib.parse.quote(job.job)}", "ledger", JobLedger)
        except InputError:  # the job was removed in the meantime
            continue
        checked += 1
        wrong += problems_of(ledger)
    told = [*wrong[:_MOST_TOLD], *([f"and {len(wrong) - _MOST_TOLD} more"] if len(wrong) > _MOST_TOLD else [])]
    if wrong:
        return [*found, Finding("ledgers", False, True, "; ".join(told), _REMEDY)]
    return [*found, Finding("ledgers", True, True, f"the accounts of {checked} jobs add up")]


def problems_of(ledger: JobLedger) -> list[str]:
    """Return the differences in a job's ledger, hop by hop."""
    if ledger.balanced:
        return []
    streams = f", of streams {', '.join(sorted(ledger.missing)[:3])}" if ledger.missing else ""
    return [
        f"job {ledger.job}: {_HOPS.get(place, place)}: {count:,} calls{streams if place == 'collector' else ''}"
        for place, count in ledger.unaccounted.items()
    ]
