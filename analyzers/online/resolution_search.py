"""Search strategy for a job's period: resolution, window, and alternatives."""

from __future__ import annotations

import math
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from ..periodicity.estimator import PeriodEstimate, SignalWindow
from ..periodicity.estimators.segmentation_quality import is_back_to_back, is_log_beside, is_within
from ..periodicity.tuning import TUNING
from ..settings import DetectSettings
from .job_signal import JobSignal
from .window_policy import WindowPolicy, share_at_period

_TOLERANCES: Final = TUNING.tolerances
_LIVE: Final = TUNING.live
_GROWTH: Final = 1.25  # growth of the observation between two searches for phases of back-to-back requests


class _KnownPeriod(Struct):
    """Period found last."""

    period_s: float
    level: int
    max_confidence: float
    """Maximum next_confidence of this period so far."""
    since_ns: int = 0
    """End of the silence before it, ns; 0 if there was none."""
    silence_ns: int = 0
    """Duration of that silence, ns."""
    times: int = 0
    """Number of successive predictions with this period."""
    latest: float = 0.0
    """``next_confidence`` of the last one."""
    programs: int = 1
    """Number of programs that it found."""
    rest_s: float = 0.0
    """Usual interval across a rest between two shifts of phases, s; 0 if there are none."""

    @property
    def was_certain(self) -> bool:
        """Whether the next phase was predicted with certainty at least once."""
        return self.max_confidence >= _TOLERANCES.certain_confidence


class _AlternativePeriod(Struct):
    """Alternative period, seen once at another level."""

    period_s: float
    level: int
    since_ns: int


