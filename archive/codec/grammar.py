"""A grammar over the terminals of one stream: built incrementally, and expanded."""

from __future__ import annotations

import weakref
from typing import Final

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from ...events.errors import InputError
from ..native_library import native
from .grammar_fallback import GrammarFallback

_FALLBACK_BYTES: Final = 300
"""Approximate memory of a symbol in the fallback, bytes."""


class Rules(Struct, frozen=True, eq=False):
    """A grammar as arrays; rule 0 is the input.

    Attributes:
        lengths: number of symbols of each rule, uint32.
        values: all symbols, rule after rule, int32: terminal t is t, rule r is -1 - r.
        counts: number of consecutive repetitions of each symbol, uint64.
    """

    lengths: npt.NDArray[np.uint32]
    values: npt.NDArray[np.int32]
    counts: npt.NDArray[np.uint64]


class Grammar:
    """Incremental Sequitur with run lengths. It uses the compiled helper, or its fallback if that was not built.

    The result does not depend on how the input is split into pieces. Source: [Recorder] (context-free grammar over call
    signatures, run lengths on symbols).
    """

    def __init__(self) -> None:
        self._native = native()
        self._fallback = GrammarFallback() if self._native is None else None
        if self._native is not None:
            self._grammar = self._native.grammar_new()
            if not self._grammar:
                raise MemoryError
            weakref.finalize(self, self._native.grammar_free, self._grammar)

    def feed(self, terminals: npt.NDArray[np.int32]) -> None:
        """Append terminals, int32[n], each 0 or more.

        Raises:
            MemoryError: the grammar is not usable any more.
        """
        if self._fallback is not None:
            self._fallback.feed(terminals.tolist())
            return
        assert self._native is not None  # noqa: S101  (one of the two is there)
        given = np.ascontiguousarray(terminals, np.int32)
        if not self._native.grammar_feed(self._grammar, given.ctypes.data, len(given)):
            raise MemoryError

    def finish(self) -> Rules:
        """End the input and return the rules, numbered in the order of their first use.

        More input may follow, which then begins a new run.
        """
        if self._fallback is not None:
            self._fallback.close_run()
            return _rules_of(self._fallback.bodies())
        assert self._native is not None  # noqa: S101
        if not self._native.grammar_close_run(self._grammar):
            raise MemoryError
        lengths = np.zeros(self._native.grammar_rules(self._grammar), np.uint32)
        values = np.zeros(self.symbols, np.int32)
        counts = np.zeros(self.symbols, np.uint64)
        if not self._native.grammar_write(self._grammar, lengths.ctypes.data, values.ctypes.data, counts.ctypes.data):
            raise MemoryError
        return Rules(lengths, values, counts)

    @property
    def nbytes(self) -> int:
        """Approximate memory use."""
        if self._fallback is not None:
            return _FALLBACK_BYTES * self.symbols
        assert self._native is not None  # noqa: S101
        return int(self._native.grammar_bytes(self._grammar))

    @property
    def symbols(self) -> int:
        """Number of symbols in the rules."""
        if self._fallback is not None:
            return sum(len(body) for body in self._fallback.bodies())
        assert self._native is not None  # noqa: S101
        return int(self._native.grammar_symbols(self._grammar))


def _rules_of(bodies: list[list[tuple[int, int]]]) -> Rules:
    flat = [symbol for body in bodies for symbol in body]
    return Rules(
        np.array([len(body) for body in bodies], np.uint32),
        np.array([value for value, _ in flat], np.int32),
        np.array([count for _, count in flat], np.uint64),
    )


def expand(rules: Rules, length: int, where: str) -> npt.NDArray[np.int32]:
    """Return the terminals of a grammar, int32[length].

    Time and memory are bounded by the number of symbols and by ``length``, even for a malicious grammar.

    Raises:
        InputError: the arrays are not a grammar (a rule is missing, empty or recursive), or the length is wrong.
    """
    ends = _rule_ends(rules, where)
    values, counts = rules.values.tolist(), rules.counts.tolist()
    begins, stops = [0, *ends[:-1].tolist()], ends.tolist()
    out = np.empty(length, np.int32)
    view = memoryview(out.data)  # faster than the array for a few terminals at a time
    spans: list[tuple[int, int] | None] = [None] * len(stops)  # range in out of each expanded rule
    is_open = bytearray(len(stops))
    is_open[0] = True
    filled, rule, at, started, times = 0, 0, 0, 0, 1
    waiting: list[tuple[int, int, int, int]] = []  # rules that enclose the current one
    while True:
        if at == stops[rule]:
            spans[rule] = started, filled
            is_open[rule] = False
            filled = _repeat(out, started, filled, times, where)
            if not waiting:
                break
            rule, at, started, times = waiting.pop()
            continue
        value, count = values[at], counts[at]
        at += 1
        if value >= 0:
            if count > length - filled:
                raise _broken(where, f"{length} calls")
            if count == 1:
                view[filled] = value
            else:
                out[filled : filled + count] = value
            filled += count
            continue
        inner = -1 - value
        span = spans[inner]
        if span is None:
            if is_open[inner]:
                raise _broken(where, "rules that do not contain themselves")
            waiting.append((rule, at, started, times))
            rule, at, started, times = inner, begins[inner], filled, count
            is_open[rule] = True
            continue
        low, high = span
        if (high - low) * count > length - filled:
            raise _broken(where, f"{length} calls")
        view[filled : filled + high - low] = view[low:high]
        filled = _repeat(out, filled, filled + high - low, count, where)
    if filled != length:
        raise _broken(where, f"{length} calls, not {filled}")
    return out


def _rule_ends(rules: Rules, where: str) -> npt.NDArray[np.int64]:
    """Return the end of each rule among the symbols, int64[rules].

    Raises:
        InputError: the arrays do not fit together, or a rule is missing or empty.
    """
    ends = np.cumsum(rules.lengths, dtype=np.int64)
    if not len(ends) or int(ends[-1]) != len(rules.values) or len(rules.values) != len(rules.counts):
        raise _broken(where, "the symbols of all rules, one after the other")
    if len(rules.values) and int(rules.values.min()) < -len(ends):
        raise _broken(where, f"a rule below {len(ends)}")
    if not rules.counts.all() or (len(ends) > 1 and not rules.lengths.all()):
        raise _broken(where, "rules with symbols, and counts from 1")
    return ends


def _repeat(out: npt.NDArray[np.int32], start: int, stop: int, times: int, where: str) -> int:
    """Repeat the range from start to stop so many times. Returns the end of the last copy."""
    if times == 1:
        return stop
    end = start + (stop - start) * times
    if end > len(out):
        raise _broken(where, f"{len(out)} calls")
    while stop < end:
        more = min(stop - start, end - stop)
        out[stop : stop + more] = out[start : start + more]
        stop += more
    return end


def _broken(where: str, expected: str) -> InputError:
    return InputError(where, None, "the grammar is broken", expected)
