"""Alerts: raised after several consecutive observations, and resolved after a quiet time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from ...results.alerts import Alert
from ...results.contention import Collision, Contention, Slowdown
from .settings import AlertSettings

_MAX_ALERTS: Final = 1000  # maximum number of tracked alerts
_KEEP: Final = 0.5  # share of the raising threshold that keeps an alert raised


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
    def raised(self) -> list[Alert]:
        """Returns the raised alerts, oldest first."""
        return sorted((each.alert for each in self._watched.values() if each.raised), key=lambda alert: alert.since_s)

    def resume(self, raised: Iterable[Alert], now_s: float) -> None:
        """Restores alerts that an aggregator had raised before; they count as observed until now."""
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
        settings, now_s = self._settings, found.made_at_s
        for slowdown in found.slowdowns:
            if slowdown.slowdown is None or slowdown.last_shared_s < now_s - settings.quiet_s:
                continue
            enough = slowdown.verdict == "slowed"
            if enough or (slowdown.verdict == "unsure" and slowdown.slowdown.low > 1):
                yield _of_slowdown(slowdown, now_s), enough
        firm = {each.file_system for each in found.file_systems if each.capacity.known in ("configured", "learnt")}
        worst: dict[str, Collision] = {}
        for each in found.collisions:
            ahead = each.start_s.value - now_s
            if each.file_system in firm and ahead <= settings.ahead_s and _delay_s(each) >= settings.min_delay_s:
                known = worst.get(each.file_system)
                if known is None or each.probability > known.probability:
                    worst[each.file_system] = each
        going_on = {each.file_system: each for each in found.ongoing if _delay_s(each) >= settings.min_delay_s}
        for each in going_on.values():
            yield _of_collision(each, found, measured=True), each.file_system in firm
        for each in worst.values():
            if each.file_system not in going_on and each.probability >= _KEEP * settings.probability:
                yield _of_collision(each, found, measured=False), each.probability >= settings.probability


def _delay_s(collision: Collision) -> float:
    return max((each.delay_s.value for each in collision.jobs if each.delay_s is not None), default=0.0)


def _of_slowdown(slowdown: Slowdown, now_s: float) -> Alert:
    culprits = [each.job for each in slowdown.culprits]
    ratio = 1.0 if slowdown.slowdown is None else slowdown.slowdown.value
    who = ", ".join(culprits) or f"others ({slowdown.no_culprit or 'nobody can be named'})"
    advice = "start the jobs' phases at other times, limit who does it, or move one job to another file system"
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
        summary=f"I/O of {slowdown.job} on {slowdown.file_system} takes {ratio:.2f} times as long while {who} does I/O",
        advice=advice
        if culprits
        else "iotide contention shows why nobody is named; look for loads that are not traced",
    )


def _of_collision(collision: Collision, found: Contention, *, measured: bool) -> Alert:
    delayed = max(collision.jobs, key=lambda each: each.delay_s.value if each.delay_s is not None else 0.0)
    jobs = list(dict.fromkeys(each.job for each in collision.jobs))
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
        completeness=found.completeness,
        summary=(
            f"{', '.join(jobs)} want {collision.excess:.1f} times what {collision.file_system} can move:"
            f" {delayed.job} {'took' if measured else 'is to expect'} {_delay_s(collision):.1f} s more"
        ),
        advice="delay the phase of the job with the most time left, or limit its bandwidth until the others have ended",
    )
