"""Compress one stream's calls incrementally in near-constant space, in sections of bounded size."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from ...events.batch import EventBatch
from ...events.definitions import DefinitionTable, Interner
from ...events.errors import InputError
from .coder import Coder, Terminals
from .columns import FIELDS, FIRST_OF_HANDLE, Texts, join
from .grammar import Grammar, Rules, expand
from .splitter import Splitter
from .times import Stamps, pack_stamps, unpack_stamps

MAX_SYMBOLS: Final = 1 << 18
"""Number of symbols above which a grammar is closed and a new section begun."""
_FEW_SYMBOLS: Final = 1 << 16
_WORTH: Final = 4
"""Calls per symbol below which a grammar is closed at ``_FEW_SYMBOLS``. A larger one would not compress better, and
would exceed the cache."""
MAX_CALLS: Final = 1 << 22
"""Maximum number of calls in a section."""
MAX_GROUPS: Final = 1 << 16
MAX_TERMINALS: Final = 1 << 18
MAX_LITERALS: Final = 1 << 20
"""For all fields together. Like groups and terminals, the number above which a section is closed."""
MAX_CHUNK: Final = 1 << 16
"""Maximum number of calls processed at once, by which each limit may be exceeded."""
_CHUNK_BYTES: Final = 4 * MAX_CHUNK
"""Approximate size of the packed times of a chunk, bytes."""
_MIN_BYTES: Final = 4000
"""Approximate memory of the objects of a section, bytes."""
_PIECE_BYTES: Final = 400
"""Approximate overhead of a pair of arrays, bytes."""


class Section(Struct, frozen=True, eq=False):
    """A self-contained range of a stream's calls.

    Attributes:
        calls: number of calls.
        first_ns: earliest start.
        last_ns: latest end.
        groups: constant parts of calls: int64[groups, 8], columns ``columns.STATIC``.
        names: names of calls, by number.
        templates: the signatures without their integers, by number.
        threads: (pid, tid, rank) by number.
        terminals: the call signatures.
        rules: the grammar over them.
        literals: for each field the values outside terminals, int64.
        stamps: times of each chunk of at most 65,536 calls.
    """

    calls: int
    first_ns: int
    last_ns: int
    groups: npt.NDArray[np.int64]
    names: list[str]
    templates: list[str]
    threads: list[tuple[int, int, int]]
    terminals: Terminals
    rules: Rules
    literals: list[npt.NDArray[np.int64]]
    stamps: list[Stamps]


class StreamCompressor:
    """Compresses the calls of one stream; all parameters and times can be restored, see ``calls_of``.

    Memory is bounded by the section: a grammar that does not compress is closed, and a new section begins.
    """

    def __init__(self, most_symbols: int = MAX_SYMBOLS, most_calls: int = MAX_CALLS, tick_ns: int = 1) -> None:
        self._most_symbols = most_symbols
        self._most_calls = most_calls
        self._tick_ns = tick_ns
        self._open: _OpenSection | None = None

    @property
    def is_open(self) -> bool:
        """Whether a section is open."""
        return self._open is not None

    @property
    def nbytes(self) -> int:
        """Approximate memory use of the open section; 0: none is open."""
        return self._open.nbytes if self._open is not None else 0

    def update(self, batch: EventBatch, table: DefinitionTable) -> list[Section]:
        """Add calls, in the stream's order.

        Args:
            batch: the calls, in the stream's numbers.
            table: definitions of the stream.

        Returns:
            The sections that this completed.
        """
        done = []
        low = 0
        while low < len(batch):
            if self._open is None:
                self._open = _OpenSection(self._tick_ns)
            most = min(MAX_CHUNK, self._most_calls - self._open.calls)
            taken = self._open.take(batch, low, min(len(batch), low + most), table)
            low += taken
            if not taken or self._open.is_full(self._most_symbols, self._most_calls):
                done.append(self._open.close())
                self._open = None
        return done

    def finish(self) -> Section | None:
        """Close the open section; None: it is empty."""
        opened, self._open = self._open, None
        return opened.close() if opened is not None else None


class _OpenSection:
    def __init__(self, tick_ns: int) -> None:
        self.calls = 0
        self._tick_ns = tick_ns
        self._splitter = Splitter()
        self._coder = Coder(len(FIELDS), FIRST_OF_HANDLE)
        self._grammar = Grammar()
        self._stamps: list[Stamps] = []
        self._held: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]] = []
        self._held_calls = 0
        self._first_ns = 2**63 - 1
        self._last_ns = -(2**63)

    @property
    def nbytes(self) -> int:
        packed = _MIN_BYTES + _CHUNK_BYTES * len(self._stamps) + _PIECE_BYTES * len(self._held)
        return packed + 16 * self._held_calls + self._splitter.nbytes + self._coder.nbytes + self._grammar.nbytes

    def is_full(self, most_symbols: int, most_calls: int) -> bool:
        symbols = self._grammar.symbols
        return (
            self.calls >= most_calls
            or symbols >= most_symbols
            or (symbols >= _FEW_SYMBOLS and symbols * _WORTH > self.calls)
            or len(self._splitter) >= MAX_GROUPS
            or self._coder.count >= MAX_TERMINALS
            or self._coder.literal_count >= MAX_LITERALS
        )

    def take(self, batch: EventBatch, low: int, high: int, table: DefinitionTable) -> int:
        """Add the calls low to high - 1. Returns their number, fewer if another section is needed."""
        terminals = self._splitter.code(batch, low, high, table, self._coder)
        taken = len(terminals)
        if not taken:
            return 0
        self._grammar.feed(terminals)
        start = batch.start[low : low + taken].astype(np.int64)
        duration = batch.duration[low : low + taken].astype(np.int64)
        self._held.append((start, duration))
        self._held_calls += taken
        while self._held_calls >= MAX_CHUNK:
            self._stamp(MAX_CHUNK)
        self._first_ns = min(self._first_ns, int(start.min()))
        self._last_ns = max(self._last_ns, int((start + duration).max()))
        self.calls += taken
        return taken

    def close(self) -> Section:
        if self._held_calls:
            self._stamp(self._held_calls)
        groups, threads = self._splitter.groups()
        return Section(
            self.calls,
            self._first_ns,
            self._last_ns,
            groups,
            self._splitter.calls,
            self._splitter.templates.texts,
            threads,
            self._coder.new_terminals(),
            self._grammar.finish(),
            self._coder.take_literals(),
            self._stamps,
        )

    def _stamp(self, count: int) -> None:
        """Pack that many of the buffered times; large chunks need less space and time."""
        start = np.concatenate([each for each, _ in self._held])
        duration = np.concatenate([each for _, each in self._held])
        self._stamps.append(pack_stamps(start[:count], duration[:count], self._tick_ns))
        self._held_calls -= count
        self._held = [(start[count:], duration[count:])] if self._held_calls else []


def calls_of(
    section: Section,
    interner: Interner,
    where: str = "section",
    known: dict[str, int] | None = None,
    *,
    signatures: bool = True,
) -> Iterator[EventBatch]:
    """Yield a section's calls in order, in batches of at most 65,536.

    Args:
        section: a section, as compressed or as read from an untrusted file.
        interner: assigns numbers to calls and signatures; take its fresh definitions after each batch.
        where: name for errors.
        known: the interner's numbers of signatures, kept from section to section of a stream.
        signatures: decode signatures, which takes a third of the time.

    Raises:
        InputError: the parts of the section contradict each other.
    """
    threads = np.array(section.threads, np.int64).reshape(len(section.threads), 3)
    texts = Texts(section.names, section.templates, interner, known, with_signatures=signatures)
    coder = Coder(len(FIELDS), FIRST_OF_HANDLE)
    coder.define(section.terminals)
    for field, values in enumerate(section.literals):
        coder.add_literals(field, values)
    if sum(stamps.calls for stamps in section.stamps) != section.calls:
        raise InputError(where, None, "as many times as calls are not there", f"{section.calls}")
    terminals = expand(section.rules, section.calls, where)
    at = 0
    for stamps in section.stamps:
        count = stamps.calls
        part = terminals[at : at + count]
        at += count
        numbers, fields = coder.decode(part)
        if len(numbers) != count or (count and int(numbers.max()) >= len(section.groups)):
            raise InputError(where, None, "a call is not defined", "terminals, literals and groups for all calls")
        start, duration = unpack_stamps(stamps, where)
        yield join(section.groups[numbers], threads, fields, start, duration, texts)
