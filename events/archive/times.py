"""When the calls of a section were, as the payload of a block: the only thing that every stream has for itself."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import Annotated, Final, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from ..errors import InputError

_Number = Annotated[int, msgspec.Meta(ge=0, lt=2**32)]
_Int64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]


@dataclass(frozen=True, slots=True)
class Times:
    """First start and last end in ns, and the stamps of ``Section``."""

    first_ns: int
    last_ns: int
    stamps: list[tuple[int, bytes, bytes]]


class _Payload(msgspec.Struct, array_like=True, frozen=True):
    lane: _Number
    rank: _Number
    ordinal: _Number
    first_ns: _Int64
    last_ns: _Int64
    stamps: list[tuple[_Number, bytes, bytes]]


class Place(NamedTuple):
    """Times of a section in a file: what they cover, and where they are."""

    first_ns: int
    last_ns: int
    at: int
    length: int


_COLUMNS: Final = 7
_decoder = msgspec.msgpack.Decoder(_Payload)
_encoder = msgspec.msgpack.Encoder()


def encode_times(lane: int, rank: int, ordinal: int, times: Times) -> bytes:
    """Encodes the times of a stream's section number ``ordinal``; for lane and rank see ``Merger.add``."""
    return _encoder.encode(_Payload(lane, rank, ordinal, times.first_ns, times.last_ns, times.stamps))


def decode_times(payload: bytes, where: str) -> tuple[tuple[int, int, int], Times]:
    """Returns lane, rank and ordinal, and the times.

    Raises:
        InputError: the payload is none of times.
    """
    try:
        found = _decoder.decode(payload)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(where, None, f"times cannot be decoded: {error}", "what this version writes") from None
    return (found.lane, found.rank, found.ordinal), Times(found.first_ns, found.last_ns, found.stamps)


class TimesIndex:
    """Where in the file the times of which section are."""

    def __init__(self) -> None:
        self._rows = array("q")
        self._sorted: npt.NDArray[np.int64] | None = None

    def add(self, member: tuple[int, int, int], times: Times, at: int, length: int) -> None:
        """Takes in a block of times; for member see ``decode_times``."""
        lane, rank, ordinal = member
        self._rows.extend((lane, rank, ordinal, times.first_ns, times.last_ns, at, length))
        self._sorted = None

    def of(self, lane: int, rank: int) -> dict[int, Place]:
        """Returns the places of a stream's times by number of the section."""
        if self._sorted is None:
            rows = np.frombuffer(self._rows, np.int64).reshape(-1, _COLUMNS)
            self._sorted = rows[np.lexsort(rows[:, 2::-1].T)]
            self._members = self._sorted[:, 0].astype(np.uint64) << np.uint64(32) | self._sorted[:, 1].astype(np.uint64)
        wanted = np.uint64(lane << 32 | rank)
        low, high = (int(np.searchsorted(self._members, wanted, side)) for side in ("left", "right"))
        return {row[2]: Place(*row[3:]) for row in self._sorted[low:high].tolist()}
