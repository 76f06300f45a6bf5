"""Bytes of calls without a byte count, from their nested calls."""

from __future__ import annotations

import numpy as np
from iotide.collectors.sources._nesting import bytes_with_nested
from iotide.events import Kind

READ, WRITE = int(Kind.READ), int(Kind.WRITE)


def made(*calls: tuple[int, int, int]) -> list[int]:
    """Each call: depth, kind, bytes; -1 for unknown."""
    depth, kind, size = (np.array(column) for column in zip(*calls, strict=True))
    return bytes_with_nested(depth, kind, np.maximum(size, 0), size < 0).tolist()


def test_measured_calls_keep_their_bytes() -> None:
    assert made((0, WRITE, 10), (1, WRITE, 20), (0, READ, 5)) == [10, 20, 5]


def test_unmeasured_call_has_what_its_direction_moved_within_it() -> None:
    assert made((0, WRITE, -1), (1, WRITE, 20), (1, READ, 7), (1, WRITE, 1), (0, WRITE, 9)) == [21, 20, 7, 1, 9]


def test_outermost_measured_call_counts_alone() -> None:
    assert made((0, WRITE, -1), (1, WRITE, 100), (2, WRITE, 64), (2, WRITE, 36)) == [100, 100, 64, 36]


def test_unmeasured_calls_within_each_other_have_the_same() -> None:
    assert made((0, READ, -1), (1, READ, -1), (2, READ, 8), (1, READ, 4)) == [12, 8, 8, 4]


def test_later_calls_are_not_nested() -> None:
    assert made((0, WRITE, -1), (0, WRITE, 5), (1, WRITE, 5), (0, WRITE, -1), (1, WRITE, 3)) == [0, 5, 5, 3, 3]
