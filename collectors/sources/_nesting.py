"""Determine from times alone which calls were made by another traced layer."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def nesting_depths(
    start: npt.NDArray[np.int64],
    duration: npt.NDArray[np.int64],
    thread: npt.NDArray[Any],
    layer: npt.NDArray[Any],
) -> npt.NDArray[np.int64]:
    """Return the number of enclosing calls of other layers per call, int64.

    It is for traces without nesting information.

    A call is nested in a call of the same thread that begins no later and ends no earlier. Calls of one layer are never
    nested, because coarse clocks make consecutive calls touch. Only the given calls are considered.

    Args:
        start: start of each call, ns.
        duration: duration of each call, ns.
        thread: thread of each call, as arbitrary numbers.
        layer: layer of each call, as ``schema.Layer``.
    """
    depths = np.zeros(len(start), np.int64)
    if not len(layer) or (layer == layer[0]).all():
        return depths
    end = start + duration
    order = np.lexsort((-duration, start, thread))
    within: list[tuple[int, int, int]] = []  # end, layer, depth
    current = None
    rows = zip(order.tolist(), start[order].tolist(), end[order].tolist(), thread[order].tolist(),
               layer[order].tolist(), strict=True)  # fmt: skip
    for row, begins, ends, of_thread, of_layer in rows:
        if of_thread != current:
            within.clear()
            current = of_thread
        while within and (within[-1][0] <= begins or within[-1][0] < ends):
            within.pop()
        depth = within[-1][2] + (within[-1][1] != of_layer) if within else 0
        depths[row] = depth
        within.append((ends, of_layer, depth))
    return depths
