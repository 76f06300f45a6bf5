"""Which merged block of a file holds what of which stream; blocks are unpacked as they are asked for."""

from __future__ import annotations

import struct
import zlib
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

import numpy as np

from ..errors import InputError
from .encoding import Part, PartKind
from .members import MOST_MEMBERS, Members
from .merged import Key, MergedParts
from .merging import decode_piece
from .rank_patterns import Integers

_HELD: Final = 1 << 26
"""Bytes of unpacked blocks that are held, and of pieces."""
_FEW: Final = 2
"""Members up to which each is noted with its block."""
_FEW_LINES: Final = 64
"""Lines up to which the ranks of a block's members are held."""
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class MergedBlock:
    """Merged parts in the file: what they are, whose, and where."""

    key: Key
    first: int
    """Lowest rank."""
    last: int
    count: int
    members: Members | None
    """None: they are many, and are read again when asked for."""
    at: int
    length: int


class MergedIndex:
    """The merged parts of a file.

    Attributes:
        blocks: in the order of the file.
        where: the file's name, for errors.
    """

    def __init__(self, read: Callable[[int, int], bytes], where: str) -> None:
        self.blocks: list[MergedBlock] = []
        self._read = read
        self.where = where
        self._streams = 0
        self._pieces: dict[int, tuple[int, int]] = {}
        self._of_few: dict[tuple[int, int, int], list[int]] = defaultdict(list)
        self._of_many: dict[tuple[int, int], list[int]] = defaultdict(list)
        self._spans: dict[tuple[int, int], tuple[Integers, Integers, Integers]] = {}
        self._held_parts = _Held[MergedParts]()
        self._held_pieces = _Held[bytes]()

    def add_piece(self, number: int, at: int, length: int) -> None:
        """Takes in where a piece stands."""
        self._pieces[number] = at, length

    def add(self, payload: bytes, at: int) -> str:
        """Takes in a block; returns what its parts are.

        Raises:
            InputError: it cannot be used.
        """
        parts = MergedParts.decode(payload, self.where)
        key, members, count = parts.key, parts.members, len(parts.members)
        if key.kind not in list(PartKind):
            return "other"
        if key.kind == PartKind.STREAM:
            if self._streams + count > MOST_MEMBERS:
                raise InputError(self.where, None, f"more than {MOST_MEMBERS} streams", "fewer")
            self._streams += count
        number = len(self.blocks)
        held = members if members.lines <= _FEW_LINES else None
        self.blocks.append(MergedBlock(key, members.first, members.last, count, held, at, len(payload)))
        if count <= _FEW:
            for rank in members.all().tolist():
                self._of_few[key.kind, key.lane, rank].append(number)
        else:
            self._of_many[key.kind, key.lane].append(number)
            self._spans.pop((key.kind, key.lane), None)
        return PartKind(key.kind).name.lower()

    def members(self) -> tuple[Integers, Integers]:
        """Returns lane and rank of each stream, in that order, each once."""
        found: dict[int, list[Integers]] = defaultdict(list)
        for block in self.blocks:
            if block.key.kind == PartKind.STREAM:
                found[block.key.lane].append((block.members or self.unpacked(block).members).all())
        ranks = {lane: np.unique(np.concatenate(each)) for lane, each in sorted(found.items())}
        lanes = [np.full(len(each), lane, np.int64) for lane, each in ranks.items()]
        nothing = [np.zeros(0, np.int64)]
        return np.concatenate(lanes or nothing), np.concatenate(list(ranks.values()) or nothing)

    def of(self, kind: PartKind, lane: int, rank: int) -> list[MergedBlock]:
        """Returns the blocks with parts of a stream, in the order of its parts."""
        numbers = list(self._of_few.get((kind, lane, rank), ()))
        many = self._of_many.get((kind, lane))
        if many:
            if (kind, lane) not in self._spans:
                blocks = [self.blocks[number] for number in many]
                spans = [[each.first for each in blocks], [each.last for each in blocks], many]
                self._spans[kind, lane] = tuple(np.array(each, np.int64) for each in spans)  # type: ignore[assignment]
            firsts, lasts, of_span = self._spans[kind, lane]
            for number in of_span[(firsts <= rank) & (rank <= lasts)].tolist():
                block = self.blocks[number]
                if (block.members or self.unpacked(block).members).place_of(rank) is not None:
                    numbers.append(number)
        return sorted((self.blocks[number] for number in numbers), key=lambda block: block.key.ordinal)

    def part(self, block: MergedBlock, rank: int) -> Part:
        """Returns the part of a member.

        Raises:
            InputError: it cannot be had.
        """
        parts = self.unpacked(block)
        place = parts.members.place_of(rank)
        if place is None:
            raise InputError(self.where, None, f"no parts of rank {rank}", "a member")
        numbers = parts.numbers_of(rank, place)
        self._held_parts.note(block.at, parts, parts.nbytes)
        return Part([self._piece(number) for number in block.key.pieces], numbers)

    def unpacked(self, block: MergedBlock) -> MergedParts:
        """Returns the parts of a block, unpacked as far as they are asked for."""
        parts = self._held_parts.get(block.at)
        if parts is None:
            parts = MergedParts.decode(self._read(block.at, block.length), self.where)
            self._held_parts.note(block.at, parts, parts.nbytes)
        return parts

    def _piece(self, number: int) -> bytes:
        piece = self._held_pieces.get(number)
        if piece is None:
            if number not in self._pieces:
                raise InputError(self.where, None, f"piece {number} is missing", "a piece ahead of what uses it")
            try:
                piece = decode_piece(self._read(*self._pieces[number]))
            except (struct.error, zlib.error, ValueError) as error:
                raise InputError(self.where, None, f"piece {number} cannot be used: {error}", "a whole one") from None
            self._held_pieces.note(number, piece, len(piece))
        return piece


class _Held(Generic[_T]):
    """What was used last, of about so many bytes."""

    def __init__(self) -> None:
        self._values: OrderedDict[int, tuple[_T, int]] = OrderedDict()
        self._bytes = 0

    def get(self, number: int) -> _T | None:
        found = self._values.get(number)
        if found is None:
            return None
        self._values.move_to_end(number)
        return found[0]

    def note(self, number: int, value: _T, size: int) -> None:
        """Takes in a value, or how large a known one is now."""
        before = self._values.pop(number, None)
        self._bytes += size - (before[1] if before is not None else 0)
        self._values[number] = value, size
        while self._bytes > _HELD and len(self._values) > 1:
            _, (_, freed) = self._values.popitem(last=False)
            self._bytes -= freed
