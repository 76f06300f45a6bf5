"""``native/coder.c`` in Python, for tests and installations without the helper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

MAX_TERMINALS: Final = 1 << 20
_MAX_HANDLES: Final = 1 << 16
_MAX_GROWTHS: Final = 256
_MIN_FILTER: Final = 1 << 8
_MAX_FILTER: Final = 1 << 16
_MASK: Final = (1 << 64) - 1
_FACTOR: Final = 0x9E3779B97F4A7C15
_COMBINATION_SEED: Final = 0xBF58476D1CE4E5B9

Terminal = tuple[int, int, tuple[int, ...]]
"""Group, mask of the fields that are literals, growth of each field."""


def _mix(hashed: int, value: int) -> int:
    hashed = ((hashed ^ (value & _MASK)) * _FACTOR) & _MASK
    return hashed ^ hashed >> 29


def _wrap(value: int) -> int:
    """Wrap a difference of two int64 to int64, like the helper's arithmetic."""
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


class CoderFallback:
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
        self._seen: list[int] = []
        self._seen_used = 0
        self._read = [0] * fields

    def feed(self, groups: Sequence[int], fields: Sequence[Sequence[int]]) -> list[int]:
        """Encode calls; return fewer terminals than calls if a new section is needed."""
        coded: list[int] = []
        for group, values in zip(groups, fields, strict=True):
            if len(self.terminals) == MAX_TERMINALS:
                break
            growth = self._grow(group, values)
            number = self._numbers.get((group, 0, tuple(growth)))
            coded.append(self._code(group, growth) if number is None else number)
        return coded

    def _code(self, group: int, growth: list[int]) -> int:
        """Return the terminal for growths without one: new growths, or new combinations, become literals."""
        grown = [field for field, by in enumerate(growth) if by]
        literals = [field for field in grown if not self._is_known(group, field, growth[field])]
        kept = [0 if field in literals else by for field, by in enumerate(growth)]
        number = self._numbers.get((group, _bits(literals), tuple(kept)))
        if number is None:
            if len(grown) - len(literals) > 1 and not self._occurred_before(
                _combination_hash(group, _bits(literals), kept)
            ):
                literals, kept = grown, [0] * self._fields
            number = self.define((group, _bits(literals), tuple(kept)))
        for field in literals:
            self.literals[field].append(growth[field])
        return number

    def define(self, terminal: Terminal) -> int:
        """Return a terminal's number; assign one to a new terminal."""
        number = self._numbers.setdefault(terminal, len(self.terminals))
        if number == len(self.terminals):
            self.terminals.append(terminal)
        return number

    def decode(self, terminals: Sequence[int]) -> tuple[list[int], list[list[int]]]:
        """Decode up to a terminal that is undefined or whose literal is missing."""
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
            if len(self._last_of_handle) == _MAX_HANDLES:
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
        count = self._known_count.get((group, field), 0)
        if not self._occurred_before(_mix(_mix(group, field), by)) or count == _MAX_GROWTHS:
            return False
        self._known.add((group, field, by))
        self._known_count[group, field] = count + 1
        return True

    def _occurred_before(self, hashed: int) -> bool:
        if self._seen_used == len(self._seen) < _MAX_FILTER:
            self._seen = [0] * max(_MIN_FILTER, 2 * len(self._seen))
            self._seen_used = 0
        place, mark = hashed & (len(self._seen) - 1), (hashed >> 32) | 1
        if self._seen[place] == mark:
            return True
        self._seen[place] = mark
        self._seen_used += len(self._seen) < _MAX_FILTER
        return False


def _bits(fields: Sequence[int]) -> int:
    return sum(1 << field for field in fields)


def _combination_hash(group: int, literals: int, growth: Sequence[int]) -> int:
    """Return the hash of a combination of growths."""
    hashed = _mix(group, literals)
    for field, by in enumerate(growth):
        if by:
            hashed = _mix((hashed + field) & _MASK, by)
    return (hashed >> 32) * _COMBINATION_SEED & _MASK
