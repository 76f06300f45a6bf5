"""Alerts: raised after several consecutive observations, and resolved after a quiet time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct

from ...results.alerts import Alert
from ...results.base import Estimate
from ...results.contention import Collision, Contention, Culprit, Slowdown
from .settings import AlertSettings

_MAX_ALERTS: Final = 1000  # maximum number of tracked alerts
_KEEP: Final = 0.5  # share of the raising threshold that keeps an alert raised
_LIKELY: Final = 0.5  # minimum probability that a named job takes part in a collision
_UNCERTAIN: Final = "the slowdown is uncertain at present"  # reason of an alert that weaker evidence keeps raised


class _Watched(Struct):
    """A possible or raised alert."""

    alert: Alert
    looks: int
    """Consecutive observations above the threshold, until it was raised."""
    last_s: float
    """Time of the last observation, s."""
    raised: bool = False


class Alerts:
    """Tracks observations of contention. The result depends only on these and their order.

    Args:
        settings: thresholds.

    Attributes:
        beyond: number of candidates not tracked because of the bound.
    """

    def __init__(self, settings: AlertSettings) -> None:
        self.beyond = 0
        self._settings = settings
        self._watched: dict[str, _Watched] = {}

    @property
    def is_confirming(self) -> bool:
        """Whether a measured collision needs further observations to be raised."""
        return any(each.looks and not each.raised and each.alert.has_begun for each in self._watched.values())

    @property
    def raised(self) -> list[Alert]:
        """Returns the raised alerts, oldest first."""
        return sorted((each.alert for each in self._watched.values() if each.raised), key=lambda alert: alert.since_s)

    def resume(self, raised: Iterable[Alert], now_s: float) -> None:
        """Restore alerts that an aggregator had raised before; they count as observed until now."""
        for alert in raised:
            if alert.state == "raised" and len(self._watched) < _MAX_ALERTS:
                self._watched[alert.key] = _Watched(alert, self._settings.looks, now_s, raised=True)

    def update(self, found: Contention) -> list[Alert]:
        """Add an observation and return the alerts raised or resolved by it."""
        now_s = found.made_at_s
        changed: list[Alert] = []
        seen = set()
        for alert, enough in self._candidates(found):
            known = self._watched.get(alert.key)
            if known is None and not enough:
                continue
            seen.add(alert.key)
            if known is None:
                if len(self._watched) >= _MAX_ALERTS:
                    self.beyond += 1
                    continue
                known = self._watched[alert.key] = _Watched(alert, 0, now_s)
            known.looks = known.looks + 1 if enough else 0
            known.last_s = now_s
            since_s = known.alert.since_s if known.raised else now_s
            known.alert = alert.model_copy(update={"since_s": since_s})
            if not known.raised and known.looks >= self._settings.looks:
                known.raised = True
                changed.append(known.alert)
        return changed + self._resolve(now_s, seen)

    def _resolve(self, now_s: float, seen: set[str]) -> list[Alert]:
        resolved = []
        for key, known in list(self._watched.items()):
            if key in seen:
                continue
            known.looks = 0
            if known.raised and now_s - known.last_s < self._settings.quiet_s:
                continue
            del self._watched[key]
            if known.raised:
                resolved.append(known.alert.model_copy(update={"state": "resolved", "changed_at_s": now_s}))
        return resolved

    def _candidates(self, found: Contention) -> Iterable[tuple[Alert, bool]]:
        """Yield candidates, and whether each suffices to raise an alert. Otherwise it only keeps a raised one."""
        settings = self._settings
        yield from self._slowdowns(found)
        firm = {each.file_system for each in found.file_systems if each.capacity.known in ("configured", "learnt")}
        worst = self._worst_collisions(found, firm)
        going_on = {each.file_system: each for each in found.ongoing if _delay_s(each) >= settings.min_delay_s}
        for each in going_on.values():
            yield _of_collision(each, found, measured=True), each.file_system in firm
        for each in worst.values():
            if each.file_system not in going_on and each.probability >= _KEEP * settings.probability:
                yield _of_collision(each, found, measured=False), each.probability >= settings.probability

    def _slowdowns(self, found: Contention) -> Iterable[tuple[Alert, bool]]:
        """Yield the candidates of slowed jobs."""
        for slowdown in found.slowdowns:
            if slowdown.slowdown is None or slowdown.last_shared_s < found.made_at_s - self._settings.quiet_s:
                continue
            enough = slowdown.verdict == "slowed"
            if enough or (slowdown.verdict == "unsure" and slowdown.slowdown.low > 1):
                yield _of_slowdown(slowdown, found.made_at_s), enough

    def _worst_collisions(self, found: Contention, firm: set[str]) -> dict[str, Collision]:
        """Return the most probable long collision soon on each file system with a ``firm`` capacity."""
        settings = self._settings
        worst: dict[str, Collision] = {}
        for each in found.collisions:
            ahead = each.start_s.value - found.made_at_s
            if each.file_system in firm and ahead <= settings.ahead_s and _delay_s(each) >= settings.min_delay_s:
                known = worst.get(each.file_system)
                if known is None or each.probability > known.probability:
                    worst[each.file_system] = each
        return worst


def _delay_s(collision: Collision) -> float:
    delays = [each.delay_s.value for each in collision.jobs if each.delay_s is not None and each.probability >= _LIKELY]
    return max(delays, default=0.0)


def _of_slowdown(slowdown: Slowdown, now_s: float) -> Alert:
    culprits = [each.job for each in slowdown.culprits]
    is_data = slowdown.measure == "data"
    what = "Reads and writes" if is_data else "Metadata calls (open, create, stat, unlink ...)"
    ratio = slowdown.slowdown or Estimate(value=1.0, low=1.0, high=1.0)
    named_culprits = _joined([_named(each, "bytes" if is_data else "calls") for each in slowdown.culprits])
    beside = (
        f"beside those of {named_culprits}"
        if named_culprits
        else f"beside other jobs; no culprit is named: {slowdown.no_culprit or _UNCERTAIN}"
    )
    return Alert(
        kind="slowdown",
        state="raised",
        file_system=slowdown.file_system,
        job=slowdown.job,
        measure=slowdown.measure,
        since_s=now_s,
        changed_at_s=now_s,
        victims=[slowdown.job],
        culprits=culprits,
        sure=1 - slowdown.p_value,
        size=slowdown.slowdown,
        completeness=slowdown.completeness,
        summary=f"{what} of job {slowdown.job} on {slowdown.file_system} take {ratio.value:.2f} times as long "
        f"({ratio.low:.2f} to {ratio.high:.2f}) {beside}",
        advice=_advice(_joined(culprits), is_data=is_data),
    )


def _named(culprit: Culprit, unit: str) -> str:
    user = f"user {culprit.user}, " if culprit.user else ""
    return f"job {culprit.job} ({user}{culprit.share:.0%} of the other jobs' {unit})"


def _advice(culprits: str, *, is_data: bool) -> str:
    if not culprits:
        return "Look for load that iotide does not trace. `iotide contention` shows the compared phases."
    if is_data:
        return (
            f"Limit the bandwidth of {culprits} or order the phases of the jobs (`iotide schedule`), "
            "or move a job to another file system."
        )
    return (
        f"Have {culprits} use fewer and larger files (an archive, a container image, node-local storage), "
        "start its metadata calls at other times, or move a job to another file system."
    )


def _of_collision(collision: Collision, found: Contention, *, measured: bool) -> Alert:
    likely = [each for each in collision.jobs if each.probability >= _LIKELY] or collision.jobs
    delayed = max(likely, key=lambda each: each.delay_s.value if each.delay_s is not None else 0.0)
    jobs = list(dict.fromkeys(each.job for each in likely))
    names, delay_s = _joined(jobs), _delay_s(collision)
    return Alert(
        kind="collision",
        state="raised",
        file_system=collision.file_system,
        since_s=found.made_at_s,
        changed_at_s=found.made_at_s,
        victims=jobs,
        culprits=[],
        sure=collision.probability,
        size=delayed.delay_s,
        at_s=collision.start_s.value,
        has_begun=measured,
        completeness=found.completeness,
        summary=(
            f"Jobs {names} did I/O on {collision.file_system} at the same time and needed {collision.excess:.1f} times "
            f"its capacity: I/O of {delayed.job} took {delay_s:.1f} s longer"
            if measured
            else f"Phases of jobs {names} on {collision.file_system} are expected to overlap and need "
            f"{collision.excess:.1f} times its capacity: that of {delayed.job} will take about {delay_s:.1f} s longer"
        ),
        advice="Order the phases of the jobs (`iotide schedule`), start one of the jobs later, or limit its bandwidth.",
    )


def _joined(names: Sequence[str]) -> str:
    return "".join(names) if len(names) < 2 else f"{', '.join(names[:-1])} and {names[-1]}"
