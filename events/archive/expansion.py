"""From a grammar back to the terminals, without more memory than is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from .grammar import Rules

_SMALL: Final = 4096
"""Terminals of a rule whose expansion is kept."""
_SHALLOW: Final = 100
"""Rules within rules of one whose expansion is kept: it is made by recursion."""


class Expansion:
    """Reads the terminals that a grammar stands for.

    Raises:
        InputError: the arrays are no grammar: a rule is missing, or stands in itself, or the length overflows.
    """

    def __init__(self, rules: Rules, where: str) -> None:
        self._where = where
        self._values = rules.values
        self._counts = rules.counts
        ends = np.cumsum(rules.lengths, dtype=np.int64)
        if not len(ends) or int(ends[-1]) != len(rules.values) or len(rules.values) != len(rules.counts):
            raise self._broken("the symbols of all rules, one after the other")
        self._begins = np.concatenate([[0], ends[:-1]])
        self._ends = ends
        self._kept: dict[int, npt.NDArray[np.int32]] = {}
        self._depths = np.zeros(len(ends), np.int64)
        self.lengths = self._measure()
        """Terminals that each rule stands for, int64."""

    def __len__(self) -> int:
        return int(self.lengths[0])

    def chunks(self, at_most: int) -> Iterator[npt.NDArray[np.int32]]:
        """Yields all terminals, int32, in arrays of at most ``at_most``."""
        waiting: list[npt.NDArray[np.int32]] = []
        held = 0
        for piece in self._pieces():
            while len(piece):
                part = piece[: at_most - held]
                piece = piece[len(part) :]
                waiting.append(part)
                held += len(part)
                if held == at_most:
                    yield np.concatenate(waiting)
                    waiting, held = [], 0
        if waiting:
            yield np.concatenate(waiting)

    def _pieces(self) -> Iterator[npt.NDArray[np.int32]]:
        stack: list[tuple[int, int, int]] = [(0, int(self._begins[0]), 1)]  # rule, next symbol, times left
        while stack:
            rule, at, left = stack.pop()
            if at == int(self._ends[rule]):
                if left > 1:
                    stack.append((rule, int(self._begins[rule]), left - 1))
                continue
            stack.append((rule, at + 1, left))
            value, count = int(self._values[at]), int(self._counts[at])
            if value >= 0:
                while count:
                    yield np.full(min(count, _SMALL), value, np.int32)
                    count -= min(count, _SMALL)
                continue
            inner = -1 - value
            if self.lengths[inner] > _SMALL or self._depths[inner] > _SHALLOW:
                stack.append((inner, int(self._begins[inner]), count))
                continue
            body = self._small(inner)
            times = max(_SMALL // max(len(body), 1), 1)
            while count:
                yield np.tile(body, min(count, times))
                count -= min(count, times)

    def _small(self, rule: int) -> npt.NDArray[np.int32]:
        """The expansion of a short and shallow rule."""
        kept = self._kept.get(rule)
        if kept is None:
            parts = []
            for at in range(int(self._begins[rule]), int(self._ends[rule])):
                value, count = int(self._values[at]), int(self._counts[at])
                parts.append(np.full(count, value, np.int32) if value >= 0 else np.tile(self._small(-1 - value), count))
            kept = np.concatenate(parts) if parts else np.zeros(0, np.int32)
            self._kept[rule] = kept
        return kept

    def _measure(self) -> npt.NDArray[np.int64]:
        """Lengths of all rules, each after those that it uses; without recursion, as files may be hostile."""
        count = len(self._begins)
        used = -1 - self._values[self._values < 0].astype(np.int64)
        if len(used) and int(used.max()) >= count:
            raise self._broken(f"a rule below {count}")
        if len(self._counts) and not int(self._counts.min()):
            raise self._broken("counts from 1")
        lengths = np.full(count, -1, np.int64)
        stack = list(range(count - 1, -1, -1))
        open_rules: set[int] = set()
        while stack:
            rule = stack[-1]
            if lengths[rule] >= 0:
                stack.pop()
                continue
            values = self._values[self._begins[rule] : self._ends[rule]]
            inner = -1 - values[values < 0].astype(np.int64)
            missing = inner[lengths[inner] < 0]
            if len(missing):
                if rule in open_rules:
                    raise self._broken("rules that do not stand in themselves")
                open_rules.add(rule)
                stack.extend(missing.tolist())
                continue
            total = 0
            for value, times in zip(
                values.tolist(), self._counts[self._begins[rule] : self._ends[rule]].tolist(), strict=True
            ):
                total += times * (1 if value >= 0 else int(lengths[-1 - value]))
            if total >= 2**62:
                raise self._broken("fewer than 2**62 calls")
            lengths[rule] = total
            self._depths[rule] = 1 + (int(self._depths[inner].max()) if len(inner) else 0)
            open_rules.discard(rule)
            stack.pop()
        return lengths

    def _broken(self, expected: str) -> InputError:
        return InputError(self._where, None, "the grammar is broken", expected)
