"""Groups with rhythms of their own in a finished trace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...events import EventBatch, FileInfo, StreamInfo, make_batch
from ...events.models import Prediction
from ..groups.answer import Found, answer_with
from ..groups.update import FEWEST_MEMBERS, MOST_GROUPS, GroupAnalyzer
from ..rhythm.tuning import TUNING
from ..rhythm.view import View
from ..settings import DetectSettings
from .groups import FEWEST_REQUESTS, edges_of
from .trace import examine


class Apart(NamedTuple):
    """The events of a trace and whose they are.

    Attributes:
        batches: the events of all streams in one numbering of files, each batch with its stream.
        files: what file numbers mean.
        left_out: what does not count, by file number.
    """

    batches: Sequence[tuple[EventBatch, StreamInfo]]
    files: Sequence[FileInfo]
    left_out: npt.NDArray[np.uint8]


def groups_wanted(settings: DetectSettings) -> bool:
    """Tells whether groups are looked for."""
    return settings.group_members >= FEWEST_MEMBERS and settings.method == "tide" and settings.sampling == "volume"


def with_groups(prediction: Prediction, view: View, apart: Apart, settings: DetectSettings) -> tuple[Prediction, View]:
    """Returns what is said of a trace whose members form groups, and the signal that the main answer is of.

    Args:
        prediction: what was found in the signal of the whole trace.
        view: that signal.
        apart: the events.
        settings: method and limits.
    """
    batches, files, left_out = apart
    analyzer = GroupAnalyzer(settings)
    for batch, info in batches:
        analyzer.update(batch, info, files, left_out)
    groups = analyzer.grouped()[:MOST_GROUPS]
    if len(groups) < 2:
        return prediction, view
    group_of = np.full(len(analyzer.members), -1, np.int64)
    for number, group in enumerate(groups):
        group_of[group] = number
    own: list[list[tuple[EventBatch, npt.NDArray[np.uint8]]]] = [[] for _ in groups]
    for batch, info in batches:
        numbered = analyzer.numbered(batch, info, files, left_out) if len(batch) else None
        if numbered is None:
            continue
        member, rows = numbered
        number_of = group_of.take(member)
        for number in range(len(groups)):
            chosen = np.flatnonzero(number_of == number)
            if len(chosen):
                own[number].append((batch.select(chosen if rows is None else rows[chosen]), left_out))
    edges = edges_of([(batch, left_out) for batch, _ in batches])
    first = [make_batch(1, {"start": batch.start[:1]}) for batch, _ in edges]
    found, views = [], {}
    for group, events in zip(groups, own, strict=True):
        if sum(len(batch) for batch, _ in events) >= FEWEST_REQUESTS:
            theirs, seen = examine([*events, *edges], settings, prediction.job)
            if theirs.confidence < TUNING.same.sure:  # what ended earlier than the trace is silent since
                until, then = examine([*events, *((batch, left_out) for batch in first)], settings, prediction.job)
                if until.confidence > theirs.confidence:
                    theirs, seen = until.without_next(), then
            views[id(theirs.period_s)] = seen
            volume = float(sum(int(batch.bytes.sum()) for batch, _ in events))
            found.append(Found([analyzer.members.all[member] for member in group], volume, theirs))
    told = answer_with(prediction, found)
    return told, views.get(id(told.period_s), view)
