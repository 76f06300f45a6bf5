"""Encode parts of many streams as one block. Shared pieces are stored by number, others as patterns over ranks."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Final, NamedTuple

import msgspec
import numpy as np

from ...events.errors import InputError
from ..codec.encoding import MAX_NUMBERS
from ..integers import integers
from ..integers.integers import Packed, decode_varints, encode_varints, pack_array, unpack_array
from .rank_patterns import Integers, Members, Patterns, encode_members

_CHUNK: Final = 1 << 16
"""Number of kept numbers that are packed together. Reading one member unpacks no more than these."""
_FEW: Final = _CHUNK
"""Number of values up to which a chunk may be a piece. It is then deflated together with similar ones."""
_WORTH: Final = 1.2
"""Maximum ratio of a piece's size, deflated alone, to the result of ``integers.pack``."""
_LITTLE: Final = 256
_DEFLATE_MORE: Final = 16
"""Maximum number of bytes that deflation adds to such small data."""
_WIDEST: Final = 1 << 18
_MAX_LINES: Final = 1 << 22
_OVERHEAD: Final = 1024
_Count = Annotated[int, msgspec.Meta(ge=0, lt=2**32)]


class Key(NamedTuple):
    """Parts with equal keys are merged.

    Attributes:
        kind: kind of the parts.
        ordinal: index among the stream's parts of this kind, from 0.
        lane: numbering of members: 0 by their order, others by rank.
        pieces: numbers of the pieces.
        width: number of numbers in a part.
    """

    kind: int
    ordinal: int
    lane: int
    pieces: tuple[int, ...]
    width: int


class _Payload(msgspec.Struct, array_like=True, frozen=True):
    kind: int
    ordinal: _Count
    lane: _Count
    pieces: list[_Count]
    width: _Count
    members: tuple[Packed, Packed, Packed]
    slopes: Packed
    counts: tuple[Packed, Packed, Packed]
    begins: Packed
    firsts: Packed
    steps: Packed
    by_column: bool
    kept: list[_Count | bytes]


_decoder = msgspec.msgpack.Decoder(_Payload)
_encoder = msgspec.msgpack.Encoder()


def encode_merged(key: Key, patterns: Patterns, number_of: Callable[[bytes], int]) -> bytes:
    """Encode the parts of members with a common key.

    Args:
        key: the common key.
        patterns: their numbers.
        number_of: function that stores a piece and returns its number.
    """
    by_column, few, chunks = _encode_kept(patterns.kept)
    kept: list[int | bytes] = [number_of(chunk) for chunk in chunks] if few else [*chunks]
    slopes = patterns.slopes if patterns.slopes.any() else patterns.slopes[:0]
    return _encoder.encode(
        _Payload(
            key.kind,
            key.ordinal,
            key.lane,
            list(key.pieces),
            key.width,
            encode_members(patterns.ranks),
            pack_array(slopes),
            encode_members(patterns.counts),
            pack_array(patterns.begins if patterns.begins.any() else patterns.begins[:0]),
            pack_array(patterns.firsts),
            pack_array(patterns.steps),
            by_column,
            kept,
        )
    )


