"""Sorting of columns by one of them, in memory. Callers with a disk provide another ``Ordering``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Columns: TypeAlias = Mapping[str, npt.NDArray[Any]]
"""Arrays of equal length by name."""
Ordering: TypeAlias = Callable[[Iterable[Columns], str], Iterable[Columns]]
"""Function from pieces of columns and a key name to sorted pieces. These can be iterated several times."""


def ordered(pieces: Iterable[Columns], key: str) -> list[Columns]:
    """Return all rows sorted by a key, stable, as one piece. Returns an empty list without rows."""
    held = [piece for piece in pieces if len(piece[key])]
    if not held:
        return []
    joined = joined_columns(held)
    order = np.argsort(joined[key], kind="stable")
    return [{name: column[order] for name, column in joined.items()}]


def joined_columns(pieces: Iterable[Columns]) -> dict[str, npt.NDArray[Any]]:
    """Concatenate at least one piece with the same columns."""
    held = list(pieces)
    return {name: np.concatenate([piece[name] for piece in held]) for name in held[0]}
