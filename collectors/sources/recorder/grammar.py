"""Yield the terminals of a grammar with repeated symbols, without expanding it as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

START: Final = -1
_SMALL: Final = 16_384
"""Maximum number of terminals of a rule that is kept expanded."""
_MAX_KEPT: Final = 1 << 24
"""Maximum number of terminals of all these rules together, 64 MiB."""

Ints = npt.NDArray[np.int32]


class Grammar:
    """The terminals (0 and above) that rules (below 0) represent.

    Args:
        rules: body of each rule, int32[n, 2]: symbols and their repetitions.
        terminals: number of terminals.

    Raises:
        ValueError: a rule is missing, refers to itself, or contains an invalid symbol.
    """

    def __init__(self, rules: Mapping[int, Ints], terminals: int) -> None:
        self._rules = rules
        self._expanded: dict[int, Ints] = {}
        self._kept = 0
        self._lengths = self._measured(terminals)
        kept = sorted(self._expanded)
        self._kept_rules = np.array(kept, np.int32)
        self._kept_lengths = np.array([len(self._expanded[rule]) for rule in kept], np.int64)
        self._kept_begins = np.cumsum(self._kept_lengths) - self._kept_lengths
        self._flat = np.concatenate([np.zeros(0, np.int32), *(self._expanded[rule] for rule in kept)])
        symbols = np.unique(np.concatenate([self._rules[rule][:, 0] for rule in self._lengths]))
        self.terminals: Ints = symbols[symbols >= 0]
        """The terminals that occur, ascending."""

    def __len__(self) -> int:
        return min(self._lengths[START], 2**62)

    def pieces(self, most: int) -> Iterator[Ints]:
        """Yield the terminals in order, about ``most`` at once; stops when the consumer stops."""
        held: list[Ints] = []
        size = 0
        for run in self._runs(most):
            held.append(run)
            size += len(run)
            if size >= most:
                yield np.concatenate(held)
                held, size = [], 0
        if held:
            yield np.concatenate(held)

    def _measured(self, terminals: int) -> dict[int, int]:
        """Return the length of each rule reachable from the start. It expands small rules, innermost first."""
        if START not in self._rules:
            raise ValueError("there is no rule to start with")
        lengths: dict[int, int] = {}
        waiting = [START]
        inside: set[int] = set()
        while waiting:
            rule = waiting[-1]
            if rule in lengths:
                waiting.pop()
                continue
            body = self._rules.get(rule)
            if body is None:
                raise ValueError(f"there is no rule {rule}")
            symbols, times = body[:, 0], body[:, 1]
            if rule not in inside:
                if (times < 1).any() or (symbols >= terminals).any():
                    raise ValueError(f"rule {rule} has an undefined symbol, or one with a count below 1")
                inside.add(rule)
                inner = [each for each in np.unique(symbols[symbols < 0]).tolist() if each not in lengths]
                if any(each in inside for each in inner):
                    raise ValueError(f"rule {rule} refers to itself")
                waiting += inner
            if all(each in lengths for each in np.unique(symbols[symbols < 0]).tolist()):
                waiting.pop()
                inside.discard(rule)
                counts = [lengths[each] if each < 0 else 1 for each in symbols.tolist()]
                lengths[rule] = sum(count * time for count, time in zip(counts, times.tolist(), strict=True))
                self._keep(rule, body, lengths[rule])
        return lengths

    def _keep(self, rule: int, body: Ints, length: int) -> None:
        if length > _SMALL or self._kept + length > _MAX_KEPT:
            return
        if any(each < 0 and each not in self._expanded for each in body[:, 0].tolist()):
            return
        parts = [
            np.tile(self._expanded[symbol], times) if symbol < 0 else np.full(times, symbol, np.int32)
            for symbol, times in body.tolist()
        ]
        self._expanded[rule] = np.concatenate(parts) if parts else np.zeros(0, np.int32)
        self._kept += length

    def _runs(self, most: int) -> Iterator[Ints]:
        """Yield runs of at most about ``most`` terminals; memory use is limited to nested rules."""
        stack = [self._frame(START, 1, most)]
        while stack:
            frame = stack[-1]
            if frame.at == len(frame.body):
                frame.at, frame.times = 0, frame.times - 1
                if not frame.times:
                    stack.pop()
                continue
            stop = frame.stops[np.searchsorted(frame.stops, frame.at)]
            if stop > frame.at:
                done = frame.ends[frame.at - 1] if frame.at else 0
                end = min(int(np.searchsorted(frame.ends, done + most, "right")), int(stop))
                yield self._unfolded(frame.body[frame.at : max(end, frame.at + 1)])
                frame.at = max(end, frame.at + 1)
                continue
            symbol, times = frame.body[frame.at].tolist()
            frame.at += 1
            if symbol < 0 and symbol not in self._expanded:
                if self._lengths[symbol]:
                    stack.append(self._frame(symbol, times, most))
                continue
            unit = np.full(1, symbol, np.int32) if symbol >= 0 else self._expanded[symbol]
            at_once = max(most // len(unit), 1)
            whole = np.tile(unit, min(at_once, times))
            for begin in range(0, times, at_once):
                yield whole[: len(unit) * min(at_once, times - begin)]

    def _frame(self, rule: int, times: int, most: int) -> _Frame:
        body = self._rules[rule]
        number = np.searchsorted(self._kept_rules, body[:, 0])
        number = np.minimum(number, max(len(self._kept_rules) - 1, 0))
        rules = body[:, 0] < 0
        kept = rules & (self._kept_rules[number] == body[:, 0]) if len(self._kept_rules) else np.zeros_like(rules)
        sizes = np.where(kept, self._kept_lengths[number], 1) if kept.any() else np.ones(len(body), np.int64)
        ends = sizes * body[:, 1]
        alone = (rules & ~kept) | (ends > most)
        return _Frame(body, times, np.append(np.flatnonzero(alone), len(body)), np.cumsum(np.where(alone, 0, ends)))

    def _unfolded(self, body: Ints) -> Ints:
        """Return the terminals of symbols that are all terminals or expanded rules."""
        symbols = np.repeat(body[:, 0], body[:, 1])
        rules = symbols < 0
        if not rules.any():
            return symbols
        number = np.searchsorted(self._kept_rules, symbols[rules])
        lengths = np.ones(len(symbols), np.int64)
        lengths[rules] = self._kept_lengths[number]
        begins = np.zeros(len(symbols), np.int64)
        begins[rules] = self._kept_begins[number]
        which = np.repeat(np.arange(len(symbols)), lengths)
        within = np.arange(len(which)) - (np.cumsum(lengths) - lengths)[which]
        inner = rules[which]
        unfolded = symbols[which]
        unfolded[inner] = self._flat[(begins[which] + within)[inner]]
        return unfolded


@dataclass(slots=True)
class _Frame:
    """A rule that is being read."""

    body: Ints
    times: int
    stops: npt.NDArray[np.intp]
    """Indices of symbols that are too long to be expanded with their neighbours, and the end."""
    ends: npt.NDArray[np.int64]
    """Number of terminals up to the end of each symbol, without those of the stops."""
    at: int = 0