@dataclass(frozen=True, eq=False)
class MergedParts:
    """The parts of some streams, which can be read one at a time.

    Attributes:
        key: the common key.
        members: ranks of the streams.
    """

    key: Key
    members: Members
    _payload: _Payload
    _where: str
    _piece: Callable[[int], bytes]

    @classmethod
    def decode(cls, payload: bytes, where: str, piece: Callable[[int], bytes]) -> MergedParts:
        """Decode merged parts, without their numbers.

        Args:
            payload: result of ``encode_merged``.
            where: name of the file, for errors.
            piece: function that returns the piece with a given number.

        Raises:
            InputError: the payload is malformed, or has more members than an archive may.
        """
        try:
            found = _decoder.decode(payload)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise InputError(where, None, f"merged parts cannot be decoded: {error}", _EXPECTED) from None
        if found.width > MAX_NUMBERS:
            raise InputError(where, None, f"parts of {found.width} numbers", f"at most {MAX_NUMBERS}")
        members = Members.decode(found.members, where)
        key = Key(found.kind, found.ordinal, found.lane, tuple(found.pieces), found.width)
        return cls(key, members, found, where, piece)

    @property
    def nbytes(self) -> int:
        """Approximate memory use, including unpacked data."""
        values = [each for held in self.__dict__.values() for each in (held if isinstance(held, tuple) else (held,))]
        unpacked = sum(int(each.nbytes) for each in values if isinstance(each, np.ndarray))
        return (
            unpacked
            + sum(len(each) for each in self._payload.kept if isinstance(each, bytes))
            + 24 * self.members.lines
            + _OVERHEAD
        )

    @property
    def lines(self) -> int:
        """Number of lines of all columns."""
        return len(self._lines[0])

    @property
    def columns_kept(self) -> int:
        """Number of columns without a pattern."""
        return len(self._kept)

    def numbers_of(self, rank: int, place: int) -> Integers:
        """Return a member's numbers, int64[width].

        Raises:
            InputError: the block is inconsistent.
        """
        begins, firsts, steps = self._lines
        out = np.empty(self.key.width, np.int64)
        if len(firsts):
            wanted = np.arange(len(self._has_lines)) * len(self.members) + place
            line = np.searchsorted(self._line_keys, wanted, "right") - 1
            values = firsts[line] + steps[line] * (place - begins[line])
            out[self._has_lines] = values + self._slopes[self._has_lines] * np.int64(rank)
        if len(self._kept):
            out[self._kept] = self._stored_numbers(place)
        return out

    @cached_property
    def _counts(self) -> Integers:
        """Lines of each column, int64[width]; 0: the column is kept."""
        packed = self._payload.counts
        firsts, steps, lengths = (unpack_array(each, self.key.width, self._where) for each in packed)
        if not len(firsts) == len(steps) == len(lengths) or (lengths <= 0).any() or (lengths > self.key.width).any():
            raise self._broken("counts of lines")
        if int(lengths.sum()) != self.key.width:
            raise self._broken("a count of lines for each column")
        along = np.arange(self.key.width) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        counts = np.repeat(firsts, lengths) + np.repeat(steps, lengths) * along
        if len(counts) and (counts.min() < 0 or counts.max() > len(self.members) or int(counts.sum()) > _MAX_LINES):
            raise self._broken(f"at most {_MAX_LINES} lines")
        return counts

    @cached_property
    def _lines(self) -> tuple[Integers, Integers, Integers]:
        """Begin, first value and step of each line."""
        counts = self._counts[self._counts > 0]
        total = int(counts.sum())
        firsts = unpack_array(self._payload.firsts, total, self._where)
        steps = unpack_array(self._payload.steps, total, self._where)
        begins = unpack_array(self._payload.begins, total, self._where)
        if not len(begins):
            begins = np.zeros(total, np.int64)
        if not len(begins) == len(firsts) == len(steps) == total:
            raise self._broken("begin, value and step for each line")
        at_first = np.zeros(total, bool)
        at_first[np.cumsum(counts) - counts] = True
        ascending = begins[1:] > begins[:-1]
        fits = (begins >= 0) & (begins < len(self.members))
        if not fits.all() or begins[at_first].any() or not (ascending | at_first[1:]).all():
            raise self._broken("lines one after the other")
        return begins, firsts, steps

    @cached_property
    def _line_keys(self) -> Integers:
        """Begin of each line, over all columns in sequence."""
        counts = self._counts[self._has_lines]
        return np.repeat(np.arange(len(counts)), counts) * len(self.members) + self._lines[0]

    @cached_property
    def _slopes(self) -> Integers:
        slopes = unpack_array(self._payload.slopes, self.key.width, self._where)
        if len(slopes) not in (0, self.key.width):
            raise self._broken("a slope for each column")
        return slopes if len(slopes) else np.zeros(self.key.width, np.int64)

    @cached_property
    def _has_lines(self) -> Integers:
        """The columns that have lines."""
        return np.flatnonzero(self._counts)

    @cached_property
    def _kept(self) -> Integers:
        """The columns that are kept."""
        return np.flatnonzero(self._counts == 0)

    def _stored_numbers(self, place: int) -> Integers:
        width = len(self._kept)
        row, kept = place // _rows(width), self._payload.kept
        rows = min(_rows(width), len(self.members) - row * _rows(width))
        spans = list(_spans(width))
        parts = []
        for number, (low, high) in enumerate(spans):
            at = row * len(spans) + number
            if at >= len(kept):
                raise self._broken("the columns that are kept")
            values = self._chunk(at, rows * (high - low))
            table = values.reshape(high - low, rows).T if self._payload.by_column else values.reshape(rows, high - low)
            parts.append(table[place % _rows(width)])
        return np.concatenate(parts)

    def _chunk(self, at: int, count: int) -> Integers:
        """Unpack a chunk; the last one is cached, because members are usually read in sequence."""
        held: dict[int, Integers] = self.__dict__.setdefault("_held", {})
        if at not in held:
            held.clear()
            kept = self._payload.kept[at]
            if isinstance(kept, bytes):
                held[at] = integers.unpack(kept, count, self._where)
            else:
                held[at] = decode_varints(self._piece(kept), count, self._where)
        return held[at]

    def _broken(self, expected: str) -> InputError:
        return InputError(self._where, None, "merged parts contradict themselves", expected)


_EXPECTED: Final = "what this version writes"


def _rows(width: int) -> int:
    """Return the number of members whose kept numbers are packed together."""
    return max(_CHUNK // max(width, 1), 1)


def _spans(width: int) -> Iterator[tuple[int, int]]:
    for low in range(0, width, _WIDEST):
        yield low, min(low + _WIDEST, width)


def _encode_kept(kept: Integers) -> tuple[bool, bool, list[bytes]]:
    """Return whether the layout is by column, whether chunks are pieces, and the chunks."""
    members, width = kept.shape
    chunks = [
        kept[row : row + _rows(width), low:high]
        for row in range(0, members, _rows(width))
        for low, high in _spans(width)
    ]
    ways = [(by_column, [_flat(chunk, by_column) for chunk in chunks]) for by_column in (False, True)[:members]]
    fewest: int | None = None
    if max((chunk.size for chunk in chunks), default=0) <= _FEW:
        short = [(by_column, True, [encode_varints(each) for each in way]) for by_column, way in ways]
        if members == 1 and len(chunks) == 1 and len(short[0][2][0]) <= _LITTLE - _DEFLATE_MORE:
            return short[0]  # the only layout, and small when deflated, too
        sizes = [sum(len(zlib.compress(each, 1)) for each in way) for _, _, way in short]
        fewest = min(sizes)
        best_short = short[sizes.index(fewest)]
        if fewest < _LITTLE:
            return best_short
    packed = [(by_column, False, [integers.pack(each) for each in way]) for by_column, way in ways]
    best = min(packed, key=lambda way: sum(map(len, way[2])))
    return best if fewest is None or fewest >= _WORTH * sum(map(len, best[2])) + _LITTLE else best_short


def _flat(chunk: Integers, by_column: bool) -> Integers:
    return np.ascontiguousarray(chunk.T if by_column else chunk).reshape(-1)
