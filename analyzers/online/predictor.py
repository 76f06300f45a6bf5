"""One job's rhythm, as its events come in."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final

from ...events import EventBatch, Flag
from ...events.batch import occurring
from ...events.errors import ConfigError
from ...events.models import OtherRhythm, Prediction, SignalSeries
from ..rhythm.answer import prediction_of
from ..rhythm.several import other_rhythms
from ..rhythm.view import Rhythm
from ..settings import DetectSettings
from ..signal.bandwidth import BandwidthSignal
from ..signal.selection import LeftOut
from .lookout import SAME, SETTLED, TRUSTED, Lookout
from .observed import Observed

_LOOKS_PER_PERIOD: Final = 8  # at a rhythm that is sure
_PAUSES_PER_PERIOD: Final = 8  # what comes after so long a pause may be a phase
_OTHERS_EVERY: Final = 16  # predictions, of which one looks for further rhythms


class Predictor:
    """Follows the I/O of one job: events come in as batches, predictions come out when asked for.

    Memory is bounded by the rings, and so is the work of a prediction. The state is plain data and can be pickled.
    ``observed.Observed`` keeps the signal, ``lookout.Lookout`` chooses where to look for the rhythm.

    Attributes:
        version: grows whenever bytes were counted.
        changed: whether that happened since the last prediction; an idle job need not be asked again.
    """

    def __init__(self, job: str, settings: DetectSettings | None = None) -> None:
        self.job = job
        self.settings = settings or DetectSettings()
        if self.settings.sampling == "point":
            raise ConfigError("sampling at points needs a finished trace; online, sampling must be 'volume'")
        self.version = 0
        self.changed = False
        self._observed = Observed(self.settings)
        self._lookout = Lookout(self._observed, self.settings)
        self._last: Prediction | None = None
        self._estimated_ns = 0
        self._data_until_ns = 0
        self._resumed = False
        self._others: list[OtherRhythm] = []
        self._others_of_s = 0.0
        self._others_age = 0

    @property
    def reads(self) -> BandwidthSignal:
        """The signal of reads, in bytes."""
        return self._observed.reads

    @property
    def writes(self) -> BandwidthSignal:
        """The signal of writes, in bytes."""
        return self._observed.writes

    @property
    def bytes_read(self) -> int:
        """What counts, as ``CountRule`` says, and at depth 0."""
        return self._observed.bytes_read

    @property
    def bytes_written(self) -> int:
        """Likewise."""
        return self._observed.bytes_written

    @property
    def last_ns(self) -> int:
        """End of the newest bin of the signal that is looked at; 0 for an empty one."""
        return self._observed.last_ns

    def update(self, batch: EventBatch, left_out: LeftOut, now_ns: int | None = None) -> None:
        """Takes in events of one stream, in any order.

        Args:
            batch: the events.
            left_out: what does not count, by the stream's file numbers.
            now_ns: the present, if the events' stamps are of the same clock: tells a pause from a clock that jumped.
        """
        if not len(batch) or (span := self._observed.add(batch, left_out, now_ns)) is None:
            return
        start_ns, end_ns = span
        pause_ns = (self._lookout.known_period_s or 0.0) * 1e9 / _PAUSES_PER_PERIOD
        after_pause = start_ns - self._data_until_ns > pause_ns
        late = start_ns < self._estimated_ns - pause_ns
        self._resumed = self._resumed or after_pause or late
        self._data_until_ns = max(self._data_until_ns, end_ns)
        if (occurring(batch.flags) & int(Flag.AGGREGATE)).any():
            self._lookout.windows.flush(start_ns, end_ns)
        self.changed = True
        self.version += 1

    def flush(self) -> None:
        """Takes in that a stream has ended: what came since the last flush is one more."""
        windows = self._lookout.windows
        first_ns, last_ns = windows.flushed_ns or self._observed.from_ns, self.last_ns
        if first_ns is not None and last_ns > first_ns:
            windows.flush(first_ns, last_ns)

    def predict(self, now_ns: int, *, whole: bool = False) -> Prediction:
        """Says what is known of the job's rhythm.

        Args:
            now_ns: the present, on the clock of the events. Data later than now (a node's clock that is ahead) move
                the end of the window with them.
            whole: look at the whole observation, whatever the window, and leave the window's adaptation as it is.
        """
        self.changed = False
        if whole:
            view, rhythm = self._lookout.whole(now_ns)
            rhythm = replace(rhythm, others=self._look_for_others(rhythm, now_ns))
            return prediction_of(self.job, self.settings, view, rhythm, made_at_s=now_ns / 1e9, adapted=False)
        if (repeated := self._repeated(now_ns)) is not None:
            return repeated
        adapted = self._lookout.adapted
        view, rhythm = self._lookout.look(now_ns, self._data_until_ns)
        rhythm = replace(rhythm, others=self._known_others(rhythm, now_ns))
        self._last = prediction_of(self.job, self.settings, view, rhythm, made_at_s=now_ns / 1e9, adapted=adapted)
        self._estimated_ns, self._resumed = now_ns, False
        return self._last

    def series(self, from_ns: int, to_ns: int) -> SignalSeries:
        """Returns reads and writes over time, in the finest bins of which there are enough."""
        return self._observed.series(self.job, from_ns, to_ns)

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
        if not fresh or last.confidence < SETTLED or now_ns / 1e9 >= start.value:
            return None
        start = start.model_copy(update={"low": max(start.low, now_ns / 1e9)})
        upcoming = last.next_phase.model_copy(update={"start_s": start})
        return last.model_copy(update={"made_at_s": now_ns / 1e9, "next_phase": upcoming})

    def _known_others(self, rhythm: Rhythm, now_ns: int) -> list[OtherRhythm]:
        """Returns the further rhythms, looked for now and then, or when the main one has become another."""
        if rhythm.period_s is None or rhythm.confidence < TRUSTED:
            self._others, self._others_of_s, self._others_age = [], 0.0, 0
            return []
        period_s = rhythm.period_s.value
        self._others_age += 1
        changed = not self._others_of_s or abs(math.log(period_s / self._others_of_s)) > SAME
        if changed or self._others_age >= _OTHERS_EVERY:
            self._others, self._others_of_s = self._look_for_others(rhythm, now_ns), period_s
            self._others_age = 0
        return self._others

    def _look_for_others(self, rhythm: Rhythm, now_ns: int) -> list[OtherRhythm]:
        """Looks for further rhythms at the main one's level, at a finer one too, and for earlier ones at a coarser."""
        if rhythm.period_s is None or self.settings.method != "tide":
            return []
        period_s, end_ns = rhythm.period_s.value, max(now_ns, self.last_ns)
        start_ns = self._observed.first_ns(end_ns)
        level = self._observed.resolutions.of_period(period_s)

        def at(level: int) -> list[OtherRhythm]:
            return other_rhythms(self._observed.view(level, now_ns, start_ns, start_ns, 0.0), period_s)

        found = at(level)
        if level > 0 and all(each.relation != "within" for each in found):
            found += [each for each in at(max(level - 2, 0)) if each.relation == "within"]
        whole = self._observed.resolutions.of_span(end_ns - start_ns)
        if whole > level and all(each.relation != "earlier" for each in found):
            found += [each for each in at(whole) if each.relation == "earlier"]
        return found
