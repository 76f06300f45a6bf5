"""Read Recorder's traces (2.3 to 2.5). A trace is a folder with signatures, grammars and times of all ranks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from ....events import InputError, StreamInfo
from ...source import Chunk, Closed, Input, Opened, SourceItem
from .files import Facts, Signature, read_facts, read_grammar, read_grammar_numbers, read_signatures, read_ticks
from .grammar import Grammar
from .signature_table import Table

AT_ONCE: Final = 65_536
"""Number of calls that are read together."""
_RANK: Final = re.compile(r"0|[1-9][0-9]{0,11}")
_SINCE_2000_S: Final = 946_684_800
_LATEST_NS: Final = 2**62
_BACK: Final = 2**32 - 2**24
"""A larger tick difference means a start before the previous call's, by another thread, written as unsigned."""


def read_recorder(folder: Path, about: Input) -> Iterator[list[SourceItem]]:
    """Yield the calls of all ranks, one stream each.

    Raises:
        InputError: the trace as a whole cannot be read. Damage to one rank is reported, and the others are read.
    """
    facts = read_facts(folder)
    grammars = read_grammar_numbers(folder, facts.ranks) if facts.merged else np.arange(facts.ranks)
    shared = read_signatures(folder / "0.cst", facts.version) if facts.merged else None
    about.unsupported.add("starts of ranks: each begins with rank 0's, the only one in the trace", facts.ranks - 1)
    stems = (path.stem for path in folder.glob("*.ts"))
    ranks = sorted(int(stem) for stem in stems if _RANK.fullmatch(stem) and int(stem) < facts.ranks)
    for rank in ranks:
        try:
            made = _Rank(folder, rank, int(grammars[rank]), facts, shared, about)
        except InputError as error:
            about.counters["lines_malformed"] += 1
            about.problems.add(error)
            continue
        yield from made.read()
    if len(ranks) < facts.ranks:
        problem = f"{facts.ranks - len(ranks)} of {facts.ranks} ranks have no file of times"
        about.malformed(None, problem, f"0.ts to {facts.ranks - 1}.ts")


class _Rank:
    """One rank's calls.

    Raises:
        InputError: its signatures or its grammar are corrupt.
    """

    def __init__(
        self,
        folder: Path,
        rank: int,
        grammar: int,
        facts: Facts,
        shared: list[Signature | None] | None,
        about: Input,
    ) -> None:
        signatures = read_signatures(folder / f"{rank}.cst", facts.version) if shared is None else shared
        path = folder / f"{grammar}.cfg"
        try:
            self._grammar = Grammar(read_grammar(path), len(signatures))
        except ValueError as error:
            raise InputError(str(path), None, f"the grammar is damaged: {error}", "what Recorder wrote") from None
        self._ticks = folder / f"{rank}.ts"
        self._rank = rank
        self._facts = facts
        self._about = about
        self._table = Table(signatures, facts.functions, rank, self._grammar.terminals.tolist())
        self._counts = np.zeros(len(signatures), np.int64)
        self._start = facts.start_s * 1e9

    def read(self) -> Iterator[list[SourceItem]]:
        """Yield its stream; missing or excess times are reported."""
        about, facts = self._about, self._facts
        stream = about.stream("recorder", f"rank{self._rank}")
        info = StreamInfo(
            job=about.origin.job,
            source="recorder",
            host=about.origin.host,
            user=about.origin.user,
            rank=self._rank,
            ranks=facts.ranks,
            origin=about.name,
            clock_offset_ns=0 if facts.start_s >= _SINCE_2000_S else None,
        )
        yield [Opened(stream, info)]
        size = self._ticks.stat().st_size
        if size != 8 * len(self._grammar):
            problem = f"{self._ticks.name} has {size} bytes for {len(self._grammar):,} calls"
            about.malformed(None, problem, "8 bytes for each: as many calls are read as there are of both")
        about.counters["bytes_read"] += size
        calls = _evenly(self._grammar.pieces(AT_ONCE), AT_ONCE)
        before = 0
        try:
            for terminals, ticks in zip(calls, read_ticks(self._ticks, AT_ONCE), strict=False):
                length = min(len(terminals), len(ticks))
                starts, ends, before = _times(ticks[:length], before)
                yield self._piece(stream, terminals[:length], starts, ends)
        except OSError as error:
            about.malformed(None, f"{self._ticks.name} cannot be read ({error.strerror})", "a file of the trace")
        self._table.report_omissions(self._counts, about.unsupported)
        yield [Closed(stream)]

    def _piece(
        self,
        stream: str,
        terminals: npt.NDArray[np.int32],
        starts: npt.NDArray[np.int64],
        ends: npt.NDArray[np.int64],
    ) -> list[SourceItem]:
        self._counts += np.bincount(terminals, minlength=len(self._counts))
        begin, finish = self._nanoseconds(starts), self._nanoseconds(ends)
        batch, _ = self._table.batch(terminals, begin, np.maximum(finish - begin, 0))
        good = (batch.start >= 0) & (batch.end <= _LATEST_NS)
        if not good.all():
            wrong = len(batch) - int(np.count_nonzero(good))
            self._about.malformed(None, f"{wrong} calls of rank {self._rank} are at times that cannot be", "Unix times")
            batch = batch.select(good)
        self._about.counters["events"] += len(batch)
        return [Chunk(stream, batch, self._table.interner.take_fresh())]

    def _nanoseconds(self, ticks: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Convert ticks since the start to ns since the Unix epoch.

        The result is exact for ticks of whole nanoseconds.
        """
        tick_ns = self._facts.tick_s * 1e9
        whole = round(tick_ns)
        begin = round(self._start)
        if whole and abs(tick_ns - whole) < 1e-6 * tick_ns:
            return begin + np.minimum(ticks, _LATEST_NS // whole) * whole
        since: npt.NDArray[np.int64] = np.rint(np.minimum(ticks * tick_ns, float(_LATEST_NS))).astype(np.int64)
        return begin + since


def _times(ticks: npt.NDArray[np.uint32], before: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], int]:
    """Return starts and ends in ticks since the trace's start, and the last start."""
    signed = ticks.astype(np.int64)
    signed -= np.where(signed >= _BACK, 2**32, 0)
    starts = before + np.cumsum(signed[:, 0])
    ends = starts - signed[:, 0] + signed[:, 1]
    return starts, ends, int(starts[-1])


def _evenly(pieces: Iterator[npt.NDArray[np.int32]], size: int) -> Iterator[npt.NDArray[np.int32]]:
    """Split pieces of any length into pieces of one length; the last may be shorter."""
    held: list[npt.NDArray[np.int32]] = []
    length = 0
    for piece in pieces:
        held.append(piece)
        length += len(piece)
        while length >= size:
            whole = np.concatenate(held)
            yield whole[:size]
            held, length = [whole[size:]], length - size
    if length:
        yield np.concatenate(held)
