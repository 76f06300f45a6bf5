"""Compute bytes for calls without a byte count from the calls nested in them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


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
