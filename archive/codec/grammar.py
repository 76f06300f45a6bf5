"""Build a grammar over the terminals of one stream incrementally."""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from ..native_library import native
from .grammar_fallback import GrammarFallback

_FALLBACK_BYTES: Final = 300
"""Approximate memory of a symbol in the fallback, bytes."""


@dataclass(frozen=True, slots=True, eq=False)
class Rules:
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
