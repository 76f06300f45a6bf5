"""Index of the merged blocks of a file by stream; blocks are unpacked on demand."""

from __future__ import annotations

import zlib
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

import msgspec
import numpy as np

from ...events.errors import InputError
from ..blocks import decode_bundle, numbers_of
from ..codec.encoding import Part, PartKind
from ..merge.merged import Key, MergedParts
from ..merge.rank_patterns import MAX_MEMBERS, Integers, Members

_HELD: Final = 1 << 26
"""Maximum size of cached unpacked blocks, and of cached pieces, bytes."""
_FEW: Final = 2
"""Maximum number of members that are indexed individually."""
_FEW_LINES: Final = 64
"""Maximum number of lines for which the ranks of a block's members stay in memory."""
_EXPECTED: Final = "what this version writes"
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class MergedBlock:
    """Merged parts in the file: kind, streams and location."""

    key: Key
    first: int
    """Lowest rank."""
    last: int
    count: int
    members: Members | None
    """None: there are many, and they are read again on demand."""
    at: int
    length: int
    place: int
    """Index in the bundle at that location."""


class MergedIndex:
    """The merged parts of a file.

    Attributes:
        blocks: blocks in the order of the file.
        where: name of the file, for errors.
    """

    def __init__(self, read: Callable[[int, int], bytes], where: str) -> None:
        self.blocks: list[MergedBlock] = []
        self._read = read
        self.where = where
        self._streams = 0
        self._pieces: dict[int, tuple[int, int, int]] = {}
        self._of_few: dict[tuple[int, int, int], list[int]] = defaultdict(list)
        self._of_many: dict[tuple[int, int], list[int]] = defaultdict(list)
        self._spans: dict[tuple[int, int], tuple[Integers, Integers, Integers]] = {}
        self._held_parts = _Held[MergedParts]()
        self._held_bundles = _Held[list[bytes]]()

    def add_pieces(self, payload: bytes, at: int) -> None:
        """Index a block of pieces.

        Raises:
            ValueError, msgspec.MsgspecError: the block is malformed.
        """
        for place, number in enumerate(numbers_of(payload)):
            self._pieces[number] = at, len(payload), place

    def add(self, payload: bytes, at: int) -> None:
        """Index a block of merged parts.

        Raises:
            InputError: some of it is unusable; the rest is indexed.
            ValueError, zlib.error, msgspec.MsgspecError: the block is malformed.
        """
        broken: InputError | None = None
        for place, text in enumerate(decode_bundle(payload)):
            try:
                parts = MergedParts.decode(text, self.where, self._piece)
                if parts.key.kind in list(PartKind):
                    self._add(parts, at, len(payload), place)
            except InputError as error:
                broken = error
        if broken is not None:
            raise broken

    def _add(self, parts: MergedParts, at: int, length: int, place: int) -> None:
        key, members, count = parts.key, parts.members, len(parts.members)
        if key.kind == PartKind.STREAM:
            if self._streams + count > MAX_MEMBERS:
                raise InputError(self.where, None, f"more than {MAX_MEMBERS} streams", "fewer")
            self._streams += count
        number = len(self.blocks)
        held = members if members.lines <= _FEW_LINES else None
        self.blocks.append(MergedBlock(key, members.first, members.last, count, held, at, length, place))
        if count <= _FEW:
            for rank in members.all().tolist():
                self._of_few[key.kind, key.lane, rank].append(number)
        else:
            self._of_many[key.kind, key.lane].append(number)
            self._spans.pop((key.kind, key.lane), None)

    def members(self) -> tuple[Integers, Integers]:
        """Return lane and rank of each stream, sorted, each once."""
        found: dict[int, list[Integers]] = defaultdict(list)
        for block in self.blocks:
            if block.key.kind == PartKind.STREAM:
                found[block.key.lane].append((block.members or self.unpacked(block).members).all())
        ranks = {lane: np.unique(np.concatenate(each)) for lane, each in sorted(found.items())}
        lanes = [np.full(len(each), lane, np.int64) for lane, each in ranks.items()]
        nothing = [np.zeros(0, np.int64)]
        return np.concatenate(lanes or nothing), np.concatenate(list(ranks.values()) or nothing)

    def of(self, kind: PartKind, lane: int, rank: int) -> list[MergedBlock]:
        """Return the blocks with parts of a stream, in the order of its parts."""
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
        """Return the part of a member.

        Raises:
            InputError: the part is unusable.
        """
        parts = self.unpacked(block)
        place = parts.members.place_of(rank)
        if place is None:
            raise InputError(self.where, None, f"no parts of rank {rank}", "a member")
        numbers = parts.numbers_of(rank, place)
        self._held_parts.note((block.at, block.place), parts, parts.nbytes)
        return Part([self._piece(number) for number in block.key.pieces], numbers)

    def unpacked(self, block: MergedBlock) -> MergedParts:
        """Return the parts of a block, unpacked on demand."""
        where = block.at, block.place
        parts = self._held_parts.get(where)
        if parts is None:
            text = self._bundle(block.at, block.length)[block.place]
            parts = MergedParts.decode(text, self.where, self._piece)
            self._held_parts.note(where, parts, parts.nbytes)
        return parts

    def _piece(self, number: int) -> bytes:
        if number not in self._pieces:
            raise InputError(self.where, None, f"piece {number} is missing", "a piece ahead of what uses it")
        at, length, place = self._pieces[number]
        return self._bundle(at, length)[place]

    def _bundle(self, at: int, length: int) -> list[bytes]:
        texts = self._held_bundles.get((at, 0))
        if texts is None:
            try:
                texts = decode_bundle(self._read(at, length))
            except (msgspec.MsgspecError, zlib.error, ValueError) as error:
                raise InputError(
                    self.where, None, f"the block at byte {at} cannot be used: {error}", _EXPECTED
                ) from None
            self._held_bundles.note((at, 0), texts, sum(map(len, texts)))
        return texts


class _Held(Generic[_T]):
    """Cache of recently used values, bounded by their approximate size."""

    def __init__(self) -> None:
        self._values: OrderedDict[tuple[int, int], tuple[_T, int]] = OrderedDict()
        self._bytes = 0

    def get(self, key: tuple[int, int]) -> _T | None:
        found = self._values.get(key)
        if found is None:
            return None
        self._values.move_to_end(key)
        return found[0]

    def note(self, key: tuple[int, int], value: _T, size: int) -> None:
        """Add a value, or update the size of a known one."""
        before = self._values.pop(key, None)
        self._bytes += size - (before[1] if before is not None else 0)
        self._values[key] = value, size
        while self._bytes > _HELD and len(self._values) > 1:
            _, (_, freed) = self._values.popitem(last=False)
            self._bytes -= freed
