"""The ranks of merged streams as arithmetic sequences ("lines"). A thousand consecutive ranks are one line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from ...events.errors import InputError
from ..integers.packing import Packed, pack, unpack
from .rank_patterns import Integers, lines_of

MAX_MEMBERS: Final = 1 << 22
"""Maximum number of streams in an archive."""


@dataclass(frozen=True, slots=True, eq=False)
class Members:
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
        firsts, steps, lengths = (unpack(each, MAX_MEMBERS, where) for each in packed)
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
    return pack(firsts), pack(steps), pack(lengths)
