"""Groups with separate periods in a finished trace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ...events import EventBatch, FileInfo, StreamInfo, make_batch
from ...results.prediction import OtherPeriod, Prediction
from ..common.sorting import Reiterable
from ..groups.group_prediction import GroupedPrediction, GroupResult, combine_predictions
from ..groups.update import MAX_GROUPS, MIN_MEMBERS, GroupAnalyzer
from ..periodicity.estimator import SignalWindow
from ..periodicity.tuning import TUNING
from ..settings import DetectSettings
from .per_group_results import MIN_REQUESTS, edges_of
from .phase_signal import phases_of, signal_of
from .requests import Batches
from .trace import examine

Floats: TypeAlias = npt.NDArray[np.float64]


class MemberEvents(NamedTuple):
    """Events of a trace with their members.

    Attributes:
        batches: events of all streams in one numbering of files, each batch with its stream.
        files: files by number.
        left_out: mask of directions that do not count, by file number.
    """

    batches: Iterable[tuple[EventBatch, StreamInfo]]
    files: Sequence[FileInfo]
    left_out: npt.NDArray[np.uint8]


def groups_wanted(settings: DetectSettings) -> bool:
    """Return whether groups are searched."""
    return settings.group_members >= MIN_MEMBERS and settings.method == "tide" and settings.sampling == "volume"


class SecondaryResult(NamedTuple):
    """A period beside the main one.

    Attributes:
        other: public result for this period.
        prediction: prediction for the signal of its members.
        own: events of its members, which can be iterated several times.
    """

    other: OtherPeriod
    prediction: Prediction
    own: Batches


class GroupedResult(NamedTuple):
    """Result for a trace whose members form groups.

    Attributes:
        prediction: main period, with the other periods beside it.
        view: signal of the main period.
        own: events of the members with the main period, which can be iterated several times; None if all have it.
        beside: other periods of the prediction that groups have, in the same order.
    """

    prediction: Prediction
    view: SignalWindow
    own: Batches | None = None
    beside: tuple[SecondaryResult, ...] = ()


class _GroupedEvents:
    """Events of a trace by group of members.

    Args:
        events: events with their members.
        analyzer: analyzer that has seen them.
        groups: numbers of the members of each group.

    Attributes:
        edges: events without bytes at the start and end of the trace, so that each group is observed over all of it.
    """

    def __init__(self, events: MemberEvents, analyzer: GroupAnalyzer, groups: Sequence[Sequence[int]]) -> None:
        self.edges = edges_of(events.batches)
        self._events = events
        self._analyzer = analyzer
        self._members = [{analyzer.members.all[member].key for member in group} for group in groups]
        self._group_of = np.full(len(analyzer.members), -1, np.int64)
        for number, group in enumerate(groups):
            self._group_of[group] = number

    def totals(self) -> tuple[npt.NDArray[np.int64], Floats, Floats, Floats]:
        """Return events, bytes, time span and final silence of each group.

        The span is from the first to the last start, the silence from there to the last start of the trace, s.
        """
        length = len(self._members)
        volume, counts = np.zeros(length), np.zeros(length, np.int64)
        since, until = np.full(length + 1, np.inf), np.full(length + 1, -np.inf)
        for batch, number_of, rows in self._numbered():
            of_group = np.where(number_of < 0, length, number_of)
            times = np.broadcast_to(batch.start if rows is None else batch.start.take(rows), of_group.shape) / 1e9
            np.minimum.at(since, of_group, times)
            np.maximum.at(until, of_group, times)
            moved = np.broadcast_to(batch.bytes if rows is None else batch.bytes.take(rows), of_group.shape)
            counts += np.bincount(of_group, minlength=length + 1)[:-1]
            volume += np.bincount(of_group, moved, length + 1)[:-1]
        return counts, volume, (until - since)[:-1], (until.max() - until)[:-1]

    def of(self, *numbers: int, edges: Batches | None = None) -> Batches:
        """Return the events of groups, and the edges of the trace; can be iterated several times."""
        return Reiterable(lambda: chain(self._selected(numbers), self.edges if edges is None else edges))

    def of_result(self, group: GroupResult) -> Batches:
        """Return the events of all groups whose members are in a result."""
        members = {each.key for each in group.members}
        return self.of(*(number for number, each in enumerate(self._members) if each <= members))

    def _numbered(self) -> Iterator[tuple[EventBatch, npt.NDArray[np.int64], npt.NDArray[np.intp] | None]]:
        """Yield each batch with the groups and rows of its events that count.

        The group is -1 for members without a group, and the rows are None for all.
        """
        batches, files, left_out = self._events
        for batch, info in batches:
            numbered = self._analyzer.numbered(batch, info, files, left_out) if len(batch) else None
            if numbered is not None:
                yield batch, self._group_of.take(numbered[0]), numbered[1]

    def _selected(self, numbers: Sequence[int]) -> Iterator[tuple[EventBatch, npt.NDArray[np.uint8]]]:
        for batch, number_of, rows in self._numbered():
            chosen = np.flatnonzero(np.isin(number_of, numbers))
            if len(chosen):
                yield batch.select(chosen if rows is None else rows[chosen]), self._events.left_out


def with_groups(
    prediction: Prediction, view: SignalWindow, apart: MemberEvents, settings: DetectSettings
) -> GroupedResult:
    """Search for groups of members with separate periods.

    Args:
        prediction: prediction for the signal of the whole trace.
        view: that signal.
        apart: events with their members.
        settings: method and limits.
    """
    analyzer = GroupAnalyzer(settings)
    for batch, info in apart.batches:
        analyzer.update(batch, info, apart.files, apart.left_out)
    groups = analyzer.grouped()[:MAX_GROUPS]
    if len(groups) < 2:
        return GroupedResult(prediction, view)
    events = _GroupedEvents(apart, analyzer, groups)
    counts, volume, span_s, silent_s = events.totals()
    found, views = [], {}
    for number in np.flatnonzero(counts >= MIN_REQUESTS).tolist():
        own, seen = _period_of(events, number, settings, prediction.job)
        views[id(own.period_s)] = seen
        members = [analyzer.members.all[member] for member in groups[number]]
        found.append(GroupResult(members, float(volume[number]), own, float(span_s[number]), float(silent_s[number])))
    combined = combine_predictions(prediction, found)
    combined, beside = _counted(combined, [events.of_result(group) for group in combined.beside], settings)
    result, main, _ = combined
    if main is None:
        return GroupedResult(result, view, beside=beside)
    return GroupedResult(result, views.get(id(result.period_s), view), events.of_result(main), beside)


def _period_of(
    events: _GroupedEvents, number: int, settings: DetectSettings, job: str
) -> tuple[Prediction, SignalWindow]:
    """Find the period of a group.

    A group may have ended before the trace. It is then also searched without the silence since.
    """
    prediction, view = examine(events.of(number), settings, job)
    if prediction.confidence < TUNING.tolerances.certain_confidence:
        begin = [(make_batch(1, {"start": batch.start[:1]}), left_out) for batch, left_out in events.edges]
        ended, until_end = examine(events.of(number, edges=begin), settings, job)
        if ended.confidence > prediction.confidence:
            return ended.without_next(), until_end
    return prediction, view


def _counted(
    answer: GroupedPrediction, events: Sequence[Batches], settings: DetectSettings
) -> tuple[GroupedPrediction, tuple[SecondaryResult, ...]]:
    """Count the phases of the periods beside the main one, as shown in pictures."""
    made: list[SecondaryResult] = []
    others = answer.prediction.others
    first = len(others) - len(events)
    for other, group, own in zip(others[first:], answer.beside, events, strict=True):
        count = len(phases_of(signal_of(own, settings, group.prediction), group.prediction))
        made.append(SecondaryResult(other.model_copy(update={"phases": max(count, 2)}), group.prediction, own))
    counted = answer.prediction.model_copy(update={"others": [*others[:first], *(each.other for each in made)]})
    return answer._replace(prediction=counted), tuple(made)
