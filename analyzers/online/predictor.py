"""Incremental period prediction for one job."""

from __future__ import annotations

import math
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from ...events import EventBatch, Flag
from ...events.batch import representatives
from ...results.jobs.job import SignalSeries
from ...results.prediction import ModeName, OtherPeriod, Prediction
from ..periodicity.estimator import PeriodEstimate, SignalWindow
from ..periodicity.estimators.named_estimators import prediction_of
from ..periodicity.estimators.secondary_periods import ended_period, other_periods
from ..periodicity.tuning import TUNING
from ..settings import DetectSettings
from ..signal.bandwidth import BandwidthSignal
from ..signal.selection import LeftOut
from .job_signal import JobSignal, ReadWriteSignals
from .resolution_search import ResolutionSearch


class FormerPeriods:
    """Stores the last few periods with the times at which they were seen.

    Args:
        sure: minimum confidence of a stored period.
        same: maximum difference of the logarithms of equal periods.
    """

    def __init__(self, sure: float, same: float) -> None:
        self._sure, self._same = sure, same
        self._earlier_periods: list[OtherPeriod] = []

    def note(self, prediction: Prediction, until_s: float) -> None:
        """Add a prediction; ``until_s`` is the end of the newest data."""
        period = prediction.period_s
        if period is None or not period.value > 0 or prediction.confidence < self._sure:
            return
        known = self._earlier_periods[-1] if self._earlier_periods else None
        start_s, confidence = prediction.window.start_s, prediction.confidence
        if known is not None and abs(math.log(period.value / known.period_s.value)) < self._same:
            start_s, confidence = known.start_s, max(known.confidence, confidence)
            self._earlier_periods.pop()
        elif known is not None:
            start_s = max(start_s, known.end_s)
        phases = round(max(until_s - start_s, 0.0) / period.value) + 1
        made = OtherPeriod(
            relation="earlier",
            period_s=period,
            confidence=confidence,
            start_s=start_s,
            end_s=max(until_s, start_s),
            phases=max(phases, 2),
        )
        self._earlier_periods = [*self._earlier_periods, made][-TUNING.secondary_periods.max_earlier_periods :]

    def confirmed_periods(self) -> list[OtherPeriod]:
        """Return the periods that lasted, latest first."""
        return [
            each for each in reversed(self._earlier_periods) if each.phases > TUNING.secondary_periods.min_intervals
        ]


_TOLERANCES: Final = TUNING.tolerances
_LIVE: Final = TUNING.live
_SINGLE_DIRECTIONS: Final[tuple[ModeName, ...]] = ("write", "read")


class _DirectionSearch(Struct, frozen=True, eq=False):
    """Signal of a job in the directions given by the settings, with its search state."""

    settings: DetectSettings
    signal: JobSignal
    resolution_search: ResolutionSearch

    @classmethod
    def of(cls, settings: DetectSettings, seen: ReadWriteSignals) -> _DirectionSearch:
        signal = JobSignal(settings, seen)
        return cls(settings, signal, ResolutionSearch(signal, settings))

    def search(
        self, now_ns: int, data_until_ns: int, whole: bool, searches: bool
    ) -> tuple[SignalWindow, PeriodEstimate]:
        return (
            self.resolution_search.whole(now_ns)
            if whole
            else self.resolution_search.search(now_ns, data_until_ns, searches=searches)
        )