class ResolutionSearch:
    """Stores the last period, and selects where to search it or an alternative.

    While no period is known, the level that covers the whole observation is searched, and in turn one of the finer
    levels, which cover the newest part. The whole observation reaches from the first event of any kind until now: a
    window up to the last request would have k phases but only k - 1 periods.

    Once a period is known, the level at which it has 32 to 128 bins is searched, and at intervals another one. The
    result of another level replaces the known period only if it is more certain twice in a row, or the known one is
    gone. While the known one was never certain, the whole observation is searched, too: it may be the rhythm of the
    requests within a phase. While phases follow each other with hardly a pause, as requests do, it is searched whenever
    it has become a quarter longer. A certain period that fell silent is restored when it continues.
    ``window_policy.WindowPolicy`` selects the window. A search takes about two estimates.
    """

    _earned: float = float(_LIVE.max_earned_searches)
    """Number of searches for alternatives that are left; a default for snapshots of earlier versions."""
    _grown_ns: int = 0
    """Length of the observation when phases of back-to-back requests were last searched; a default as above."""

    def __init__(self, observed: JobSignal, settings: DetectSettings) -> None:
        self.windows = WindowPolicy(settings)
        self._observed = observed
        self._settings = settings
        self._known: _KnownPeriod | None = None
        self._silent: tuple[_KnownPeriod, int] | None = None
        self._alternative: _AlternativePeriod | None = None
        self._hits = 0
        self._turn = 0

    @property
    def known_period_s(self) -> float | None:
        """Known period, s."""
        return None if self._known is None else self._known.period_s

    @property
    def unseen_until_ns(self) -> int:
        """End of the bin with the newest bytes, ns, before which no prediction sees them; 0 without a known period."""
        if self._known is None or not (last_ns := self._observed.last_ns):
            return 0
        bin_ns = self._observed.resolutions.length_ns(self._known.level)
        return ((last_ns - 1) // bin_ns + 1) * bin_ns

    @property
    def adapted(self) -> bool:
        """Whether the window is shortened to the known period."""
        return self._known is not None and self._adapted()

    @property
    def search_interval_factor(self) -> int:
        """Factor by which searches for alternatives and further periods are rarer.

        It grows while the known period lasts.
        """
        return 1 if self._known is None or self._known.times < _LIVE.proven_predictions else _LIVE.proven_factor

    @property
    def awaits_return(self) -> bool:
        """True while a sure period that fell silent is expected back."""
        return self._silent is not None

    def search(self, now_ns: int, data_until_ns: int, *, searches: bool = True) -> tuple[SignalWindow, PeriodEstimate]:
        """Return the window and its period.

        Args:
            now_ns: current time.
            data_until_ns: end of the newest bytes, ns.
            searches: whether to search a period, or only to measure the known one.
        """
        self._earned = min(self._earned + 1 / _LIVE.predictions_per_new_search, _LIVE.max_earned_searches)
        view, periodicity, level = self._former_period(now_ns, data_until_ns) or (
            self._follow(self._known, now_ns, searches) if self._known is not None else self._search(now_ns, searches)
        )
        self._store(periodicity, level)
        self._observed.note_phases(periodicity.phases, now_ns, data_until_ns)
        return view, periodicity

    def _store(self, periodicity: PeriodEstimate, level: int) -> None:
        """Store a result."""
        known, period_s = self._known, _period_s(periodicity)
        if not period_s:
            self._known, self._alternative, self._hits = None, None, 0
            return
        level = self._observed.resolutions.of_period(period_s, level)
        if known is not None and abs(math.log(period_s / known.period_s)) < _TOLERANCES.equal_prediction_log:
            max_confidence, times = max(periodicity.next_confidence, known.max_confidence), known.times + 1
            self._known = replace(known, period_s=period_s, level=level, max_confidence=max_confidence, times=times)
        else:
            self._known = _KnownPeriod(period_s, level, periodicity.next_confidence)
        self._known.latest = periodicity.next_confidence
        self._known.programs = 2 if any(each.relation == "beside" for each in periodicity.others) else 1
        self._known.rest_s = periodicity.rest_s
        self._hits += 1
        if periodicity.next_confidence >= _TOLERANCES.certain_confidence:
            self._silent = None

    def _former_period(self, now_ns: int, data_until_ns: int) -> tuple[SignalWindow, PeriodEstimate, int] | None:
        """Check whether the period that was certain before a silence continues."""
        if self._silent is None:
            return None
        silent, until_ns = self._silent
        end_ns = max(now_ns, self._observed.last_ns)
        start_ns = max(end_ns - round(_LIVE.recall_periods * silent.period_s * 1e9), self._observed.first_ns(end_ns))
        if data_until_ns <= start_ns:
            return None
        view, periodicity = self._observed.estimate(silent.level, now_ns, start_ns)
        if (
            periodicity.period_s is None
            or abs(math.log(periodicity.period_s.value / silent.period_s)) > _TOLERANCES.equal_prediction_log
        ):
            return None
        self._known = replace(silent, max_confidence=0.0, since_ns=start_ns, silence_ns=start_ns - until_ns)
        self._silent, self._alternative, self._hits = None, None, 0
        return view, periodicity, silent.level

    def _store_silent(self, known: _KnownPeriod, now_ns: int) -> None:
        """Store a period that was certain. A period shorter-lived than its silences is the inside of phases."""
        if known.was_certain and now_ns - known.since_ns > known.silence_ns:
            self._silent = known, now_ns

    def _search(self, now_ns: int, searches: bool = True) -> tuple[SignalWindow, PeriodEstimate, int]:
        """Search the whole observation, and one finer level in turn."""
        if not searches:
            return self.without_search(now_ns), PeriodEstimate(), 0
        end_ns = max(now_ns, self._observed.last_ns)
        start_ns = self.windows.start(self._observed.first_ns(end_ns), end_ns, hits=0, period_s=0.0)
        level = self._observed.resolutions.of_span(end_ns - start_ns)
        view, periodicity = self._observed.estimate(level, now_ns, start_ns)
        if level == 0:
            return view, periodicity, level
        self._turn += 1
        if periodicity.period_s is not None and periodicity.next_confidence + _TOLERANCES.confidence_gain >= 1:
            return view, periodicity, level  # no other result can be preferred
        finer = self._turn % level
        other_view, other = self._observed.estimate(finer, now_ns, start_ns)
        if (
            _is_preferred(other, periodicity)
            and share_at_period(other_view, _period_s(other)) >= _LIVE.min_lasting_share
        ):
            return other_view, other, finer
        return view, periodicity, level

    def _follow(
        self, known: _KnownPeriod, now_ns: int, searches: bool = True
    ) -> tuple[SignalWindow, PeriodEstimate, int]:
        """Search the level of the known period, and at intervals another one."""
        view, periodicity = self._estimate_known(known, now_ns, searches)
        if periodicity.period_s is None:
            self._store_silent(known, now_ns)
            self._known = None
            return self._search(now_ns, searches)
        if searches and _is_lost(known, periodicity) and (kept := self._kept(known, now_ns)) is not None:
            return kept
        if self.windows.watch(view, periodicity.period_s.value):
            view, periodicity = self._estimate_known(known, now_ns, searches)
            if periodicity.period_s is None:
                return view, periodicity, known.level
        if not searches:
            return view, periodicity, known.level
        self._turn += 1
        unsure = periodicity.confidence < _TOLERANCES.min_confidence and not known.was_certain
        unsure = unsure or (is_back_to_back(periodicity.busy_share) and self._has_grown(now_ns))
        is_due = unsure or self._turn % (_LIVE.predictions_per_other_level * self.search_interval_factor) == 0
        if (self._alternative is None and not is_due) or not self.spend_search():
            return view, periodicity, known.level
        return self._alternative_found(view, periodicity, known, now_ns, unsure)

    def _has_grown(self, now_ns: int) -> bool:
        """Return whether the observation is so much longer than before that it may show phases of several requests."""
        end_ns = max(now_ns, self._observed.last_ns)
        span_ns = end_ns - self._observed.first_ns(end_ns)
        if span_ns < _GROWTH * self._grown_ns:
            return False
        self._grown_ns = span_ns
        return True

    def _kept(self, known: _KnownPeriod, now_ns: int) -> tuple[SignalWindow, PeriodEstimate, int] | None:
        """Search the whole observation for a known period that its level does not show; None if it is gone."""
        end_ns = max(now_ns, self._observed.last_ns)
        start_ns = self.windows.since(self._observed.first_ns(end_ns))
        level = self._observed.resolutions.of_span(end_ns - start_ns)
        view, found = self._observed.estimate(level, now_ns, start_ns)
        sure = found.confidence >= _TOLERANCES.min_confidence
        return (view, found, level) if sure and not _differs(found, known.period_s) else None

    def _alternative_found(
        self, view: SignalWindow, periodicity: PeriodEstimate, known: _KnownPeriod, now_ns: int, unsure: bool
    ) -> tuple[SignalWindow, PeriodEstimate, int]:
        """Search for a period of another order at another level.

        An unsure period is also replaced by one of similar order, and at once by a longer one that is certain.
        """
        end_ns = max(now_ns, self._observed.last_ns)
        start_ns = self.windows.since(self._observed.first_ns(end_ns))
        alternative, self._alternative = self._alternative, None
        level = self._other_level(known.level, end_ns - start_ns, unsure) if alternative is None else alternative.level
        if level is None:
            return view, periodicity, known.level
        other_view, other = self._observed.estimate(level, now_ns, start_ns)
        period_s, known_s = _period_s(other), _period_s(periodicity)
        sure = unsure and other.confidence >= _TOLERANCES.min_confidence
        least_log = _TOLERANCES.equal_prediction_log if sure else math.log(_LIVE.period_order_ratio)
        if not _is_preferred(other, periodicity) or abs(math.log(period_s / known_s)) < least_log:
            return view, periodicity, known.level
        if period_s < known_s and share_at_period(other_view, period_s) < _LIVE.min_lasting_share:
            return view, periodicity, known.level
        certain = sure and other.next_confidence >= _TOLERANCES.certain_confidence
        if period_s > known_s and (certain or _is_within(periodicity, other)):
            return other_view, other, level
        if alternative is None or abs(math.log(period_s / alternative.period_s)) > _TOLERANCES.equal_prediction_log:
            self._alternative = _AlternativePeriod(period_s, level, now_ns)
            return view, periodicity, known.level
        if period_s < known_s and now_ns - alternative.since_ns < _LIVE.inside_period_ratio * known_s * 1e9:
            self._alternative = alternative
            return view, periodicity, known.level
        return other_view, other, level

    def _other_level(self, known: int, span_ns: int, unsure: bool) -> int | None:
        """Return the next level to search beside the known one; None if there is no other.

        Beside an unsure period it is mostly the one that covers the whole observation.
        """
        whole = self._observed.resolutions.of_span(span_ns)
        if unsure and whole > known and self._turn % _LIVE.predictions_per_other_level:
            return whole
        others = [level for level in range(whole + 1) if level != known]
        turn = self._turn // (_LIVE.predictions_per_other_level * self.search_interval_factor)
        return others[turn % len(others)] if others else None

    def without_search(self, now_ns: int) -> SignalWindow:
        """Return the whole observation."""
        end_ns = max(now_ns, self._observed.last_ns)
        start_ns = self._observed.first_ns(end_ns)
        level = self._observed.resolutions.of_span(end_ns - start_ns)
        return self._observed.window(level, now_ns, start_ns, start_ns, 0.0)

    def whole(self, now_ns: int) -> tuple[SignalWindow, PeriodEstimate]:
        """Search the whole observation; without a certain period, finer levels, then the known period."""
        end_ns = max(now_ns, self._observed.last_ns)
        start_ns = self._observed.first_ns(end_ns)
        level = self._observed.resolutions.of_span(end_ns - start_ns)
        best_view, best = self._observed.estimate(level, now_ns, start_ns, ended=True)
        for finer in range(level - 1, -1, -1):
            if best.confidence < _TOLERANCES.min_confidence:
                view, periodicity = self._observed.estimate(finer, now_ns, start_ns, ended=True)
                if (
                    _is_preferred(periodicity, best)
                    and share_at_period(view, _period_s(periodicity)) >= _LIVE.min_lasting_share
                ):
                    best_view, best = view, periodicity
        if best.confidence < _TOLERANCES.min_confidence and self._known is not None:
            view, periodicity = self._estimate_known(self._known, now_ns)
            if _is_preferred(periodicity, best):
                best_view, best = view, periodicity
        return best_view, best

    def _estimate_known(
        self, known: _KnownPeriod, now_ns: int, searches: bool = True
    ) -> tuple[SignalWindow, PeriodEstimate]:
        """Measure the known period. Searches alternatives if it is new or became less sure, and at intervals."""
        end_ns = max(now_ns, self._observed.last_ns)
        first_ns = max(self._observed.first_ns(end_ns), known.since_ns)
        window_ns = self.windows.start(first_ns, end_ns, hits=self._hits, period_s=known.period_s, rest_s=known.rest_s)
        history_ns = window_ns
        if self._adapted():
            periods = max(self._settings.window_periods, _LIVE.history_periods)
            history_s = periods * known.period_s + known.rest_s
            history_ns = max(self.windows.since(first_ns), end_ns - round(history_s * 1e9))
        thorough = searches and self._turn % (_LIVE.predictions_per_other_level * self.search_interval_factor) == 0
        history_ns = min(history_ns, window_ns)
        if not searches or (known.times >= _LIVE.familiar_predictions and not thorough):
            view, periodicity = self._observed.estimate(
                known.level, now_ns, history_ns, window_ns, known.period_s, False, known.programs
            )
            holds = (
                periodicity.period_s is not None
                and periodicity.next_confidence > known.latest - _TOLERANCES.confidence_gain
            )
            if holds or not searches or (periodicity.period_s is not None and not self.spend_search()):
                return view, periodicity
        elif not self.spend_search():
            return self._observed.estimate(
                known.level, now_ns, history_ns, window_ns, known.period_s, False, known.programs
            )
        return self._observed.estimate(known.level, now_ns, history_ns, window_ns, known.period_s, thorough)

    def spend_search(self) -> bool:
        """Return whether a search for alternatives is left, and spend it."""
        if self._earned < 1:
            return False
        self._earned -= 1
        return True

    def _adapted(self) -> bool:
        return self._settings.window == "hits" and self._hits >= self._settings.window_hits


def _period_s(periodicity: PeriodEstimate) -> float:
    return 0.0 if periodicity.period_s is None else periodicity.period_s.value


def _is_lost(known: _KnownPeriod, periodicity: PeriodEstimate) -> bool:
    """Return whether a certain period is gone, and what the window shows instead is unsure."""
    unsure = periodicity.confidence < _TOLERANCES.min_confidence
    return known.was_certain and unsure and _differs(periodicity, known.period_s)


def _differs(periodicity: PeriodEstimate, period_s: float) -> bool:
    found_s = _period_s(periodicity)
    return not found_s or abs(math.log(found_s / period_s)) > _TOLERANCES.equal_prediction_log


def _is_within(requests: PeriodEstimate, phases: PeriodEstimate) -> bool:
    return is_within(requests.busy_share, _period_s(requests), _period_s(phases), phases.confidence)


def _is_preferred(other: PeriodEstimate, periodicity: PeriodEstimate) -> bool:
    """Return whether another result is preferred.

    It is more certain, or the first is a log beside it, or the distance of the requests within its phases.
    """
    if other.period_s is None or periodicity.period_s is None:
        return other.period_s is not None
    if is_log_beside(other.typical_rate, periodicity.typical_rate, periodicity.confidence):
        return False
    if _is_within(other, periodicity):
        return False
    return (
        is_log_beside(periodicity.typical_rate, other.typical_rate, other.confidence)
        or _is_within(periodicity, other)
        or other.next_confidence > periodicity.next_confidence + _TOLERANCES.confidence_gain
    )
