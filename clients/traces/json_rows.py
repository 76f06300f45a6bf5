"""Rows of columns as JSON text, without a dictionary per row. Values common to all rows are formatted once."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True)
class TextColumn:
    """A column of numbers, each of which represents a text.

    Attributes:
        numbers: number of each row.
        texts: number -> text in the rows.
    """

    numbers: Ints
    texts: dict[int, str]

    @classmethod
    def of(cls, numbers: Ints, spell: Callable[[int], str]) -> TextColumn:
        """Format each distinct number once."""
        return cls(numbers, {number: spell(number) for number in np.unique(numbers).tolist()})

    def take(self, rows: npt.NDArray[np.intp]) -> TextColumn:
        """Return some of the rows."""
        return TextColumn(self.numbers.take(rows), self.texts)


Part: TypeAlias = "str | Ints | TextColumn | list[Any]"
"""Part of each row: a text, a number, a number's text, or a list with one value per row."""


def text(value: str) -> str:
    """Return a text as JSON."""
    return json.dumps(value, ensure_ascii=False)


def join_rows(parts: Iterable[Part], count: int) -> list[str]:
    """Return the text of each row: its parts, concatenated."""
    spelled: list[str] = []
    columns: list[list[Any]] = []
    for part in parts:
        if isinstance(part, str):
            spelled.append(part.replace("%", "%%"))
        elif isinstance(part, list):
            spelled.append("%s")
            columns.append(part)
        elif isinstance(part, TextColumn):
            known = _common(part.numbers)
            spelled.append("%s" if known is None else part.texts[known].replace("%", "%%"))
            if known is None:
                texts = part.texts
                columns.append([texts[number] for number in part.numbers.tolist()])
        else:
            known = _common(part)
            spelled.append("%d" if known is None else str(known))
            if known is None:
                columns.append(part.tolist())
    template = "".join(spelled)
    if not columns:
        return [template % ()] * count
    return [template % row for row in zip(*columns, strict=True)]


def _common(numbers: Ints) -> int | None:
    """Return the number that all rows have in common; None if they differ."""
    if not len(numbers):
        return None
    first = int(numbers[0])
    return first if numbers.strides == (0,) or bool((numbers == first).all()) else None
