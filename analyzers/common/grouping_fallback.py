"""NumPy version of the helper ``grouping``, used as fallback and as reference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]

_REDUCTIONS: Final[dict[str, np.ufunc]] = {"sum": np.add, "least": np.minimum, "most": np.maximum}


def one_group(length: int) -> tuple[Ints, Ints, Ints]:
    """Return the result of ``number`` for rows that are all equal."""
    return np.zeros(length, np.int64), np.zeros(1, np.int64), np.array([length - 1], np.int64)


def number(columns: Sequence[npt.NDArray[Any]]) -> tuple[Ints, Ints, Ints]:
    """Return the group number of each row. It also returns the first and last row of each group."""
    length = len(columns[0])
    group = np.zeros(length, np.int64)
    for column in columns:
        values, which = np.unique(column, return_inverse=True)
        group = np.unique(group * len(values) + which, return_inverse=True)[1].astype(np.int64)
    _, first = np.unique(group, return_index=True)
    order = np.argsort(first)
    renamed = np.empty(len(first), np.int64)
    renamed[order] = np.arange(len(first))
    made = renamed[group]
    last = np.zeros(len(first), np.int64)
    np.maximum.at(last, made, np.arange(length))
    return made, first[order].astype(np.int64), last


def counts(group: Ints, groups: int) -> Ints:
    """Return the number of rows of each group."""
    return np.bincount(group, minlength=groups).astype(np.int64)


def reduced(name: str, group: Ints, groups: int, values: Ints) -> Ints:
    """Return the ``sum``, ``least`` or ``most`` of each group's values; each group occurs."""
    order = np.argsort(group, kind="stable")
    heads = np.searchsorted(group[order], np.arange(groups))
    made: Ints = _REDUCTIONS[name].reduceat(values[order], heads)
    return made
