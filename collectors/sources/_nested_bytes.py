"""Bytes of calls that do not say how many they moved: those of the calls that they made."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


def bytes_with_those_below(
    depth: npt.NDArray[Any], kind: npt.NDArray[Any], size: Ints, unmeasured: npt.NDArray[np.bool_]
) -> Ints:
    """Returns the bytes of calls, int64; an unmeasured one has those that calls within it moved in its direction.

    Only bytes at depth 0 count towards a job's volume: without this an ``H5Dwrite`` of unknown size would hide what the
    ``pwrite`` within it wrote. Of calls within each other the outermost that says its bytes counts.

    Args:
        depth: of each call of a thread, each followed by those within it.
        kind: of each call, as ``schema.Kind``.
        size: of each call, bytes.
        unmeasured: whether a call moves bytes and does not say how many.
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
