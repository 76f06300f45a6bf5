"""``kernel/coder.c`` in plain Python, for tests and where the kernel could not be built."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

MOST_TERMINALS: Final = 1 << 20
_MOST_HANDLES: Final = 1 << 16
_MOST_GROWTHS: Final = 256
_FILTER: Final = 1 << 16
_MASK: Final = (1 << 64) - 1
_FACTOR: Final = 0x9E3779B97F4A7C15

Terminal = tuple[int, int, tuple[int, ...]]
"""Group, bits of the fields that are literals, growth of each field."""


def _mix(hashed: int, value: int) -> int:
    hashed = ((hashed ^ (value & _MASK)) * _FACTOR) & _MASK
    return hashed ^ hashed >> 29


def _wrap(value: int) -> int:
    """Brings a difference of two int64 back into int64, as the kernel's arithmetic does."""
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


class CoderTwin:
    """See ``coder.Coder``."""

    def __init__(self, fields: int, first_of_handle: int) -> None:
        self.terminals: list[Terminal] = []
        self.literals: list[list[int]] = [[] for _ in range(fields)]
        self._fields = fields
        self._first_of_handle = first_of_handle
        self._numbers: dict[Terminal, int] = {}
        self._last: dict[int, list[int]] = {}
        self._last_of_handle: dict[tuple[int, int], list[int]] = {}
        self._known: set[tuple[int, int, int]] = set()
        self._known_count: dict[tuple[int, int], int] = {}
        self._seen = [0] * _FILTER
        self._read = [0] * fields

    def feed(self, groups: Sequence[int], fields: Sequence[Sequence[int]]) -> list[int]:
        """Codes calls; fewer terminals than calls when a new section is due."""
        coded: list[int] = []
        for group, values in zip(groups, fields, strict=True):
            if len(self.terminals) == MOST_TERMINALS:
                break
            growth = self._grow(group, values)
            number = self._numbers.get((group, 0, tuple(growth)))
            if number is None:
                literals = 0
                for field, by in enumerate(growth):
                    if by and not self._is_known(group, field, by):
                        self.literals[field].append(by)
                        literals |= 1 << field
                        growth[field] = 0
                number = self.define((group, literals, tuple(growth)))
            coded.append(number)
        return coded

    def define(self, terminal: Terminal) -> int:
        """Returns a terminal's number, which it is given when it is new."""
        number = self._numbers.setdefault(terminal, len(self.terminals))
        if number == len(self.terminals):
            self.terminals.append(terminal)
        return number

    def decode(self, terminals: Sequence[int]) -> tuple[list[int], list[list[int]]]:
        """Decodes up to a terminal that is not defined or whose literal is missing."""
        groups: list[int] = []
        rows: list[list[int]] = []
        for number in terminals:
            if not 0 <= number < len(self.terminals):
                break
            group, literals, known = self.terminals[number]
            growth = list(known)
            complete = True
            for field in range(self._fields):
                if literals >> field & 1:
                    if self._read[field] == len(self.literals[field]):
                        complete = False
                        break
                    growth[field] = self.literals[field][self._read[field]]
                    self._read[field] += 1
            if not complete:
                break
            last, of_handle = self._lasts(group, _wrap(self._group(group)[0] + growth[0]))
            for field, by in enumerate(growth):
                before = last if field < self._first_of_handle else of_handle
                before[field] = _wrap(before[field] + by)
            groups.append(group)
            rows.append([*last[: self._first_of_handle], *of_handle[self._first_of_handle :]])
        return groups, rows

    def _group(self, group: int) -> list[int]:
        return self._last.setdefault(group, [0] * self._fields)

    def _lasts(self, group: int, handle: int) -> tuple[list[int], list[int]]:
        of_handle = self._last_of_handle.get((group, handle))
        if of_handle is None:
            if len(self._last_of_handle) == _MOST_HANDLES:
                self._last_of_handle.clear()
            of_handle = self._last_of_handle[group, handle] = [0] * self._fields
        return self._group(group), of_handle

    def _grow(self, group: int, values: Sequence[int]) -> list[int]:
        last, of_handle = self._lasts(group, values[0])
        growth = []
        for field, value in enumerate(values):
            before = last if field < self._first_of_handle else of_handle
            growth.append(_wrap(value - before[field]))
            before[field] = value
        return growth

    def _is_known(self, group: int, field: int, by: int) -> bool:
        if (group, field, by) in self._known:
            return True
        hashed = _mix(_mix(group, field), by)
        place, mark = hashed & (_FILTER - 1), (hashed >> 32) | 1
        if self._seen[place] != mark:
            self._seen[place] = mark
            return False
        count = self._known_count.get((group, field), 0)
        if count == _MOST_GROWTHS:
            return False
        self._known.add((group, field, by))
        self._known_count[group, field] = count + 1
        return True
