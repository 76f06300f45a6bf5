"""Exact piecewise patterns of numbers over ranks: a * rank + b per piece.

Source: [Recorder] (offsets of processes as a * rank + b). All arithmetic is modulo 2^64, so that it is reversible.

The ranks themselves are arithmetic sequences ("lines"). A thousand consecutive ranks are one line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from ...events.errors import InputError
from ..integers.integers import Packed, pack_array, unpack_array

Integers = npt.NDArray[np.int64]

_SLAB: Final = 1 << 18
"""Number of values processed together, which bounds the temporary memory."""
_POINTS_A_PIECE: Final = 3
"""Minimum average number of members per piece; a column with shorter pieces is kept."""
MAX_MEMBERS: Final = 1 << 22
"""Maximum number of streams in an archive."""


class Patterns(Struct, frozen=True, eq=False):
    """A table of int64 with a row for each of n members and k columns.

    A column is its slope times the member's rank plus pieces, each a straight line over consecutive members; or it is
    kept unchanged.

    Attributes:
        ranks: ranks of the members, ascending and distinct, int64[n].
        slopes: slope of each column, int64[k].
        counts: number of pieces of each column, int64[k]; 0: it is kept.
        begins: member at which each piece begins, column after column, int64[pieces].
        firsts: its value there, minus slope times rank, int64[pieces].
        steps: growth from member to member, int64[pieces].
        kept: the columns without pieces, int64[n, m].
    """

    ranks: Integers
    slopes: Integers
    counts: Integers
    begins: Integers
    firsts: Integers
    steps: Integers
    kept: Integers

    @property
    def nbytes(self) -> int:
        """Memory use, bytes."""
        arrays = (self.ranks, self.slopes, self.counts, self.begins, self.firsts, self.steps, self.kept)
        return sum(each.nbytes for each in arrays)

    def columns(self, low: int, high: int) -> Integers:
        """Return a range of columns, int64[high - low, n]: one row per column."""
        members = len(self.ranks)
        counts = self.counts[low:high]
        before = int(self.counts[:low].sum())
        here = slice(before, before + int(counts.sum()))
        out = np.empty((len(counts), members), np.int64)
        lined = counts > 0
        if lined.any():
            begins, firsts, steps = self.begins[here], self.firsts[here], self.steps[here]
            column = np.repeat(np.arange(int(lined.sum())), counts[lined])
            lengths = np.diff(np.append(begins + column * members, int(lined.sum()) * members))
            along = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
            lines = np.repeat(firsts, lengths) + np.repeat(steps, lengths) * along
            out[lined] = lines.reshape(-1, members) + self.slopes[low:high][lined, None] * self.ranks
        first_kept = int((self.counts[:low] == 0).sum())
        out[~lined] = self.kept[:, first_kept : first_kept + int((~lined).sum())].T
        return out


def find_patterns(ranks: Integers, table: Integers) -> Patterns:
    """Find the patterns of a table.

    Args:
        ranks: distinct ranks of the members in any order, int64[n].
        table: int64[n, k].
    """
    if len(ranks) == 1:
        return _of_one(ranks, table)
    order = np.argsort(ranks)
    width = table.shape[1]
    return _of_slabs(ranks[order], (table[order, low:high].T for low, high in _slabs(len(ranks), width)))


def _of_one(ranks: Integers, table: Integers) -> Patterns:
    zeros = np.zeros(table.shape[1], np.int64)
    return Patterns(ranks, zeros, zeros, zeros[:0], zeros[:0], zeros[:0], table)


def merge_patterns(one: Patterns, other: Patterns) -> Patterns:
    """Merge tables with the same columns and different members. Only a few columns are expanded at a time."""
    ranks = np.concatenate([one.ranks, other.ranks])
    order = np.argsort(ranks)

    def both() -> Iterator[Integers]:
        for low, high in _slabs(len(ranks), len(one.counts)):
            yield np.concatenate([one.columns(low, high), other.columns(low, high)], axis=1)[:, order]

    return _of_slabs(ranks[order], both())


def lines_of(values: Integers) -> tuple[Integers, Integers, Integers]:
    """Return values, int64[n], as straight lines: first value, step and length of each."""
    if len(values) < 2:
        return values, np.zeros(len(values), np.int64), np.ones(len(values), np.int64)
    begins = np.flatnonzero(_begins(values[None, :])[0])
    lengths = np.diff(np.append(begins, len(values)))
    return values[begins], _steps(values[None, :], np.zeros(len(begins), np.int64), begins, lengths), lengths


def _slabs(members: int, width: int) -> list[tuple[int, int]]:
    step = max(_SLAB // max(members, 1), 1)
    return [(low, min(low + step, width)) for low in range(0, width, step)]


def _of_slabs(ranks: Integers, slabs: Iterable[Integers]) -> Patterns:
    parts = [_of_slab(ranks, slab) for slab in slabs]
    if not parts:
        parts = [_of_slab(ranks, np.zeros((0, len(ranks)), np.int64))]
    *lines, kept = zip(*parts, strict=True)
    slopes, counts, begins, firsts, steps = (np.concatenate(each) for each in lines)
    return Patterns(ranks, slopes, counts, begins, firsts, steps, np.concatenate(kept, axis=1))


def _of_slab(ranks: Integers, values: Integers) -> tuple[Integers, ...]:
    """Return all fields except the ranks for columns int64[columns, n]."""
    width, members = values.shape
    if members < 2 or not width:
        nothing = np.zeros(0, np.int64)
        zeros = np.zeros(width, np.int64)
        return zeros, zeros, nothing, nothing, nothing, np.ascontiguousarray(values.T)
    begins, slopes = _begins(values), np.zeros(width, np.int64)
    if not _is_even(ranks):
        tried = _slopes(ranks, values)
        sloped = _begins(values - tried[:, None] * ranks)
        better = sloped.sum(axis=1) < begins.sum(axis=1)
        slopes[better], begins[better] = tried[better], sloped[better]
    counts = begins.sum(axis=1, dtype=np.int64)
    lined = (counts == 1) | (_POINTS_A_PIECE * counts <= members)
    counts[~lined] = slopes[~lined] = 0
    lines = values[lined] - slopes[lined, None] * ranks
    column, begin = np.nonzero(begins[lined])
    lengths = np.diff(np.append(begin + column * members, len(lines) * members))
    steps = _steps(lines, column, begin, lengths)
    return slopes, counts, begin, lines[column, begin], steps, np.ascontiguousarray(values[~lined].T)


def _steps(lines: Integers, column: Integers, begin: Integers, lengths: Integers) -> Integers:
    following = np.minimum(begin + 1, lines.shape[1] - 1)
    return np.where(lengths > 1, lines[column, following] - lines[column, begin], 0)


def _is_even(ranks: Integers) -> bool:
    steps = np.diff(ranks)
    return bool((steps == steps[0]).all())


def _slopes(ranks: Integers, values: Integers) -> Integers:
    """Return the slope over ranks, estimated from two members in the middle. It is 0 if it is not an integer."""
    middle = len(ranks) // 2
    step = ranks[middle] - ranks[middle - 1]
    grown = values[:, middle] - values[:, middle - 1]
    return np.where(grown % step == 0, grown // step, 0)


def _begins(values: Integers) -> npt.NDArray[np.bool_]:
    """Return where each column is cut so that each piece is a line. Columns are rows of int64[columns, n], n >= 2.

    A piece extends as far as its first step continues; the step after that leads to the next piece.
    """
    width, members = values.shape
    steps = values[:, 1:] - values[:, :-1]
    changes = np.ones(steps.shape, bool)
    changes[:, 1:] = steps[:, 1:] != steps[:, :-1]
    at = np.flatnonzero(changes)  # beginning of each run of equal steps
    is_first = at % (members - 1) == 0
    lengths = np.diff(np.append(at, width * (members - 1)))
    after_one = np.concatenate([[False], lengths[:-1] == 1])
    # Whether a run begins with a step between pieces: yes after a run of several steps, which are a piece; after a
    # single step, if that was not such a step itself.
    is_cut = is_first | ~after_one
    stretch = np.arange(len(at))
    last_cut = np.maximum.accumulate(np.where(is_cut, stretch, 0))
    continues = ~is_first[last_cut] ^ ((stretch - last_cut) % 2 == 1)
    begins = np.zeros(values.shape, bool)
    begins[:, 0] = True
    between = at[continues]
    begins[between // (members - 1), between % (members - 1) + 1] = True
    return begins


class Members(Struct, frozen=True, eq=False):
    """Ascending ranks, each below 2^32.

    Attributes:
        firsts: lowest rank of each line, int64[lines].
        steps: difference between neighbours.
        lengths: number of ranks.
    """

    firsts: Integers
    steps: Integers
    lengths: Integers

    @classmethod
    def decode(cls, packed: tuple[Packed, Packed, Packed], where: str) -> Members:
        """Decode the result of ``encode_members``.

        Raises:
            InputError: the ranks are not ascending, or more than an archive may have.
        """
        firsts, steps, lengths = (unpack_array(each, MAX_MEMBERS, where) for each in packed)
        if not 0 < len(firsts) == len(steps) == len(lengths):
            raise InputError(where, None, "ranks in lines of unequal columns", "first, step and length for each")
        fits = (firsts >= 0) & (firsts < 2**32) & (steps >= 0) & (steps < 2**32)
        if not (fits & (lengths > 0) & (lengths <= MAX_MEMBERS)).all() or int(lengths.sum()) > MAX_MEMBERS:
            raise InputError(where, None, "ranks out of range", f"at most {MAX_MEMBERS} below 2^32")
        lasts = firsts + steps * (lengths - 1)
        if ((steps == 0) & (lengths > 1)).any() or (firsts[1:] <= lasts[:-1]).any() or int(lasts[-1]) >= 2**32:
            raise InputError(where, None, "ranks out of order", "ascending ranks")
        return cls(firsts, steps, lengths)

    def __len__(self) -> int:
        return int(self.lengths.sum())

    @property
    def lines(self) -> int:
        """Number of lines."""
        return len(self.firsts)

    @property
    def first(self) -> int:
        """The lowest rank."""
        return int(self.firsts[0])

    @property
    def last(self) -> int:
        """The highest rank."""
        return int(self.firsts[-1] + self.steps[-1] * (self.lengths[-1] - 1))

    def place_of(self, rank: int) -> int | None:
        """Return the index of the member with a rank, from 0. Returns None if there is none."""
        line = int(np.searchsorted(self.firsts, rank, "right")) - 1
        if line < 0:
            return None
        along, rest = divmod(rank - int(self.firsts[line]), max(int(self.steps[line]), 1))
        if rest or along >= int(self.lengths[line]):
            return None
        return int(self.lengths[:line].sum()) + along

    def all(self) -> Integers:
        """Return all ranks."""
        along = np.arange(len(self)) - np.repeat(np.cumsum(self.lengths) - self.lengths, self.lengths)
        return np.repeat(self.firsts, self.lengths) + np.repeat(self.steps, self.lengths) * along


def encode_members(ranks: Integers) -> tuple[Packed, Packed, Packed]:
    """Encode ascending ranks, int64[n]."""
    firsts, steps, lengths = lines_of(ranks)
    return pack_array(firsts), pack_array(steps), pack_array(lengths)
