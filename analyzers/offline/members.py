"""Groups with separate periods in a finished trace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...events import EventBatch, FileInfo, StreamInfo, make_batch
from ...results.prediction import OtherPeriod, Prediction
from ..common.reiterable import Reiterable
from ..groups.group_prediction import GroupedPrediction, GroupResult, combine_predictions
from ..groups.update import MAX_GROUPS, MIN_MEMBERS, GroupAnalyzer
from ..periodicity.estimator import SignalWindow
from ..periodicity.tuning import TUNING
from ..settings import DetectSettings
from .groups import MIN_REQUESTS, edges_of
from .phase_signal import phases_of, signal_of
from .requests import Batches
from .trace import examine


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
    batches, files, left_out = apart
    analyzer = GroupAnalyzer(settings)
    for batch, info in batches:
        analyzer.update(batch, info, files, left_out)
    groups = analyzer.grouped()[:MAX_GROUPS]
    if len(groups) < 2:
        return GroupedResult(prediction, view)
    group_of = np.full(len(analyzer.members), -1, np.int64)
    for number, group in enumerate(groups):
        group_of[group] = number
    volume = np.zeros(len(groups))
    counts = np.zeros(len(groups), np.int64)
    since, until = np.full(len(groups) + 1, np.inf), np.full(len(groups) + 1, -np.inf)

    def numbered() -> Iterator[tuple[EventBatch, npt.NDArray[np.int64], npt.NDArray[np.intp] | None]]:
        for batch, info in batches:
            told = analyzer.numbered(batch, info, files, left_out) if len(batch) else None
            if told is not None:
                yield batch, group_of.take(told[0]), told[1]

    def own(*numbers: int) -> Iterator[tuple[EventBatch, npt.NDArray[np.uint8]]]:
        for batch, number_of, rows in numbered():
            chosen = np.flatnonzero(np.isin(number_of, numbers))
            if len(chosen):
                yield batch.select(chosen if rows is None else rows[chosen]), left_out

    for batch, number_of, rows in numbered():
        of_group = np.where(number_of < 0, len(groups), number_of)
        times = np.broadcast_to(batch.start if rows is None else batch.start.take(rows), of_group.shape) / 1e9
        np.minimum.at(since, of_group, times)
        np.maximum.at(until, of_group, times)
        moved = np.broadcast_to(batch.bytes if rows is None else batch.bytes.take(rows), of_group.shape)
        counts += np.bincount(of_group, minlength=len(groups) + 1)[:-1]
        volume += np.bincount(of_group, moved, len(groups) + 1)[:-1]
    edges = edges_of(batches)
    first = [(make_batch(1, {"start": batch.start[:1]}), left_out) for batch, left_out in edges]
    found, views = [], {}
    for number, group in enumerate(groups):
        if counts[number] >= MIN_REQUESTS:
            mine = partial(own, number)
            theirs, seen = examine(Reiterable(lambda: chain(mine(), edges)), settings, prediction.job)  # noqa: B023
            if (
                theirs.confidence < TUNING.tolerances.certain_confidence
            ):  # a group that ended before the trace has been silent since
                ended, then = examine(Reiterable(lambda: chain(mine(), first)), settings, prediction.job)  # noqa: B023
                if ended.confidence > theirs.confidence:
                    theirs, seen = ended.without_next(), then
            views[id(theirs.period_s)] = seen
            members = [analyzer.members.all[member] for member in group]
            found.append(GroupResult(members, float(volume[number]), theirs, float(until[number] - since[number])))

    def events_of(group: GroupResult) -> Batches:
        members = {each.key for each in group.members}
        its = [number for number, each in enumerate(groups) if analyzer.members.all[each[0]].key in members]
        return Reiterable(lambda: chain(own(*its), edges))

    answer = combine_predictions(prediction, found)
    answer, beside = _counted(answer, [events_of(group) for group in answer.beside], settings)
    told, main, _ = answer
    if main is None:
        return GroupedResult(told, view, beside=beside)
    return GroupedResult(told, views.get(id(told.period_s), view), events_of(main), beside)


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
    told = answer.prediction.model_copy(update={"others": [*others[:first], *(each.other for each in made)]})
    return answer._replace(prediction=told), tuple(made)
