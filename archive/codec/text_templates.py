"""Extract numbers from texts. Parameters of calls and file names often differ only in a counter."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

_NUMBER = re.compile(r"(?<![0-9A-Za-z_.#@])-?(?:0|[1-9][0-9]{0,17})(?![0-9A-Za-z_.])")
"""Decimal integers as separate words that are restored exactly."""
_MARK: Final = "\x00"
_SHORT: Final = 512


def extract_integers(text: str, most: int) -> tuple[str, tuple[int, ...]]:
    r"""Split a text into its constant part and its integers. It takes at most ``most`` integers, left to right.

    >>> extract_integers("pwrite64(fd=3, count=64)", 6)
    ('pwrite64(fd=\x00, count=\x00)', (3, 64))
    """
    if _MARK in text:
        return 2 * _MARK + text, ()  # two consecutive marks never come from a text with numbers
    numbers: list[int] = []

    def note(found: re.Match[str]) -> str:
        if len(numbers) == most or found.group() == "-0":
            return found.group()
        numbers.append(int(found.group()))
        return _MARK

    return _NUMBER.sub(note, text), tuple(numbers)


@lru_cache(maxsize=1 << 13)
def _extracted(text: str, most: int) -> tuple[str, tuple[int, ...]]:
    """Return the same, padded with zeros to ``most`` integers. Cached, because processes repeat each other's texts."""
    template, numbers = extract_integers(text, most)
    return template, numbers + (0,) * (most - len(numbers))


def integer_count(template: str) -> int:
    """Return the number of integers of a template."""
    return 0 if template.startswith(2 * _MARK) else template.count(_MARK)


def insert_integers(template: str, numbers: list[int]) -> str:
    """Insert integers into a template; the inverse of ``extract_integers``.

    Raises:
        ValueError: the number of integers differs from that of the template.
    """
    if template.startswith(2 * _MARK):
        return template[2:]
    parts = template.split(_MARK)
    return "".join([parts[0], *(f"{number}{part}" for number, part in zip(numbers, parts[1:], strict=True))])


class Templates:
    """The signatures of one stream, by the stream's numbers: template and integers of each.

    Attributes:
        texts: the templates, by number; 0 is the call without a signature.
        numbers: template of each signature, int32; -1: not processed yet.
        integers: integers of each signature, int64[len(numbers), most].
    """

    def __init__(self, most: int) -> None:
        self.texts = [""]
        self.numbers = np.full(8, -1, np.int32)
        self.integers = np.zeros((8, most), np.int64)
        self.numbers[0] = 0
        self._most = most
        self._known = {"": 0}

    @property
    def nbytes(self) -> int:
        """Size of the arrays, bytes."""
        return int(self.numbers.nbytes + self.integers.nbytes)

    def learn(self, signatures: npt.NDArray[np.int64], text_of: Callable[[int], str]) -> None:
        """Process the new ones among the signatures with these numbers, int64[n]."""
        distinct = distinct_in_order(signatures)
        self.numbers = grown(self.numbers, int(distinct.max(initial=0)) + 1)
        if len(self.integers) < len(self.numbers):
            integers = np.zeros((len(self.numbers), self._most), np.int64)
            integers[: len(self.integers)] = self.integers
            self.integers = integers
        fresh = distinct[self.numbers[distinct] < 0]
        if not len(fresh):
            return
        places, rows = [], []
        for number in fresh.tolist():
            text = text_of(number)
            template, values = (_extracted if len(text) <= _SHORT else _extracted.__wrapped__)(text, self._most)
            place = self._known.setdefault(template, len(self.texts))
            if place == len(self.texts):
                self.texts.append(template)
            places.append(place)
            rows.append(values)
        self.numbers[fresh] = places
        self.integers[fresh] = rows


def grown(numbers: npt.NDArray[np.int32], wanted: int) -> npt.NDArray[np.int32]:
    """Return an array of at least that length, filled with -1."""
    if wanted <= len(numbers):
        return numbers
    longer = np.full(max(wanted, 2 * len(numbers)), -1, np.int32)
    longer[: len(numbers)] = numbers
    return longer


def distinct_in_order(numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the distinct numbers in the order of their first appearance."""
    distinct, first = np.unique(numbers, return_index=True)
    return distinct[np.argsort(first, kind="stable")]
