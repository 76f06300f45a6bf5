"""Events by activity: sorted once, so that each statistic is a sum over stretches and not a walk over a table."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from .state import Ints, Rows

_BYTE: Final = 1 << 8
_SHORT: Final = 1 << 16


class Groups(NamedTuple):
    """Columns in which the events of one activity stand behind one another, in the order in which they came.

    Attributes:
        rows: activities that occur, ascending, intp[k].
        heads: where the events of each begin, intp[k].
        lengths: how many there are, intp[k], none of them 0.
        start: ns, int64[n].
        duration: ns.
        size: bytes, -1 where there is none.
    """

    rows: Rows
    heads: Rows
    lengths: Rows
    start: Ints
    duration: Ints
    size: Ints

    def spread(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Returns the value of each event's activity, of values [k]."""
        return np.repeat(values, self.lengths)


def grouped(activity: Rows, start: Ints, duration: Ints, size: Ints) -> Groups:
    """Groups events by activity; columns of shape (n,), n >= 1."""
    counts = np.bincount(activity)
    rows = np.flatnonzero(counts)
    lengths = counts[rows]
    if len(rows) > 1:
        order = order_of(activity, len(counts))
        start, duration, size = start.take(order), duration.take(order), size.take(order)
    return Groups(rows, np.cumsum(lengths) - lengths, lengths, start, duration, size)


def order_of(number: npt.NDArray[np.integer[Any]], width: int) -> Rows:
    """Returns the stable order of numbers below ``width``; the fewer bits they have, the faster."""
    if width <= _BYTE:
        number = number.astype(np.uint8)
    elif width <= _SHORT:
        number = number.astype(np.uint16)
    return np.argsort(number, kind="stable")