class Predictor:
    """Tracks the I/O of one job: batches of events in, predictions out on request.

    The rings bound memory and the work of a prediction. The state is plain data and can be pickled.
    ``job_signal.ReadWriteSignals`` stores the signal, and ``resolution_search.ResolutionSearch`` selects the window and
    resolution. If reads and writes together have no certain period, one of the two may have one; the mode of the
    prediction names it.

    Attributes:
        version: counter that increases whenever bytes were counted.
        changed: whether that happened since the last prediction; an idle job needs no new one.
    """

    def __init__(self, job: str, settings: DetectSettings | None = None) -> None:
        self.job = job
        self.settings = settings or DetectSettings()
        self.settings.check_running()
        self.version = 0
        self.changed = False
        self._seen = ReadWriteSignals(self.settings)
        self._all = _DirectionSearch.of(self.settings, self._seen)
        self._single_directions: tuple[_DirectionSearch, ...] | None = None
        self._reported = self._all
        self._turn = 0
        self._former = FormerPeriods(sure=_TOLERANCES.certain_confidence, same=_TOLERANCES.equal_prediction_log)
        self._last: Prediction | None = None
        self._estimated_ns = 0
        self._data_until_ns = 0
        self._resumed = False
        self._predictions_without_period = 0
        self._predictions_without_search = 0
        self._others: list[OtherPeriod] = []
        self._others_of_s = 0.0
        self._others_age = 0

    @property
    def _directions(self) -> tuple[_DirectionSearch, ...]:
        """Reads alone and writes alone; created on demand, since most short jobs never need them."""
        if self._single_directions is None:
            self._single_directions = tuple(
                _DirectionSearch.of(self.settings.model_copy(update={"mode": mode}), self._seen)
                for mode in _SINGLE_DIRECTIONS
                if self.settings.mode == "both" and self.settings.method == "tide"
            )
        return self._single_directions

    @property
    def reads(self) -> BandwidthSignal:
        """Signal of reads, bytes."""
        return self._seen.reads

    @property
    def writes(self) -> BandwidthSignal:
        """Signal of writes, bytes."""
        return self._seen.writes

    @property
    def bytes_read(self) -> int:
        """Bytes read at depth 0 that count by ``CountRule``."""
        return self._seen.bytes_read

    @property
    def bytes_written(self) -> int:
        """Bytes written at depth 0 that count by ``CountRule``."""
        return self._seen.bytes_written

    @property
    def last_ns(self) -> int:
        """End of the newest bin of the analyzed signal, ns; 0 if empty."""
        return self._all.signal.last_ns

    @property
    def unseen_until_ns(self) -> int:
        """End of the bin with the newest bytes, ns, before which no prediction sees them; 0 without a known period."""
        return self._reported.resolution_search.unseen_until_ns

    def update(self, batch: EventBatch, left_out: LeftOut, now_ns: int | None = None) -> None:
        """Add events of one stream, in any order.

        Args:
            batch: events.
            left_out: mask of directions that do not count, by the stream's file numbers.
            now_ns: current time, if the events' timestamps use the same clock; distinguishes a pause from a clock jump.
        """
        if not len(batch) or (span := self._seen.add(batch, left_out, now_ns)) is None:
            return
        start_ns, end_ns = span
        pause_ns = (self._reported.resolution_search.known_period_s or 0.0) * 1e9 / _LIVE.predictions_per_period
        after_pause = start_ns - self._data_until_ns > pause_ns
        late = start_ns < self._estimated_ns - pause_ns
        self._resumed = self._resumed or after_pause or late
        self._data_until_ns = max(self._data_until_ns, end_ns)
        if (representatives(batch.flags) & int(Flag.AGGREGATE)).any():
            for direction in (self._all, *self._directions):
                direction.resolution_search.windows.flush(start_ns, end_ns)
        self.changed = True
        self.version += 1

    def flush(self) -> None:
        """Handle the end of a stream. Data since the last flush counts as one more flush."""
        if self.settings.window != "flushes":
            return
        for windows in (direction.resolution_search.windows for direction in (self._all, *self._directions)):
            first_ns, last_ns = windows.flushed_ns or self._seen.from_ns, self.last_ns
            if first_ns is not None and last_ns > first_ns:
                windows.flush(first_ns, last_ns)

    def predict(self, now_ns: int, *, whole: bool = False) -> Prediction:
        """Predict the job's period.

        Args:
            now_ns: current time on the clock of the events. Later data (a node's clock that is ahead) extends the
                window.
            whole: whether to analyze the whole observation without changing the state of the adaptive window.
        """
        self.changed = False
        if whole:
            view, periodicity = self._estimate_period(now_ns, whole=True)
            periodicity = replace(
                periodicity,
                others=self._search_other_periods(periodicity, now_ns) or self._former_periods(periodicity, view),
            )
            return prediction_of(
                self.job, self._reported.settings, view, periodicity, made_at_s=now_ns / 1e9, adapted=False
            )
        if (repeated := self._repeated(now_ns)) is not None:
            return repeated
        searches = self._search_is_due()
        self._predictions_without_search = 0 if searches else self._predictions_without_search + 1
        if not searches and self._last is not None and self._last.period_s is None:
            self._predictions_without_period += 1
            return self._last.model_copy(update={"made_at_s": now_ns / 1e9})
        were_adapted = {
            id(direction): direction.resolution_search.adapted for direction in (self._all, *self._directions)
        }
        view, periodicity = self._estimate_period(now_ns, searches=searches)
        adapted = were_adapted[id(self._reported)]
        periodicity = replace(
            periodicity, others=self._known_others(periodicity, now_ns) or self._former_periods(periodicity)
        )
        self._last = prediction_of(
            self.job, self._reported.settings, view, periodicity, made_at_s=now_ns / 1e9, adapted=adapted
        )
        self._predictions_without_period = (
            0 if self._last.confidence >= _TOLERANCES.min_confidence else self._predictions_without_period + 1
        )
        self._former.note(self._last, self._data_until_ns / 1e9)
        self._estimated_ns, self._resumed = now_ns, False
        return self._last

    def without_search(self, now_ns: int) -> Prediction:
        """Return the observed amounts without searching a period; the method is ``none``."""
        self.changed = False
        view = self._all.resolution_search.without_search(now_ns)
        nothing = prediction_of(self.job, self.settings, view, PeriodEstimate(), made_at_s=now_ns / 1e9, adapted=False)
        return nothing.model_copy(update={"method": "none"})

    def series(self, from_ns: int, to_ns: int) -> SignalSeries:
        """Return reads and writes over time, in the finest bins that cover the range."""
        return self._all.signal.series(self.job, from_ns, to_ns)

    def _estimate_period(
        self, now_ns: int, *, whole: bool = False, searches: bool = True
    ) -> tuple[SignalWindow, PeriodEstimate]:
        """Search a period of reads and writes together. Without a certain one it searches each of the two.

        While neither has one, the two are searched in turn. Without a search, only known periods are measured.
        """
        view, periodicity = self._all.search(now_ns, self._data_until_ns, whole, searches)
        last_reported, self._reported = self._reported, self._all
        if periodicity.confidence > _TOLERANCES.min_confidence or not all(
            direction.signal.last_ns for direction in self._directions
        ):
            return view, periodicity
        self._turn += 1
        searched: _DirectionSearch | None = last_reported
        if last_reported not in self._directions:
            searched = self._directions[self._turn % len(self._directions)] if self._directions else None
        for direction in self._directions:
            if whole or direction is searched:
                other_view, other = direction.search(now_ns, self._data_until_ns, whole, searches)
                if other.confidence > max(periodicity.confidence, _TOLERANCES.min_confidence):
                    view, periodicity, self._reported = other_view, other, direction
        return view, periodicity

    def _repeated(self, now_ns: int) -> Prediction | None:
        """Return the last prediction again while nothing can have changed it.

        This holds for an eighth of the period after a certain prediction, until the next phase is due. I/O after a
        pause (possibly the next phase) or late I/O ends it.
        """
        last = self._last
        if last is None or last.period_s is None or last.next_phase is None or self._resumed:
            return None
        start = last.next_phase.start_s
        fresh = 0 <= now_ns - self._estimated_ns < last.period_s.value * 1e9 / _LIVE.predictions_per_period
        if not fresh or last.next_phase.confidence < _TOLERANCES.certain_confidence or now_ns / 1e9 >= start.value:
            return None
        start = start.model_copy(update={"low": max(start.low, now_ns / 1e9)})
        upcoming = last.next_phase.model_copy(update={"start_s": start})
        return last.model_copy(update={"made_at_s": now_ns / 1e9, "next_phase": upcoming})

    def _search_is_due(self) -> bool:
        """Return whether this prediction searches a period, or only measures the known one.

        A search tries all hypotheses, so it is expensive. The longer it has not found a trusted period, the rarer it
        becomes. A period that fell silent is searched at each prediction.
        """
        if self.settings.method != "tide" or self.settings.window == "flushes":
            return True
        if any(direction.resolution_search.awaits_return for direction in (self._all, *self._directions)):
            return True
        kept_predictions = _LIVE.kept_prediction_share * (self._predictions_without_period - _LIVE.unfound_predictions)
        return self._predictions_without_search >= min(int(max(kept_predictions, 0.0)), _LIVE.max_kept_predictions)

    def _known_others(self, periodicity: PeriodEstimate, now_ns: int) -> list[OtherPeriod]:
        """Return the further periods; they are searched at intervals, or when the main period changes."""
        if periodicity.period_s is None or periodicity.confidence < _TOLERANCES.min_confidence or periodicity.others:
            self._others, self._others_of_s, self._others_age = [], 0.0, 0
            return periodicity.others
        period_s = periodicity.period_s.value
        self._others_age += 1
        changed = (
            not self._others_of_s or abs(math.log(period_s / self._others_of_s)) > _TOLERANCES.equal_prediction_log
        )
        if changed and not self._reported.resolution_search.spend_search():
            return []
        if (
            changed
            or self._others_age
            >= _LIVE.predictions_per_secondary_search * self._reported.resolution_search.search_interval_factor
        ):
            self._others, self._others_of_s = self._search_other_periods(periodicity, now_ns), period_s
            self._others_age = 0
        return self._others

    def _former_periods(self, periodicity: PeriodEstimate, whole: SignalWindow | None = None) -> list[OtherPeriod]:
        """Return the earlier periods of a job that has none now.

        If there are no earlier predictions, they are searched in its signal.
        """
        if periodicity.period_s is not None or self.settings.method != "tide":
            return []
        ended = ended_period(whole) if whole is not None else None
        return self._former.confirmed_periods() or ([] if ended is None else [ended])

    def _search_other_periods(self, periodicity: PeriodEstimate, now_ns: int) -> list[OtherPeriod]:
        """Search further periods at the main period's level and a finer one.

        Earlier periods are searched at a coarser level.
        """
        if periodicity.period_s is None or periodicity.others or self.settings.method != "tide":
            return periodicity.others
        period_s, end_ns = periodicity.period_s.value, max(now_ns, self.last_ns)
        signal = self._reported.signal
        start_ns = signal.first_ns(end_ns)
        level = signal.resolutions.of_period(period_s)

        def at(level: int) -> list[OtherPeriod]:
            return other_periods(signal.window(level, now_ns, start_ns, start_ns, 0.0), period_s)

        found = at(level)
        if level > 0 and all(each.relation != "within" for each in found):
            found += [each for each in at(max(level - 2, 0)) if each.relation == "within"]
        whole = signal.resolutions.of_span(end_ns - start_ns)
        if whole > level and all(each.relation != "earlier" for each in found):
            found += [each for each in at(whole) if each.relation == "earlier"]
        return found
