"""Columns in the order of one of them: in memory here; who has a disk gives analyzers another ``Ordering``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Columns: TypeAlias = Mapping[str, npt.NDArray[Any]]
"""Arrays of equal length by name."""
Ordering: TypeAlias = Callable[[Iterable[Columns], str], Iterable[Columns]]
"""Takes pieces of columns and the name of the key; what it returns can be gone through several times."""


def ordered(pieces: Iterable[Columns], key: str) -> list[Columns]:
    """Returns all rows by a key, those of one key in the order in which they came; one piece, none without rows."""
    held = [piece for piece in pieces if len(piece[key])]
    if not held:
        return []
    joined = joined_columns(held)
    order = np.argsort(joined[key], kind="stable")
    return [{name: column[order] for name, column in joined.items()}]


def joined_columns(pieces: Iterable[Columns]) -> dict[str, npt.NDArray[Any]]:
    """Joins pieces, at least one, with the same columns."""
    held = list(pieces)
    return {name: np.concatenate([piece[name] for piece in held]) for name in held[0]}
