"""Events sorted by activity, so that statistics are sums over runs instead of table look-ups."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from .state import Ints, Rows

_BYTE: Final = 1 << 8
_SHORT: Final = 1 << 16


class Groups(NamedTuple):
    """Columns sorted by activity; events of one activity keep their order.

    Attributes:
        rows: activities that occur, ascending, intp[k].
        heads: first event of each, intp[k].
        lengths: number of events of each, intp[k], none of them 0.
        start: ns, int64[n].
        duration: ns, int64[n].
        size: bytes, int64[n], -1 if unknown.
    """

    rows: Rows
    heads: Rows
    lengths: Rows
    start: Ints
    duration: Ints
    size: Ints

    def spread(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Repeat a value per activity [k] for each of its events."""
        return np.repeat(values, self.lengths)


def grouped(activity: Rows, start: Ints, duration: Ints, size: Ints) -> Groups:
    """Group events by activity; columns of shape (n,), n >= 1."""
    counts = np.bincount(activity)
    rows = np.flatnonzero(counts)
    lengths = counts[rows]
    if len(rows) > 1:
        order = order_of(activity, len(counts))
        start, duration, size = start.take(order), duration.take(order), size.take(order)
    return Groups(rows, np.cumsum(lengths) - lengths, lengths, start, duration, size)


def order_of(number: npt.NDArray[np.integer[Any]], width: int) -> Rows:
    """Return the stable order of numbers below ``width``; fewer bits sort faster."""
    if width <= _BYTE:
        number = number.astype(np.uint8)
    elif width <= _SHORT:
        number = number.astype(np.uint16)
    return np.argsort(number, kind="stable")
