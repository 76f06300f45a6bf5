"""Calls made by another traced layer: their depths from times alone, and the bytes of calls without a byte count."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


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


def bytes_with_nested(
    depth: npt.NDArray[Any], kind: npt.NDArray[Any], size: Ints, unmeasured: npt.NDArray[np.bool_]
) -> Ints:
    """Return the bytes of calls, int64. An unmeasured call gets the bytes that nested calls moved in its direction.

    Only bytes at depth 0 count towards a job's volume. Without this, an ``H5Dwrite`` of unknown size would hide the
    bytes of the ``pwrite`` within it. Among nested calls, the outermost one with a byte count is used.

    Args:
        depth: depth of each call of one thread; each call is followed by those nested in it.
        kind: kind of each call, as ``schema.Kind``.
        size: bytes of each call.
        unmeasured: whether the call moves bytes but has no byte count.
    """
    if not unmeasured.any():
        return size
    made = np.where(unmeasured, 0, size)
    open_: list[tuple[int, int, int]] = []  # depth, kind, row
    covered = np.iinfo(np.int64).max
    rows = zip(depth.tolist(), kind.tolist(), size.tolist(), unmeasured.tolist(), strict=True)
    for row, (at, of_kind, moved, unknown) in enumerate(rows):
        while open_ and open_[-1][0] >= at:
            open_.pop()
        if at <= covered:
            covered = np.iinfo(np.int64).max
        if unknown:
            open_.append((at, of_kind, row))
        elif moved and covered > at and open_:
            for _, wanted, outer in open_:
                if wanted == of_kind:
                    made[outer] += moved
            covered = at
    return made
