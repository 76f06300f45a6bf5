"""Encode the times of a section's calls, which differ between all streams, as a block."""

from __future__ import annotations

from array import array
from typing import Annotated, Final, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import Struct

from ...events.errors import InputError
from ..integers import integers

_SAMPLE: Final = 4096
"""Number of calls in the sample for choosing the packing."""
_FEW: Final = 64
"""Number of calls up to which a sample costs more than it saves."""
_Number = Annotated[int, msgspec.Meta(ge=0, lt=2**32)]
_Int64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]


class Stamps(msgspec.Struct, array_like=True, frozen=True):
    """Times of at most 65,536 calls.

    Attributes:
        calls: number of calls.
        starts: packed: each start minus the durations of all earlier calls, so that the packed values are the gaps
            between calls.
        durations: packed: cumulative sums of the durations, so that the packed values are the durations; or the
            durations themselves.
        summed: whether durations are sums.
        tick_ns: unit of all values.
    """

    calls: Annotated[int, msgspec.Meta(ge=0, lt=2**32)]
    starts: bytes
    durations: bytes
    summed: bool
    tick_ns: Annotated[int, msgspec.Meta(ge=1, lt=2**32)]


def pack_stamps(start: npt.NDArray[np.int64], duration: npt.NDArray[np.int64], tick_ns: int = 1) -> Stamps:
    """Pack starts and durations, int64[n] each; all arithmetic is modulo 2^64.

    With a tick of more than 1 ns, starts and ends are rounded down to ticks.
    """
    if tick_ns > 1:
        start, end = start // tick_ns, (start + duration) // tick_ns
        duration = end - start
    until = np.cumsum(duration)
    middle = slice((len(start) - _SAMPLE) // 2, (len(start) + _SAMPLE) // 2) if len(start) > _SAMPLE else slice(None)
    summed = len(start) <= _FEW or integers.estimate(until[middle]) <= integers.estimate(duration[middle])
    starts = integers.pack(start - (until - duration))
    return Stamps(len(start), starts, integers.pack(until if summed else duration), summed, tick_ns)


def unpack_stamps(stamps: Stamps, where: str) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return starts and durations.

    Raises:
        InputError: they cannot be unpacked.
    """
    read = integers.unpack(stamps.durations, stamps.calls, where)
    duration = np.diff(read, prepend=np.int64(0)) if stamps.summed else read
    until = read if stamps.summed else np.cumsum(read)
    start = integers.unpack(stamps.starts, stamps.calls, where) + (until - duration)
    return start * stamps.tick_ns, duration * stamps.tick_ns


class Times(Struct, frozen=True):
    """First start and last end in ns, and the stamps of ``Section``."""

    first_ns: int
    last_ns: int
    stamps: list[Stamps]


class _Payload(msgspec.Struct, array_like=True, frozen=True):
    lane: _Number
    rank: _Number
    ordinal: _Number
    first_ns: _Int64
    last_ns: _Int64
    stamps: list[Stamps]


class Place(NamedTuple):
    """Times of a section in a file: their range, and their location."""

    first_ns: int
    last_ns: int
    at: int
    length: int


_COLUMNS: Final = 7
_decoder = msgspec.msgpack.Decoder(_Payload)
_encoder = msgspec.msgpack.Encoder()


def encode_times(lane: int, rank: int, ordinal: int, times: Times) -> bytes:
    """Encode the times of a stream's section number ``ordinal``; for lane and rank see ``Merger.add``."""
    return _encoder.encode(_Payload(lane, rank, ordinal, times.first_ns, times.last_ns, times.stamps))


def decode_times(payload: bytes, where: str) -> tuple[tuple[int, int, int], Times]:
    """Return lane, rank and ordinal, and the times.

    Raises:
        InputError: the payload is not a block of times.
    """
    try:
        found = _decoder.decode(payload)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(where, None, f"times cannot be decoded: {error}", "what this version writes") from None
    return (found.lane, found.rank, found.ordinal), Times(found.first_ns, found.last_ns, found.stamps)


class TimesIndex:
    """Locations in the file of the times of each section."""

    def __init__(self) -> None:
        self._rows = array("q")
        self._sorted: npt.NDArray[np.int64] | None = None

    def add(self, member: tuple[int, int, int], times: Times, at: int, length: int) -> None:
        """Add a block of times; for member see ``decode_times``."""
        lane, rank, ordinal = member
        self._rows.extend((lane, rank, ordinal, times.first_ns, times.last_ns, at, length))
        self._sorted = None

    @property
    def last_ns(self) -> int | None:
        """The latest time in all sections; None without one."""
        return max(self._rows[4::_COLUMNS], default=None)

    def of(self, lane: int, rank: int) -> dict[int, Place]:
        """Return the locations of a stream's times by number of the section."""
        if self._sorted is None:
            rows = np.frombuffer(self._rows, np.int64).reshape(-1, _COLUMNS)
            self._sorted = rows[np.lexsort(rows[:, 2::-1].T)]
            self._members = self._sorted[:, 0].astype(np.uint64) << np.uint64(32) | self._sorted[:, 1].astype(np.uint64)
        wanted = np.uint64(lane << 32 | rank)
        low, high = (int(np.searchsorted(self._members, wanted, side)) for side in ("left", "right"))
        return {row[2]: Place(*row[3:]) for row in self._sorted[low:high].tolist()}
