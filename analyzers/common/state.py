"""Common base of analyzer parts whose whole state is in their attributes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Rows = npt.NDArray[np.intp]
Floats = npt.NDArray[np.float64]

LONG_AGO = -(2**62)
"""Time before every timestamp, ns."""
_NARROW: Final = (np.int8, np.int16, np.int32)


class State:
    """Object that can be stored as plain data: numbers, arrays, lists and dicts by name."""

    def fit(self) -> None:
        """Free memory that is reserved and has no data; called before the object is written."""

    def snapshot(self) -> dict[str, Any]:
        """Return a copy of the state as plain data."""
        return {name: _copied(value) for name, value in vars(self).items()}

    @classmethod
    def restore(cls, data: dict[str, Any]) -> Self:
        """Create an object from a snapshot."""
        made = cls.__new__(cls)
        vars(made).update({name: _copied(value) for name, value in data.items()})
        return made


class Packed(ABC):
    """Object whose form in memory is not that of saved states, which other releases read."""

    __slots__ = ()

    @abstractmethod
    def __getstate__(self) -> dict[str, object]:
        """Return the saved attributes by name."""

    @abstractmethod
    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take the saved attributes."""


def _copied(value: Any) -> Any:
    return value.copy() if isinstance(value, (np.ndarray, dict, list, set)) else value


def widened(old: npt.NDArray[Any], length: int, fill: int = 0) -> npt.NDArray[Any]:
    """Return an array of ``length`` that starts with ``old`` and is padded with ``fill``."""
    new = np.full(length, fill, old.dtype)
    new[: len(old)] = old
    return new


def narrowest(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a copy of integers in the smallest signed type that holds them."""
    most = max(-1 - int(column.min(initial=0)), int(column.max(initial=0)))
    narrow = next((dtype for dtype in _NARROW if most <= np.iinfo(dtype).max), np.int64)
    return column.astype(narrow)


def distinct(values: Ints) -> tuple[Ints, Rows]:
    """Return the distinct values and the index of each row's value; avoids sorting if possible.

    Args:
        values: int64, shape (n,), n >= 1.
    """
    differs = values[1:] != values[:-1]
    borders = int(np.count_nonzero(differs))
    if not borders:
        return values[:1], np.zeros(len(values), np.intp)
    if borders < len(values) // 8:
        firsts = np.concatenate([[0], np.flatnonzero(differs) + 1])
        lengths = np.diff(firsts, append=len(values))
        found, which = distinct(values[firsts])
        return found, np.repeat(which, lengths)
    low = int(values.min())
    span = int(values.max()) - low + 1
    if span > 4 * len(values):
        found, inverse = np.unique(values, return_inverse=True)
        return found, inverse.astype(np.intp, copy=False)
    offset = (values - low).astype(np.intp)
    present = np.flatnonzero(np.bincount(offset, minlength=span))
    if len(present) == span:
        return present + low, offset
    number = np.zeros(span, np.intp)
    number[present] = np.arange(len(present))
    return present + low, number.take(offset)
