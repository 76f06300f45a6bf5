"""Incremental groups of a running job. It takes batches of events, and returns predictions with groups on request."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from ...events import EventBatch, FileInfo, StreamInfo
from ...results.prediction import Prediction
from ..online.job_signal import JobSignal, ReadWriteSignals
from ..online.resolution_search import ResolutionSearch
from ..periodicity.estimators.named_estimators import prediction_of
from ..periodicity.tuning import TUNING
from ..settings import DetectSettings
from ..signal.bandwidth import BandwidthSignal, Resolutions
from ..signal.ring import Floats
from ..signal.selection import LeftOut, counted
from .group_prediction import GroupResult, combine_predictions
from .member_signals import BINS, LEVELS, MemberSignals
from .members import Members, OriginColumns
from .simultaneous_groups import simultaneous_groups

Ints = npt.NDArray[np.int64]

MIN_MEMBERS: Final = 8
"""Minimum of the setting ``group_members``; below it no groups are searched."""
MAX_GROUPS: Final = 4
"""Maximum number of analyzed groups, by descending bytes."""


class GroupAnalyzer:
    """Tracks the members of one job. ``group_members`` bounds memory and, with the number of events, the work.

    Args:
        settings: method and limits.
    """

    def __init__(self, settings: DetectSettings) -> None:
        self.members = Members(max(settings.group_members, MIN_MEMBERS))
        self.signals = MemberSignals(settings.bin_ns)
        self._settings = settings
        self._from_ns: int | None = None
        self._groups: list[_Group] = []
        self._age = 0

    def update(
        self,
        batch: EventBatch,
        info: StreamInfo,
        files: Sequence[FileInfo],
        left_out: LeftOut,
        until_ns: int | None = None,
    ) -> None:
        """Add events of one stream, in any order.

        Args:
            batch: events.
            info: introduction of the stream.
            files: files by number, the same for all streams.
            left_out: mask of directions that do not count, by file number.
            until_ns: current time if known; later events are dropped.
        """
        self.update_streams(batch, [info], [len(batch)], files, left_out, until_ns)

    def update_streams(
        self,
        batch: EventBatch,
        infos: Sequence[StreamInfo],
        lengths: Sequence[int],
        files: Sequence[FileInfo],
        left_out: LeftOut,
        until_ns: int | None = None,
    ) -> None:
        """Add events of several streams at once, one stream after the other. Streams of short processes are many.

        Args:
            batch: events.
            infos: introductions of the streams.
            lengths: number of events of each.
            files: as in ``update``, like the others.
            left_out: mask of directions that do not count.
            until_ns: current time.
        """
        if not len(batch):
            return
        first = int(batch.start.min())
        self._from_ns = first if self._from_ns is None else min(self._from_ns, first)
        numbered = self._numbered(batch, infos, lengths, files, left_out)
        if numbered is not None:
            member, rows = numbered
            start, duration, volume = (
                np.asarray(each if rows is None else each.take(rows), np.int64)
                for each in (batch.start, batch.duration, batch.bytes)
            )
            self.signals.add(member, start, start + duration, volume, len(self.members), until_ns)

    def numbered(
        self, batch: EventBatch, info: StreamInfo, files: Sequence[FileInfo], left_out: LeftOut
    ) -> tuple[Ints, npt.NDArray[np.intp] | None] | None:
        """Return the members of the events of a stream that count, and their rows (None for all).

        Returns None if no event counts.
        """
        return self._numbered(batch, [info], [len(batch)], files, left_out)

    def _numbered(
        self,
        batch: EventBatch,
        infos: Sequence[StreamInfo],
        lengths: Sequence[int],
        files: Sequence[FileInfo],
        left_out: LeftOut,
    ) -> tuple[Ints, npt.NDArray[np.intp] | None] | None:
        counting = counted(batch, left_out, self._settings.mode)
        rows = None if counting.all() else np.flatnonzero(counting)
        if rows is not None and not len(rows):
            return None
        member, merged = self.members.numbers(OriginColumns.of(batch, lengths, rows), infos, files)
        for new in merged:
            self.signals.merge_members(new, int(new.max()) + 1)
            self._groups, self._age = [], 0
        return member, rows

    def grouped(self) -> list[list[int]]:
        """Return the members in groups, by number, by descending bytes."""
        if len(self.members) < 2 or not self.signals.levels:
            return []
        return simultaneous_groups(self.signals, [member.key for member in self.members.all])

    def answer(self, prediction: Prediction, now_ns: int, *, whole: bool = False) -> Prediction:
        """Extend a prediction of the whole job by its groups.

        Args:
            prediction: prediction for the signal of the whole job.
            now_ns: current time.
            whole: whether to analyze the whole observation, for the final result of a job.
        """
        if len(self.members) < 2 or self._from_ns is None:
            return prediction
        # a new member's I/O is missing in its group until the groups are updated
        grown = sum(len(group.members) for group in self._groups) != len(self.members)
        turn = whole or self._age % TUNING.grouping.predictions_per_search == 0
        if turn or grown:
            self._group()
        self._age += 1
        if len(self._groups) < 2 or (not turn and self._is_explained(prediction)):
            return prediction
        found = []
        until_ns = max(group.signal.last_ns or 0 for group in self._groups)
        for group in self._groups[:MAX_GROUPS]:
            last_ns = group.signal.last_ns or 0
            # a group that ended earlier than the job is silent since, which is not part of its period
            view, periodicity = (
                group.resolution_search.whole(last_ns) if whole else group.resolution_search.search(now_ns, last_ns)
            )
            own = prediction_of(
                prediction.job,
                self._settings,
                view,
                periodicity,
                made_at_s=now_ns / 1e9,
                adapted=group.resolution_search.adapted,
            )
            members = [self.members.all[member] for member in group.members]
            silent_s = (until_ns - last_ns) / 1e9
            found.append(GroupResult(members, group.signal.moved, own, group.signal.span_s, silent_s))
        return combine_predictions(prediction, found).prediction

    def _is_explained(self, prediction: Prediction) -> bool:
        """Return whether the whole job's period predicts its phases. No group may be known to have another period."""
        period, coming = prediction.period_s, prediction.next_phase
        if (
            period is None
            or coming is None
            or min(prediction.confidence, coming.confidence) < TUNING.tolerances.certain_confidence
        ):
            return False
        known = [group.resolution_search.known_period_s for group in self._groups[:MAX_GROUPS]]
        return all(
            each is None or abs(math.log(each / period.value)) < TUNING.tolerances.equal_period_log for each in known
        )

    def _group(self) -> None:
        """Search groups again; a group that keeps most of its members continues."""
        known, self._groups = self._groups, []
        for members in self.grouped():
            before = next((group for group in known if 2 * len(set(members) & set(group.members)) > len(members)), None)
            if before is None:
                before = _Group.of(self.signals, self._settings, self._from_ns or 0)
            else:
                known.remove(before)
            before.change(members)
            self._groups.append(before)

    def losses(self) -> dict[str, int]:
        """Return how often members were merged because of the bound. It also returns the number of dropped events."""
        losses = {"members": self.members.joined, "ahead": self.signals.ahead}
        return {reason: number for reason, number in losses.items() if number}


