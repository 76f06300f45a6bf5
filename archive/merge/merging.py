"""Merge parts of streams incrementally in a tree. They are never all in memory individually."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from hashlib import blake2b
from itertools import zip_longest
from operator import itemgetter
from typing import Final

import numpy as np
from msgspec import Struct, field

from ..blocks import MAX_BUNDLE, MAX_PIECE, BlockKind, encode_bundle
from ..codec.encoding import MAX_NUMBERS, Part, PartKind
from .merged import Key, encode_merged
from .rank_patterns import Integers, Patterns, find_patterns, merge_patterns

_LEAF_MEMBERS: Final = 512
_LEAF_NUMBERS: Final = 1 << 18
_MAX_PENDING: Final = 1 << 25
"""Bytes of numbers without a pattern, and of patterns, above which they are written."""
_MAX_KNOWN: Final = 65_536
"""Maximum number of remembered pieces, by digest."""
_MAX_REPEATED: Final = 256
"""Maximum number of remembered lists of pieces."""
_MAX_REPEATED_BYTES: Final = 1 << 22
"""Maximum size of these pieces, bytes; above it all are forgotten."""
_NUMBERS: Final = 9
"""Index of the numbers without a pattern among the pieces of a part."""
_GROUP_BYTES: Final = 1024
"""Approximate overhead of a group, bytes."""


class _Group(Struct):
    """Parts with one key.

    The latest are kept as they are, the others as patterns over increasing numbers of members.
    """

    ranks: list[int] = field(default_factory=list)
    rows: list[Integers] = field(default_factory=list)
    leaves: list[Patterns] = field(default_factory=list)

    def add(self, rank: int, numbers: Integers) -> int:
        """Add a member; return the growth of the group in bytes."""
        self.ranks.append(rank)
        self.rows.append(numbers)
        grown = numbers.nbytes
        if len(self.rows) >= _LEAF_MEMBERS or len(self.rows) * len(numbers) >= _LEAF_NUMBERS:
            grown += self._close_leaf()
        return grown

    def all_patterns(self) -> Patterns:
        """Return all members."""
        if self.rows:
            self._close_leaf()
        while len(self.leaves) > 1:
            last = self.leaves.pop()
            self.leaves[-1] = merge_patterns(self.leaves[-1], last)
        return self.leaves[0]

    def _close_leaf(self) -> int:
        grown = -sum(each.nbytes for each in self.rows) - sum(leaf.nbytes for leaf in self.leaves)
        self.leaves.append(find_patterns(np.array(self.ranks, np.int64), np.stack(self.rows)))
        self.ranks, self.rows = [], []
        while len(self.leaves) > 1 and len(self.leaves[-2].ranks) < 2 * len(self.leaves[-1].ranks):
            last = self.leaves.pop()
            self.leaves[-1] = merge_patterns(self.leaves[-1], last)
        return grown + sum(leaf.nbytes for leaf in self.leaves)


class Merger:
    """Merges parts of streams into blocks: shared data once, the rest as patterns.

    Args:
        write: function that receives a block.
        pieces: number of pieces already in the file.

    Attributes:
        pieces: current number of pieces.
    """

    def __init__(self, write: Callable[[BlockKind, bytes], None], pieces: int = 0) -> None:
        self._write = write
        self._groups: dict[Key, _Group] = {}
        self._known: dict[bytes, int] = {}
        self.pieces = pieces
        self._repeated: dict[tuple[PartKind, int], tuple[list[bytes], tuple[int, ...]]] = {}
        """Numbers of pieces by the identity of their list, which lives as long as it is here. Alike parts share it."""
        self._repeated_bytes = 0
        self._waiting: list[tuple[tuple[int, int], int, bytes]] = []
        """Unwritten pieces: kind, number, and the piece."""
        self._waiting_bytes = 0
        self._pending = 0

    @property
    def is_due(self) -> bool:
        """Whether so much data waits that it should be written."""
        return self._pending >= _MAX_PENDING

    def add(self, kind: PartKind, ordinal: int, lane: int, rank: int, part: Part) -> None:
        """Add a part; its new pieces may be written immediately, everything else by ``flush``.

        Args:
            kind: kind of the part.
            ordinal: index among the stream's parts of this kind.
            lane: numbering of streams: 0 by order, others by rank.
            rank: number of the stream in its lane.
            part: the part.

        Raises:
            ValueError: the part is too large.
        """
        numbers = self._numbers_of(kind, part)
        key = Key(kind, ordinal, lane, numbers, len(part.numbers))
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = _Group()
            self._pending += _GROUP_BYTES
        self._pending += group.add(rank, part.numbers)

    def flush(self) -> None:
        """Write all waiting parts, merged."""
        groups, self._groups, self._pending = self._groups, {}, 0
        merged, length = list[bytes](), 0
        keys = sorted(groups)
        for key, following in zip_longest(keys, keys[1:]):
            patterns = groups.pop(key).all_patterns()
            text = encode_merged(key, patterns, partial(self._number_of, (key.kind, _NUMBERS)))
            if length + len(text) > MAX_BUNDLE:
                self._write_merged(merged)
                merged, length = [], 0
            merged.append(text)
            length += len(text)
            if following is None or following[:2] != key[:2]:  # so that damage affects parts of one kind only
                self._write_merged(merged)
                merged, length = [], 0

    def _numbers_of(self, kind: PartKind, part: Part) -> tuple[int, ...]:
        """Return the numbers of a part's pieces."""
        known = self._repeated.get((kind, id(part.pieces)))
        if (known is None and any(len(piece) > MAX_PIECE for piece in part.pieces)) or len(part.numbers) > MAX_NUMBERS:
            raise ValueError(f"a piece has at most {MAX_PIECE} bytes, a part at most {MAX_NUMBERS} numbers")
        if known is not None:
            return known[1]
        numbers = tuple([self._number_of((kind, place), piece) for place, piece in enumerate(part.pieces)])
        size = sum(map(len, part.pieces))
        if len(self._repeated) >= _MAX_REPEATED or self._repeated_bytes + size > _MAX_REPEATED_BYTES:
            self._repeated.clear()
            self._repeated_bytes = 0
        # beyond the known pieces, an unknown one gets a new number each time
        if len(self._known) < _MAX_KNOWN and size <= _MAX_REPEATED_BYTES:
            self._repeated[kind, id(part.pieces)] = part.pieces, numbers
            self._repeated_bytes += size
        return numbers

    def _number_of(self, what: tuple[int, int], piece: bytes) -> int:
        digest = blake2b(piece, digest_size=20).digest()
        number = self._known.get(digest)
        if number is None:
            if self._waiting_bytes + len(piece) > MAX_BUNDLE:
                self._write_pieces()
            number, self.pieces = self.pieces, self.pieces + 1
            self._waiting.append((what, number, piece))
            self._waiting_bytes += len(piece)
            if len(self._known) < _MAX_KNOWN:
                self._known[digest] = number
        return number

    def _write_merged(self, merged: list[bytes]) -> None:
        """Write merged parts, after the pieces that they refer to."""
        if merged:
            self._write_pieces()
            self._write(BlockKind.MERGED, encode_bundle(merged))

    def _write_pieces(self) -> None:
        """Write the waiting pieces, grouped by kind, because those are similar."""
        if not self._waiting:
            return
        waiting = sorted(self._waiting, key=itemgetter(0))
        self._waiting, self._waiting_bytes = [], 0
        _, numbers, pieces = zip(*waiting, strict=True)
        self._write(BlockKind.PIECE, encode_bundle(pieces, numbers))
