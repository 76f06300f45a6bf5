"""One job's rhythm, as its events come in."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from ..events import EventBatch, Flag
from ..events.errors import ConfigError
from ..events.models import OtherRhythm, Prediction, SignalSeries
from .aliasing import is_stream
from .answer import ESTIMATORS, prediction_of
from .resolutions import Resolutions
from .rhythm import Rhythm, View
from .selection import FileTypes, counted_columns
from .settings import DetectSettings
from .several import other_rhythms
from .signal import BandwidthSignal
from .trace import detect, examine
from .window import Windows, lasting

__all__ = ["Predictor", "detect", "examine"]

_HISTORY_PERIODS: Final = 12
_LOOKS_PER_PERIOD: Final = 8  # at a rhythm that is sure
_PAUSES_PER_PERIOD: Final = 8  # what comes after so long a pause may be a phase
_SETTLED: Final = 0.9  # confidence from which on a prediction may be repeated
_STREAM_PERIODS: Final = 8  # that tell an even stream of requests
_OTHERS_EVERY: Final = 16  # predictions, of which one looks for further rhythms
_TRUSTED: Final = 0.5  # confidence in the main rhythm from which on others are looked for
_LOOK_AROUND: Final = 6  # predictions, of which one looks at another resolution although a rhythm is known
_SURER: Final = 0.1  # by how much more certain an answer must be that comes from a shorter stretch
_OTHER: Final = math.log(4)  # nearer periods are seen at the level of the known one already
_SAME: Final = math.log(1.15)
_LASTING: Final = 0.5  # of a level's stretch must be filled by a rhythm that is only seen there
_RECALLED_PERIODS: Final = 4.5  # that show a rhythm to be back after a silence: four phases fit in wholly
_PROOF_PERIODS: Final = 1.5  # of the known rhythm: for so long a faster one may be the inside of a phase


@dataclass(slots=True)
class _Known:
    """The rhythm that was found last."""

    period_s: float
    level: int
    surest: float
    """The highest confidence that there was in it."""
    since_ns: int = 0
    """Before that it was silent."""
    silence_ns: int = 0
    """For so long."""


@dataclass(slots=True)
class _Rival:
    """Another rhythm, seen once at another level."""

    period_s: float
    level: int
    since_ns: int


class Predictor:
    """Follows the I/O of one job: events come in as batches, predictions come out when asked for.

    Memory is bounded by the rings, and so is the work of a prediction: about two estimates. Nothing is read or summed
    twice. The state is plain data and can be pickled.

    Without a given sampling frequency the signal is kept at several resolutions. While no rhythm is known, the level
    that holds the whole observation is looked at, and in turn one of the finer ones, which hold the newest part. The
    whole observation reaches from the first event of any kind until now: a window that ended with the last request
    would hold k phases but only k - 1 periods. Once a rhythm is known, the level where its period has 32 to 128 bins
    is looked at, and now and then another one. What another level says replaces the known rhythm only when it is surer
    twice in a row, or the known one is gone. One that was sure and went silent is known again when it goes on.
    ``window.Windows`` says how far back is looked.

    Attributes:
        reads: the signal of reads, in bytes.
        writes: the signal of writes.
        version: grows whenever bytes were counted.
        changed: whether that happened since the last prediction; an idle job need not be asked again.
    """

    def __init__(self, job: str, settings: DetectSettings | None = None) -> None:
        self.job = job
        self.settings = settings or DetectSettings()
        if self.settings.sampling == "point":
            raise ConfigError("sampling at points needs a finished trace; online, sampling must be 'volume'")
        self._resolutions = Resolutions.of(self.settings)
        self.reads = self._resolutions.signal()
        self.writes = self._resolutions.signal()
        self.version = 0
        self.changed = False
        self._observed_from_ns: int | None = None
        self._windows = Windows(self.settings)
        self._known: _Known | None = None
        self._silent: tuple[_Known, int] | None = None
        self._rival: _Rival | None = None
        self._hits = 0
        self._turn = 0
        self._last: Prediction | None = None
        self._estimated_ns = 0
        self._data_until_ns = 0
        self._resumed = False
        self._others: list[OtherRhythm] = []
        self._others_of_s = 0.0
        self._others_age = 0

    def update(self, batch: EventBatch, file_types: FileTypes, now_ns: int | None = None) -> None:
        """Takes in events of one stream, in any order.

        Args:
            batch: the events.
            file_types: FileType of each of the stream's file numbers, uint8; numbers beyond it are of unknown type.
            now_ns: the present, if the events' stamps are of the same clock: tells a pause from a clock that jumped.
        """
        if not len(batch):
            return
        first = int(batch.start.min())
        if self._observed_from_ns is None or first < self._observed_from_ns:
            self._observed_from_ns = first
        start, end, volume, is_read = counted_columns(batch, file_types, "both")
        if not len(start):
            return
        if is_read.any():
            self.reads.add(start[is_read], end[is_read], volume[is_read], now_ns)
        if not is_read.all():
            self.writes.add(start[~is_read], end[~is_read], volume[~is_read], now_ns)
        pause_ns = self._known.period_s * 1e9 / _PAUSES_PER_PERIOD if self._known is not None else 0.0
        after_pause = int(start.min()) - self._data_until_ns > pause_ns
        late = int(start.min()) < self._estimated_ns - pause_ns
        self._resumed = self._resumed or after_pause or late
        self._data_until_ns = max(self._data_until_ns, int(end.max()))
        if (batch.flags & Flag.AGGREGATE).any():
            self._windows.flush(int(start.min()), int(end.max()))
        self.changed = True
        self.version += 1

    def flush(self) -> None:
        """Takes in that a stream has ended: what came since the last flush is one more."""
        first_ns, last_ns = self._windows.flushed_ns or self._observed_from_ns, self.last_ns
        if first_ns is not None and last_ns > first_ns:
            self._windows.flush(first_ns, last_ns)

    def predict(self, now_ns: int, *, whole: bool = False) -> Prediction:
        """Says what is known of the job's rhythm.

        Args:
            now_ns: the present, on the clock of the events. Data later than now (a node's clock that is ahead) move
                the end of the window with them.
            whole: look at the whole observation, whatever the window, and leave the window's adaptation as it is.
        """
        self.changed = False
        if whole:
            view, rhythm = self._whole(now_ns)
            rhythm = replace(rhythm, others=self._look_for_others(rhythm, now_ns))
            return prediction_of(self.job, self.settings, view, rhythm, made_at_s=now_ns / 1e9, adapted=False)
        if (repeated := self._repeated(now_ns)) is not None:
            return repeated
        adapted = self._known is not None and self._adapted()
        view, rhythm, level = self._recalled(now_ns) or (
            self._follow(self._known, now_ns) if self._known is not None else self._search(now_ns)
        )
        self._know(rhythm, level)
        rhythm = replace(rhythm, others=self._known_others(rhythm, now_ns))
        self._last = prediction_of(self.job, self.settings, view, rhythm, made_at_s=now_ns / 1e9, adapted=adapted)
        self._estimated_ns, self._resumed = now_ns, False
        return self._last

    def series(self, from_ns: int, to_ns: int) -> SignalSeries:
        """Returns reads and writes over time, in the finest bins of which there are enough."""
        from_ns = min(from_ns, to_ns)
        level = self._resolutions.of_span(max(to_ns, self.last_ns) - from_ns)
        bin_ns = self._resolutions.length_ns(level)
        low, high = self._bins(level, from_ns, to_ns)
        rate = 1e9 / bin_ns
        return SignalSeries(
            job=self.job,
            start_s=low * bin_ns / 1e9,
            bin_s=bin_ns / 1e9,
            read=(self.reads.bins(level, low, high) * rate).tolist(),
            written=(self.writes.bins(level, low, high) * rate).tolist(),
        )

    def _repeated(self, now_ns: int) -> Prediction | None:
        """Returns the last prediction again while nothing can have changed it.

        That is so for an eighth of the period after it was made, if it was sure, the next phase is not yet due, and
        no I/O came after a pause, which may be the next phase, or late.
        """
        last = self._last
        if last is None or last.period_s is None or last.next_phase is None or self._resumed:
            return None
        start = last.next_phase.start_s
        fresh = 0 <= now_ns - self._estimated_ns < last.period_s.value * 1e9 / _LOOKS_PER_PERIOD
        if not fresh or last.confidence < _SETTLED or now_ns / 1e9 >= start.value:
            return None
        start = start.model_copy(update={"low": max(start.low, now_ns / 1e9)})
        upcoming = last.next_phase.model_copy(update={"start_s": start})
        return last.model_copy(update={"made_at_s": now_ns / 1e9, "next_phase": upcoming})

    def _known_others(self, rhythm: Rhythm, now_ns: int) -> list[OtherRhythm]:
        """Returns the further rhythms, looked for now and then, or when the main one has become another."""
        if rhythm.period_s is None or rhythm.confidence < _TRUSTED:
            self._others, self._others_of_s, self._others_age = [], 0.0, 0
            return []
        period_s = rhythm.period_s.value
        self._others_age += 1
        changed = not self._others_of_s or abs(math.log(period_s / self._others_of_s)) > _SAME
        if changed or self._others_age >= _OTHERS_EVERY:
            self._others, self._others_of_s = self._look_for_others(rhythm, now_ns), period_s
            self._others_age = 0
        return self._others

    def _look_for_others(self, rhythm: Rhythm, now_ns: int) -> list[OtherRhythm]:
        """Looks for further rhythms at the main one's level, at a finer one too, and for earlier ones at a coarser."""
        if rhythm.period_s is None or self.settings.method != "tide":
            return []
        period_s, end_ns = rhythm.period_s.value, max(now_ns, self.last_ns)
        start_ns = self._first_ns(end_ns)
        level = self._resolutions.of_period(period_s)

        def at(level: int) -> list[OtherRhythm]:
            return other_rhythms(self._view(level, now_ns, start_ns, start_ns, 0.0), period_s)

        found = at(level)
        if level > 0 and all(each.relation != "within" for each in found):
            found += [each for each in at(max(level - 2, 0)) if each.relation == "within"]
        whole = self._resolutions.of_span(end_ns - start_ns)
        if whole > level and all(each.relation != "earlier" for each in found):
            found += [each for each in at(whole) if each.relation == "earlier"]
        return found

    @property
    def last_ns(self) -> int:
        """End of the newest bin of the signal that is looked at; 0 for an empty one."""
        return max((last for signal in self._signals() if (last := signal.last_ns) is not None), default=0)

    # ---- what is looked at ----

    def _know(self, rhythm: Rhythm, level: int) -> None:
        """Remembers what was found."""
        known, period_s = self._known, _period_s(rhythm)
        if not period_s:
            self._known, self._rival, self._hits = None, None, 0
            return
        level = self._resolutions.of_period(period_s, level)
        if known is not None and abs(math.log(period_s / known.period_s)) < _SAME:
            surest = max(rhythm.confidence, known.surest)
            self._known = replace(known, period_s=period_s, level=level, surest=surest)
        else:
            self._known = _Known(period_s, level, rhythm.confidence)
        self._hits += 1
        if rhythm.confidence >= _SETTLED:
            self._silent = None

    def _recalled(self, now_ns: int) -> tuple[View, Rhythm, int] | None:
        """Looks whether the rhythm that was sure before a silence goes on."""
        if self._silent is None:
            return None
        silent, until_ns = self._silent
        end_ns = max(now_ns, self.last_ns)
        start_ns = max(end_ns - round(_RECALLED_PERIODS * silent.period_s * 1e9), self._first_ns(end_ns))
        if self._data_until_ns <= start_ns:
            return None
        view, rhythm = self._estimate(silent.level, now_ns, start_ns)
        if rhythm.period_s is None or abs(math.log(rhythm.period_s.value / silent.period_s)) > _SAME:
            return None
        self._known = replace(silent, surest=0.0, since_ns=start_ns, silence_ns=start_ns - until_ns)
        self._silent, self._rival, self._hits = None, None, 0
        return view, rhythm, silent.level

    def _fell_silent(self, known: _Known, now_ns: int) -> None:
        """Remembers a rhythm that was sure; one that lasts shorter than its silences is the inside of phases."""
        if known.surest >= _SETTLED and now_ns - known.since_ns > known.silence_ns:
            self._silent = known, now_ns

    def _search(self, now_ns: int) -> tuple[View, Rhythm, int]:
        """Looks at the whole observation, and at one finer level in turn."""
        end_ns = max(now_ns, self.last_ns)
        start_ns = self._windows.start(self._first_ns(end_ns), end_ns, hits=0, period_s=0.0)
        level = self._resolutions.of_span(end_ns - start_ns)
        view, rhythm = self._estimate(level, now_ns, start_ns)
        if level == 0:
            return view, rhythm, level
        self._turn += 1
        finer = self._turn % level
        other_view, other = self._estimate(finer, now_ns, start_ns)
        if _surer(other, rhythm) and lasting(other_view, _period_s(other)) >= _LASTING:
            return other_view, other, finer
        return view, rhythm, level

    def _follow(self, known: _Known, now_ns: int) -> tuple[View, Rhythm, int]:
        """Looks at the level of the known rhythm, and now and then at another one."""
        view, rhythm = self._estimate_known(known, now_ns)
        if rhythm.period_s is None:
            self._fell_silent(known, now_ns)
            self._known = None
            return self._search(now_ns)
        if self._windows.watch(view, rhythm.period_s.value):
            view, rhythm = self._estimate_known(known, now_ns)
            if rhythm.period_s is None:
                return view, rhythm, known.level
        self._turn += 1
        if self._rival is None and self._turn % _LOOK_AROUND:
            return view, rhythm, known.level
        return self._challenged(view, rhythm, known, now_ns)

    def _challenged(self, view: View, rhythm: Rhythm, known: _Known, now_ns: int) -> tuple[View, Rhythm, int]:
        """Looks for a rhythm of another order at another level."""
        end_ns = max(now_ns, self.last_ns)
        start_ns = self._windows.since(self._first_ns(end_ns))
        rival, self._rival = self._rival, None
        if rival is None:
            levels = [at for at in range(self._resolutions.of_span(end_ns - start_ns) + 1) if at != known.level]
            if not levels:
                return view, rhythm, known.level
            level = levels[self._turn // _LOOK_AROUND % len(levels)]
        else:
            level = rival.level
        other_view, other = self._estimate(level, now_ns, start_ns)
        period_s, known_s = _period_s(other), _period_s(rhythm)
        if not _surer(other, rhythm) or abs(math.log(period_s / known_s)) < _OTHER:
            return view, rhythm, known.level
        if period_s < known_s and lasting(other_view, period_s) < _LASTING:
            return view, rhythm, known.level
        if rival is None or abs(math.log(period_s / rival.period_s)) > _SAME:
            self._rival = _Rival(period_s, level, now_ns)
            return view, rhythm, known.level
        if period_s < known_s and now_ns - rival.since_ns < _PROOF_PERIODS * known_s * 1e9:
            self._rival = rival
            return view, rhythm, known.level
        return other_view, other, level

    def _whole(self, now_ns: int) -> tuple[View, Rhythm]:
        """Looks at the whole observation; without a rhythm to trust there, at finer levels, then at the one known."""
        end_ns = max(now_ns, self.last_ns)
        start_ns = self._first_ns(end_ns)
        level = self._resolutions.of_span(end_ns - start_ns)
        best_view, best = self._estimate(level, now_ns, start_ns)
        for finer in range(level - 1, -1, -1):
            if best.confidence < _TRUSTED:
                view, rhythm = self._estimate(finer, now_ns, start_ns)
                if _surer(rhythm, best) and lasting(view, _period_s(rhythm)) >= _LASTING:
                    best_view, best = view, rhythm
        if best.confidence < _TRUSTED and self._known is not None:
            view, rhythm = self._estimate_known(self._known, now_ns)
            if _surer(rhythm, best):
                best_view, best = view, rhythm
        return best_view, best

    def _estimate_known(self, known: _Known, now_ns: int) -> tuple[View, Rhythm]:
        end_ns = max(now_ns, self.last_ns)
        first_ns = max(self._first_ns(end_ns), known.since_ns)
        window_ns = self._windows.start(first_ns, end_ns, hits=self._hits, period_s=known.period_s)
        history_ns = window_ns
        if self._adapted():
            periods = max(self.settings.window_periods, _HISTORY_PERIODS)
            history_ns = max(self._windows.since(first_ns), end_ns - round(periods * known.period_s * 1e9))
        thorough = self._turn % _LOOK_AROUND == 0
        return self._estimate(known.level, now_ns, min(history_ns, window_ns), window_ns, known.period_s, thorough)

    def _estimate(
        self,
        level: int,
        now_ns: int,
        from_ns: int,
        window_ns: int | None = None,
        expected_s: float = 0.0,
        thorough: bool = True,
    ) -> tuple[View, Rhythm]:
        view = self._view(level, now_ns, from_ns, from_ns if window_ns is None else window_ns, expected_s)
        view = replace(view, thorough=thorough)
        rhythm = ESTIMATORS[self.settings.method](view, self.settings)
        if rhythm.period_s is not None and thorough and self._is_stream(level, view, rhythm.period_s.value):
            return view, Rhythm()
        return view, rhythm

    def _is_stream(self, level: int, view: View, period_s: float) -> bool:
        """Tells whether the rhythm comes from bins that hold now one request more and now one less."""
        if self.settings.method != "tide":
            return False
        finer = max(level - 1, 0)
        bin_ns = self._resolutions.length_ns(finer)
        low, high = self._bins(finer, round((view.end_s - _STREAM_PERIODS * period_s) * 1e9), round(view.end_s * 1e9))
        bandwidth = sum((signal.bins(finer, low, high) for signal in self._signals()), np.zeros(high - low))
        return len(bandwidth) > 0 and is_stream(bandwidth, period_s * 1e9 / bin_ns, finest=finer == level)

    def _view(self, level: int, now_ns: int, from_ns: int, window_ns: int, expected_s: float) -> View:
        bin_ns = self._resolutions.length_ns(level)
        end_ns = max(now_ns // bin_ns, (self.last_ns - 1) // bin_ns) * bin_ns
        low, high = self._bins(level, min(from_ns, end_ns), end_ns)
        bandwidth = np.zeros(high - low)
        for signal in self._signals():
            bandwidth += signal.bins(level, low, high)
        bandwidth *= 1e9 / bin_ns
        return View(
            bandwidth,
            bin_s=bin_ns / 1e9,
            start_s=low * bin_ns / 1e9,
            now_s=max(now_ns, end_ns) / 1e9,
            begin=min(max(window_ns // bin_ns - low, 0), high - low),
            expected_s=expected_s,
            cut=self._observed_from_ns is not None and low * bin_ns > self._observed_from_ns,
        )

    def _bins(self, level: int, from_ns: int, to_ns: int) -> tuple[int, int]:
        """Returns the first bin that overlaps [from, to) and is still held, and the one after the last."""
        bin_ns, most = self._resolutions.length_ns(level), self._resolutions.bins
        low, high = from_ns // bin_ns, -(-to_ns // bin_ns)
        reach = (self.last_ns - 1) // bin_ns - most + 1 if self.last_ns else 0
        return min(max(low, reach, high - most), high), high

    def _adapted(self) -> bool:
        return self.settings.window == "hits" and self._hits >= self.settings.window_hits

    def _first_ns(self, end_ns: int) -> int:
        return end_ns if self._observed_from_ns is None else min(self._observed_from_ns, end_ns)

    def _signals(self) -> list[BandwidthSignal]:
        chosen = {"read": [self.reads], "write": [self.writes], "both": [self.reads, self.writes]}
        return chosen[self.settings.mode]


def _period_s(rhythm: Rhythm) -> float:
    return 0.0 if rhythm.period_s is None else rhythm.period_s.value


def _surer(other: Rhythm, rhythm: Rhythm) -> bool:
    """Tells whether the answer of a shorter stretch is to be preferred."""
    return other.period_s is not None and (rhythm.period_s is None or other.confidence > rhythm.confidence + _SURER)
