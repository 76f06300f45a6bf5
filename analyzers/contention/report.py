"""Contention between jobs: converts their public results to one result, with the collisions in progress."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final, Literal

import numpy as np

from ...results.base import Estimate
from ...results.contention import (
    Abstention,
    Capacity,
    Collision,
    Contention,
    Delayed,
    ExpectedPhase,
    FileSystemState,
    Slowdown,
)
from ...results.interaction import Ranking
from ...results.jobs.file_systems import FileSystemUse
from .capacity import alone_phases, alone_rate, capacity_of
from .collisions import LITTLE, collisions_of, next_phases_of
from .expected import expected_of
from .files import SharedFiles
from .loads import JobView, Load, busy_share
from .scenarios import Expected, draw_scenarios
from .settings import ContentionSettings
from .slowdowns import MEASURES, Victim, slowdown_of

_MIN_ALONE: Final = 3  # minimum phases alone for a job's bandwidth alone
_FULL: Final = 0.7  # minimum share of the capacity moved by visible jobs; otherwise other loads slow them down


def ongoing_of(
    loads: Sequence[Load], capacity: float, *, least: float, since_s: float, now_s: float, file_system: str
) -> Collision | None:
    """Return the recent losses of jobs with simultaneous I/O on one file system. Returns None without such jobs.

    Args:
        loads: loads of all jobs on it.
        capacity: bytes/s, configured or learned.
        least: minimum completeness of a job.
        since_s: start of the time range, Unix time.
        now_s: current Unix time.
        file_system: identity of the file system.
    """
    here = [load for load in loads if len(load.end) and load.end[-1] > since_s and load.completeness >= least]
    edges = np.unique([since_s, now_s, *(time for load in here for time in (*load.start, *load.end))])
    edges = edges[(edges >= since_s) & (edges <= now_s)]
    if len(here) < 2 or len(edges) < 2:
        return None
    start, end = edges[:-1], edges[1:]
    busy = np.array([load.within(start, end) for load in here])
    shared = (busy > 0).sum(axis=0) >= 2
    spent = busy[:, shared].sum(axis=1)
    moved = np.array([load.within(start, end, load.moved)[shared].sum() for load in here])
    lasting = float((end - start)[shared].sum())
    if lasting <= 0 or moved.sum() < _FULL * capacity * lasting:
        return None
    alone = [
        min(alone_rate(load, loads), capacity) if alone_phases(load, loads).sum() >= _MIN_ALONE else None
        for load in here
    ]
    wanted = {at: alone[at] or float(moved[at] / spent[at]) for at in range(len(here)) if spent[at] > 0}
    taking = [at for at, rate in wanted.items() if rate >= LITTLE * capacity]
    demand = sum(wanted[at] for at in taking)
    if demand <= capacity or len(taking) < 2:
        return None
    jobs = [_delayed(here[at], here, alone[at], since_s) for at in taking]
    return Collision(
        file_system=file_system,
        start_s=_exact_estimate(float(start[shared][0])),
        probability=min(here[at].completeness for at in taking),
        demand=demand,
        excess=demand / capacity,
        jobs=sorted(jobs, key=lambda each: each.job),
    )


def _delayed(load: Load, others: Sequence[Load], rate: float | None, since_s: float) -> Delayed:
    """Return the loss of a job in overlapped phases. Whole phases, since the slow part of a phase is unknown."""
    overlapped = sum(other.within(load.start, load.end) > 0 for other in others if other is not load)
    rows = (load.end > since_s) & (np.asarray(overlapped) > 0)
    spent_s, moved = float((load.end - load.start)[rows].sum()), float(load.moved[rows].sum())
    return Delayed(
        job=load.job,
        phase=0,
        start_s=_exact_estimate(float(load.start[rows][0])),
        volume_bytes=moved,
        delay_s=None if not rate else _exact_estimate(max(spent_s - moved / rate, 0.0)),
    )


def _exact_estimate(value: float) -> Estimate:
    return Estimate(value=value, low=value, high=value)


_HOUR_S: Final = 3600.0  # analyzed time range, s
_MINUTE_S: Final = 60.0  # time range of the current bandwidth, s
_LATELY_S: Final = 25.0  # minimum time range for collisions in progress, s
_LATELY_LOOKS: Final = 2.5  # two consecutive looks must see the same event
_MAX_ON_ONE: Final = 64  # maximum number of jobs per file system
_SCENARIOS: Final = 200  # number of simulated scenarios
_MANY: Final = 16  # jobs; with more, half as many scenarios are used, since they are slow
_SEED: Final = 1
_UNKNOWN: Final = "unknown"


def contention_of(
    views: Sequence[JobView], settings: ContentionSettings, now_s: float, ranking: Ranking | None = None
) -> Contention:
    """Compute the contention between jobs.

    It only uses the results of each job and changes nothing, so it may run anywhere.

    Args:
        views: results of the jobs, most recently active first.
        settings: bounds, capacities and thresholds.
        now_s: current Unix time.
        ranking: ranking of jobs by shared files; None if unknown.
    """
    looked_at = [view for view in views[: settings.max_jobs] if not view.use.own_clock]
    states, slowdowns, ongoing = [], [], []
    collisions: list[Collision] = []
    next_phases: list[ExpectedPhase] = []
    shared, all_loads = SharedFiles.of(ranking), {}
    foreseen: set[str] = set()
    uses = _by_file_system(looked_at, now_s)
    all_victims = {name: _victims(users, now_s) for name, users in uses.items()}
    tests = sum(victim.tested() for victims in all_victims.values() for victim in victims)
    for name, users in uses.items():
        loads = [Load.of(view, use, now_s - _HOUR_S) for view, use in users]
        all_loads[name] = loads
        found = [shared.with_ties(each) for each in _slowdowns(name, all_victims[name], tests, settings)]
        slowed = {each.job for each in found if each.verdict == "slowed" and each.measure == "data"}
        capacity = capacity_of(settings.capacity.get(name), loads, slowed)
        states.append(_state(name, users, loads, capacity, now_s))
        slowdowns += found
        if (going_on := _ongoing(name, loads, capacity, settings, now_s)) is not None:
            ongoing.append(going_on)
        expected = _expected(users, loads, settings, _firm(capacity), now_s)
        foreseen |= {each.job for each in expected}
        phases, colliding = _forecast(name, expected, capacity, settings, now_s)
        next_phases += phases
        collisions += colliding
    return Contention(
        made_at_s=now_s,
        horizon_s=settings.horizon_s,
        completeness=min((view.completeness for view in looked_at), default=1.0),
        jobs=len(looked_at),
        jobs_left_out=len(views) - len(views[: settings.max_jobs]),
        file_systems=states,
        slowdowns=slowdowns,
        collisions=sorted(collisions, key=lambda each: each.start_s.value),
        next_phases=sorted(next_phases, key=lambda each: each.start_s.value),
        ongoing=ongoing,
        files=shared.contended_files(looked_at, all_loads, slowdowns),
        abstained=_abstained(views[: settings.max_jobs], foreseen, settings),
    )


Users = list[tuple[JobView, FileSystemUse]]


def _by_file_system(views: Sequence[JobView], now_s: float) -> dict[str, Users]:
    """Return the users of each file system in the last hour, by descending bytes."""
    users: dict[str, Users] = {}
    for view in views:
        for use in view.use.file_systems:
            ends = [*(each.end_s for each in use.phases[-1:]), *(each.end_s for each in use.metadata_phases[-1:])]
            latest = max(ends, default=0.0)
            if use.file_system != _UNKNOWN and latest > now_s - _HOUR_S:
                users.setdefault(use.file_system, []).append((view, use))
    for name, found in users.items():
        found.sort(key=lambda each: (-each[1].bytes_read - each[1].bytes_written, each[0].summary.job))
        users[name] = found[:_MAX_ON_ONE]
    return dict(sorted(users.items()))


def _victims(users: Users, now_s: float) -> list[Victim]:
    victims = []
    for measure in MEASURES if len(users) > 1 else ():
        loads = [Load.of(view, use, now_s - _HOUR_S, measure) for view, use in users]
        victims += [Victim.of(load, loads, measure) for load in loads]
    return victims


def _slowdowns(name: str, victims: Sequence[Victim], tests: int, settings: ContentionSettings) -> list[Slowdown]:
    found = [slowdown_of(victim, tests, settings) for victim in victims]
    return [each.model_copy(update={"file_system": name}) for each in found if each is not None]


def _state(name: str, users: Users, loads: Sequence[Load], capacity: Capacity, now_s: float) -> FileSystemState:
    since = now_s - _MINUTE_S
    span = np.array([since]), np.array([now_s])
    return FileSystemState(
        file_system=name,
        place=users[0][1].place,
        type=users[0][1].type,
        capacity=capacity,
        jobs=[view.summary.job for view, _ in users],
        bandwidth=float(sum(load.within(*span, load.moved)[0] for load in loads)) / _MINUTE_S,
        busy=busy_share(loads, since, now_s),
    )


def _firm(capacity: Capacity) -> float | None:
    """Return the capacity, bytes/s, unless it is only a lower bound."""
    known = capacity.bytes_per_s if capacity.known in ("configured", "learnt") else None
    return None if known is None else known.value


def _expected(
    users: Users, loads: Sequence[Load], settings: ContentionSettings, capacity: float | None, now_s: float
) -> list[Expected]:
    """Return the expectations for jobs with a period and sufficient completeness."""
    expected: list[Expected] = []
    for (view, use), load in zip(users, loads, strict=True):
        if view.completeness < settings.min_completeness:
            continue
        expected += expected_of(
            view,
            use,
            load,
            alone_rate(load, loads, capacity),
            now_s,
            horizon_s=settings.horizon_s,
            phases_ahead=settings.phases_ahead,
        )
    return expected


def _forecast(
    name: str, expected: list[Expected], capacity: Capacity, settings: ContentionSettings, now_s: float
) -> tuple[list[ExpectedPhase], list[Collision]]:
    """Return the next phase of each job and the expected collisions on one file system."""
    known = capacity.bytes_per_s.value if capacity.bytes_per_s is not None else None
    firm = _firm(capacity)
    if firm is not None:  # the bandwidth of a job alone cannot exceed the capacity
        expected = [replace(each, rate=min(each.rate, firm)) for each in expected]
    count = _SCENARIOS if len(expected) <= _MANY else _SCENARIOS // 2
    scenarios = draw_scenarios(expected, firm, settings.horizon_s, count, _SEED)
    phases = next_phases_of(expected, scenarios, now_s, name)
    if len({each.job for each in expected}) < 2:
        return phases, []
    collisions = collisions_of(
        expected,
        scenarios,
        firm,
        limit=known,
        least=settings.min_probability,
        now_s=now_s,
        file_system=name,
    )
    return phases, collisions


def _ongoing(
    name: str, loads: Sequence[Load], capacity: Capacity, settings: ContentionSettings, now_s: float
) -> Collision | None:
    if (known := _firm(capacity)) is None:
        return None
    since_s = now_s - max(_LATELY_S, _LATELY_LOOKS * settings.interval_s)
    return ongoing_of(
        loads,
        known,
        least=settings.min_completeness,
        since_s=since_s,
        now_s=now_s,
        file_system=name,
    )


def _is_periodic(view: JobView) -> bool:
    known = view.prediction
    return known is not None and known.periodic and known.next_phase is not None


def _abstained(views: Sequence[JobView], foreseen: Collection[str], settings: ContentionSettings) -> list[Abstention]:
    abstentions = []
    for view in views:
        job, share = view.summary.job, view.completeness
        reasons: list[tuple[Literal["forecast", "both"], str]] = []
        if view.use.own_clock:
            reasons.append(("both", "its trace has a clock of its own"))
        elif share < settings.min_completeness:
            reasons.append(("both", f"{1 - share:.1%} of its calls, or more, were lost"))
        elif job not in foreseen and not _is_periodic(view):
            reasons.append(("forecast", "no period is known of it, or no next phase"))
        if not view.use.own_clock and view.use.file_systems and view.use.file_systems[0].file_system == _UNKNOWN:
            reasons.append(("both", "the file system of most of its bytes is not known"))
        abstentions += [Abstention(job=job, what=what, reason=why, completeness=share) for what, why in reasons]
    return abstentions