class _Resolutions(Resolutions, frozen=True):
    """Levels of the signals of members, which have fewer bins. A period has 16 to 64 of them."""

    def of_period(self, period_s: float, current: int | None = None) -> int:
        """Return the level at which a period has 16 to 64 bins. The current one while it is close to that."""
        return super().of_period(2 * period_s, current)


class _GroupSignal(BandwidthSignal):
    """Bytes of some members, read from the signals of all."""

    def __init__(self, signals: MemberSignals, members: list[int]) -> None:
        super().__init__(signals.bin_ns, BINS, LEVELS)
        self._signals = signals
        self._members = members
        self._until: tuple[int, int | None] = (-1, None)

    @property
    def last_ns(self) -> int | None:
        """End of the latest bin with bytes, ns."""
        if self._until[0] != self._signals.version:
            self._until = self._signals.version, self._signals.until_ns(np.array(self._members, np.int64))
        return self._until[1]

    @property
    def span_s(self) -> float:
        """Time from the first to the last bin with bytes, s."""
        members = np.array(self._members, np.int64)
        return ((self.last_ns or 0) - (self._signals.since_ns(members) or 0)) / 1e9

    def forget(self) -> None:
        """Invalidate the cache after a change of members."""
        self._until = (-1, None)

    @property
    def moved(self) -> float:
        """Bytes in all bins of the coarsest level."""
        return float(self._signals.bins_of_members(self._signals.levels - 1)[self._members].sum())

    def bins(self, level: int, low: int, high: int) -> Floats:
        return self._signals.read(level, low, high, np.array(self._members, np.int64))


class _GroupSignals(ReadWriteSignals):
    def __init__(self, settings: DetectSettings, signal: BandwidthSignal, from_ns: int) -> None:
        super().__init__(settings)
        self.resolutions = _Resolutions(signal.bin_ns, BINS, LEVELS)
        self.reads = signal  # both directions
        self.from_ns = from_ns


class _Group(Struct, eq=False):
    """Members with simultaneous phases, and the search state of their period."""

    members: list[int]
    signal: _GroupSignal
    resolution_search: ResolutionSearch

    def change(self, members: list[int]) -> None:
        """Replace the members."""
        self.members[:] = members
        self.signal.forget()

    @classmethod
    def of(cls, signals: MemberSignals, settings: DetectSettings, from_ns: int) -> _Group:
        members: list[int] = []
        signal = _GroupSignal(signals, members)
        one_way = settings.model_copy(update={"mode": "read"})
        seen = _GroupSignals(one_way, signal, from_ns)
        return cls(members, signal, ResolutionSearch(JobSignal(one_way, seen), one_way))
