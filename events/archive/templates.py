"""Texts with their numbers taken out: calls' parameters and files' names that differ in a counter only."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

_NUMBER = re.compile(r"(?<![0-9A-Za-z_.#@])-?(?:0|[1-9][0-9]{0,17})(?![0-9A-Za-z_.])")
"""Decimal integers as words of their own, that read back as they were written."""
_MARK: Final = "\x00"


def take_apart(text: str, most: int) -> tuple[str, tuple[int, ...]]:
    r"""Splits a text into what stays and its integers, at most ``most``, left to right.

    >>> take_apart("pwrite64(fd=3, count=64)", 6)
    ('pwrite64(fd=\x00, count=\x00)', (3, 64))
    """
    if _MARK in text:
        return 2 * _MARK + text, ()  # two marks in a row come from no text with numbers
    numbers: list[int] = []

    def note(found: re.Match[str]) -> str:
        if len(numbers) == most or found.group() == "-0":
            return found.group()
        numbers.append(int(found.group()))
        return _MARK

    return _NUMBER.sub(note, text), tuple(numbers)


def places_in(template: str) -> int:
    """Tells how many integers a template has."""
    return 0 if template.startswith(2 * _MARK) else template.count(_MARK)


def put_together(template: str, numbers: list[int]) -> str:
    """Puts integers back into a template; the inverse of ``take_apart``.

    Raises:
        ValueError: there are not as many integers as the template has places.
    """
    if template.startswith(2 * _MARK):
        return template[2:]
    parts = template.split(_MARK)
    return "".join([parts[0], *(f"{number}{part}" for number, part in zip(numbers, parts[1:], strict=True))])


@dataclass(slots=True)
class Templates:
    """The signatures of one stream, by the stream's numbers: template and integers of each."""

    most: int
    texts: list[str] = field(default_factory=lambda: [""])
    _numbers: dict[str, int] = field(default_factory=lambda: {"": 0})
    _template: npt.NDArray[np.int64] = field(default_factory=lambda: np.full(64, -1, np.int64))
    _integers: npt.NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        self._integers = np.zeros((64, self.most), np.int64)
        self._template[0] = 0

    def of(
        self, signatures: npt.NDArray[np.int64], text_of: Callable[[int], str]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Returns template numbers, int64[n], and integers, int64[n, most], of signature numbers, int64[n]."""
        top = int(signatures.max(initial=0))
        if top >= len(self._template):
            room = max(top + 1, 2 * len(self._template))
            template, integers = np.full(room, -1, np.int64), np.zeros((room, self.most), np.int64)
            template[: len(self._template)], integers[: len(self._integers)] = self._template, self._integers
            self._template, self._integers = template, integers
        known = self._template[signatures]
        if (known < 0).any():
            fresh, first = np.unique(signatures[known < 0], return_index=True)
            for number in fresh[np.argsort(first, kind="stable")].tolist():
                self._learn(number, text_of(number))
            known = self._template[signatures]
        return known, self._integers[signatures]

    def _learn(self, number: int, text: str) -> None:
        template, numbers = take_apart(text, self.most)
        place = self._numbers.setdefault(template, len(self.texts))
        if place == len(self.texts):
            self.texts.append(template)
        self._template[number] = place
        self._integers[number, : len(numbers)] = numbers
