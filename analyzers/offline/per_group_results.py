"""Separate results for each rank, node, file or job of a finished trace."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Final

import numpy as np
import numpy.typing as npt

from ...events import EventBatch, Kind, make_batch
from ...results.traces.analysis import Group, Grouping, GroupKind
from ..common.sorting import Ordering, Reiterable, ordered
from ..settings import DetectSettings
from ..signal.selection import counted
from .requests import Batches
from .trace import detect

Keys = Iterable[npt.NDArray[np.int64]]

MIN_REQUESTS: Final = 4  # minimum requests of an analyzed group


def analyse_groups(
    batches: Batches,
    keys: Keys,
    names: Sequence[str],
    settings: DetectSettings,
    by: GroupKind,
    top: int,
    progress: Callable[[int, int], None] = lambda done, total: None,
    ordering: Ordering = ordered,
) -> Grouping:
    """Find the period of each of the largest groups. Each is searched over the time of the whole trace.

    Args:
        batches: events of all streams, each batch with the mask of its stream's files.
        keys: group number of each event, one array per batch.
        names: group names by number.
        settings: method, limits, and the mode that decides which bytes count.
        by: kind of the groups.
        top: maximum number of analyzed groups, largest by bytes.
        progress: callback with the number of finished groups and the total.
        ordering: function that sorts the requests for ``sampling="point"``; in memory by default.
    """
    requests, moved = np.zeros(len(names), np.int64), np.zeros(len(names))
    read, written = np.zeros(len(names)), np.zeros(len(names))
    for (batch, left_out), key in zip(batches, keys, strict=True):
        rows = counted(batch, left_out, settings.mode)
        requests += np.bincount(key[rows], minlength=len(names))
        moved += np.bincount(key[rows], batch.bytes[rows], len(names))
        every = counted(batch, left_out, "both")
        is_read = batch.kind == Kind.READ
        read += np.bincount(key[every & is_read], batch.bytes[every & is_read], len(names))
        written += np.bincount(key[every & ~is_read], batch.bytes[every & ~is_read], len(names))
    order = [number for number in np.argsort(-moved, kind="stable").tolist() if requests[number]]
    edges = edges_of(batches)

    def own(number: int) -> Iterator[tuple[EventBatch, npt.NDArray[np.uint8]]]:
        for (batch, left_out), key in zip(batches, keys, strict=True):
            yield batch.select(counted(batch, left_out, settings.mode) & (key == number)), left_out
        yield from edges

    groups: list[Group] = []
    for number in order[:top]:
        prediction, note = None, ""
        if requests[number] < MIN_REQUESTS:
            note = f"too small: {requests[number]} of at least {MIN_REQUESTS} requests"
        else:
            prediction = detect(Reiterable(partial(own, number)), settings, names[number], ordering)
        groups.append(
            Group(
                name=names[number],
                requests=int(requests[number]),
                bytes_read=int(read[number]),
                bytes_written=int(written[number]),
                prediction=prediction,
                note=note,
            )
        )
        progress(len(groups), min(top, len(order)))
    return Grouping(
        by=by,
        groups=groups,
        left_out=len(order[top:]),
        bytes_left_out=int(sum(moved[number] for number in order[top:])),
    )


def edges_of(batches: Iterable[tuple[EventBatch, object]]) -> list[tuple[EventBatch, npt.NDArray[np.uint8]]]:
    """Create events without bytes at the start and end of the trace. Groups are then observed over all of it."""
    first = last = None
    for batch, _ in batches:
        if len(batch):
            low, high = int(batch.start.min()), int(batch.end.max())
            first, last = low if first is None else min(first, low), high if last is None else max(last, high)
    if first is None or last is None:
        return []
    return [(make_batch(2, {"start": np.array([first, last])}), np.zeros(0, np.uint8))]
