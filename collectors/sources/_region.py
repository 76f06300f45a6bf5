"""The collector's view of a traced process's shared memory; the mirror of ``preload/ring.h``.

The producer publishes a ring's head with a release store after the record, and we read heads before records.
Everything read from the region may have been written by a hostile process: each number is checked before use.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import struct
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ...events import ProtocolError
from ...events.definitions import MAX_TEXT

MAGIC: Final = 0x00454449544F4931
LAYOUT: Final = 1
HEADER_BYTES: Final = 4096
HELLO: Final = struct.Struct("<QIIQQ")
"""magic, layout, extent, region_bytes, token."""

_HEADER = np.dtype(
    [
        ("magic", "<u8"), ("layout", "<u4"), ("extent", "<u4"), ("region_bytes", "<u8"), ("token", "<u8"),
        ("slot_count", "<u4"), ("ring_records", "<u4"), ("call_count", "<u4"), ("log_bytes", "<u4"),
        ("calls_offset", "<u8"), ("slots_offset", "<u8"), ("log_offset", "<u8"), ("rings_offset", "<u8"),
        ("pid", "<i4"), ("ppid", "<i4"), ("rank", "<i4"), ("ranks", "<i4"), ("clock_offset_ns", "<i8"),
        ("dropped_no_slot", "<u8"), ("dropped_reentrant", "<u8"), ("definitions_dropped", "<u8"),
        ("log_head", "<u8"), ("log_tail", "<u8"), ("job", "S128"), ("command", "S512"),
    ]
)  # fmt: skip
_SLOT = np.dtype(
    [
        ("state", "<u4"), ("tid", "<i4"), ("head", "<u8"), ("dropped_full", "<u8"), ("pad0", "V40"),
        ("tail", "<u8"), ("pad1", "V56"),
    ]
)  # fmt: skip
_CALL = np.dtype([("name", "S28"), ("layer", "u1"), ("kind", "u1"), ("pad", "V2")])
_ENTRY = struct.Struct("<IHHII")
_ENTRY_FILE = 1
RECORD: Final = np.dtype(
    [
        ("start", "<i8"), ("duration", "<i8"), ("offset", "<i8"), ("requested", "<i8"), ("bytes", "<i8"),
        ("handle", "<u4"), ("parent", "<u4"), ("file", "<u4"), ("signature", "<u4"),
        ("call", "<u2"), ("flags", "<u2"), ("layer", "u1"), ("kind", "u1"), ("errno", "u1"), ("depth", "u1"),
    ]
)  # fmt: skip
_MOST = {"slot_count": 4096, "ring_records": 1 << 22, "call_count": 4096, "log_bytes": 1 << 26}


class Region:
    """One mapped region: its header's facts, its rings and its definitions log.

    Raises:
        ProtocolError: the memory is not a region of this layout, or can still shrink under us.
    """

    def __init__(self, descriptor: int) -> None:
        size = os.fstat(descriptor).st_size
        if size < HEADER_BYTES or not fcntl.fcntl(descriptor, fcntl.F_GET_SEALS) & fcntl.F_SEAL_SHRINK:
            raise ProtocolError("a region is a memfd sealed against shrinking, with a header")
        self._memory = mmap.mmap(descriptor, size, mmap.MAP_SHARED)
        self._header = np.frombuffer(self._memory, _HEADER, count=1)
        facts = self._header[0].copy()
        self._check(facts, size)
        self.extent = int(facts["extent"])
        self.token = int(facts["token"])
        self.pid = int(facts["pid"])
        self.ppid = int(facts["ppid"])
        self.rank = int(facts["rank"])
        self.ranks = int(facts["ranks"])
        self.clock_offset_ns = int(facts["clock_offset_ns"])
        self.job = bytes(facts["job"]).decode(errors="replace")
        self.command = bytes(facts["command"]).decode(errors="replace").strip()
        self._records = int(facts["ring_records"])
        slots = int(facts["slot_count"])
        self._slots = np.frombuffer(self._memory, _SLOT, slots, int(facts["slots_offset"]))
        self._rings = np.frombuffer(self._memory, RECORD, slots * self._records, int(facts["rings_offset"]))
        self._tails = self._slots["tail"].copy()
        self._next = 0
        self._log_offset = int(facts["log_offset"])
        self._log_bytes = int(facts["log_bytes"])
        self._log_tail = int(facts["log_tail"])
        self._log_broken = False
        calls = np.frombuffer(self._memory, _CALL, int(facts["call_count"]), int(facts["calls_offset"]))
        self.calls = [bytes(name).decode(errors="replace") for name in calls["name"]]

    @staticmethod
    def _check(facts: Any, size: int) -> None:
        if int(facts["magic"]) != MAGIC or int(facts["layout"]) != LAYOUT or int(facts["region_bytes"]) != size:
            raise ProtocolError(f"a region starts with its magic, layout {LAYOUT} and its true size")
        for name, most in _MOST.items():
            if not 0 < int(facts[name]) <= most:
                raise ProtocolError(f"{name} is 1 to {most}, not {int(facts[name])}")
        records = int(facts["ring_records"])
        if records & (records - 1):
            raise ProtocolError(f"ring_records is a power of two, not {records}")
        if int(facts["log_bytes"]) % _ENTRY.size or int(facts["log_tail"]) % _ENTRY.size:
            raise ProtocolError(f"the log consists of pieces of {_ENTRY.size} bytes")
        slots = int(facts["slot_count"])
        for start, length in (
            ("calls_offset", int(facts["call_count"]) * _CALL.itemsize),
            ("slots_offset", slots * _SLOT.itemsize),
            ("log_offset", int(facts["log_bytes"])),
            ("rings_offset", slots * records * RECORD.itemsize),
        ):
            at = int(facts[start])
            if at % 8 or at < HEADER_BYTES or at + length > size:
                raise ProtocolError(f"{start} lies outside the region")

    def drain(self, most: int) -> Iterator[tuple[int, npt.NDArray[Any]]]:
        """Yields (tid, records copied out of one ring) and frees what it yields, ``most`` records in all.

        Touches only rings with news; begins after the ring that it came to last, so that none is starved.
        """
        heads = self._slots["head"].copy()
        news = np.flatnonzero(heads != self._tails)
        for slot in np.roll(news, -int(np.searchsorted(news, self._next))).tolist():
            if most <= 0:
                return
            self._next = slot + 1
            tail, head = int(self._tails[slot]), int(heads[slot])
            if not 0 < head - tail <= self._records:
                # Only a producer that breaks the layout gets here; its ring starts anew at its own head.
                self._tails[slot] = self._slots["tail"][slot] = head
                continue
            head = min(head, tail + most)
            base, first = slot * self._records, tail & (self._records - 1)
            until = min(first + head - tail, self._records)
            taken = self._rings[base + first : base + until]
            rest = head - tail - len(taken)
            taken = np.concatenate([taken, self._rings[base : base + rest]]) if rest else taken.copy()
            tid = int(self._slots["tid"][slot])
            self._tails[slot] = self._slots["tail"][slot] = head
            most -= len(taken)
            yield tid, taken

    @property
    def drained(self) -> bool:
        """True when no ring holds a record."""
        return bool((self._slots["head"] == self._tails).all())

    def log_head(self) -> int:
        """Returns the position up to which definitions have been begun; all that use them follow it in time."""
        return int(self._header["log_head"][0])

    def has_read(self, position: int) -> bool:
        """Tells whether ``definitions`` has come to a position of the log, or never will."""
        return self._log_broken or self._log_tail >= position

    def definitions(self) -> Iterator[tuple[int, str]]:
        """Yields (file number, path) of the log's entries, up to the first that is still being written; frees them.

        Raises:
            ProtocolError: an entry breaks the layout; the log is not read any further.
        """
        head = self.log_head()
        if self._log_broken or head == self._log_tail:
            return
        if not 0 < head - self._log_tail <= self._log_bytes:
            self._log_broken = True
            raise ProtocolError(f"process {self.pid} moved the log's head to {head}, from {self._log_tail}")
        while self._log_tail < head:
            at = self._log_offset + self._log_tail % self._log_bytes
            room = self._log_offset + self._log_bytes - at
            size, kind, length, number, _ = _ENTRY.unpack_from(self._memory, at)
            if size == 0:
                return  # reserved, and not committed yet
            if size % _ENTRY.size or size > room or (kind == _ENTRY_FILE and length > size - _ENTRY.size):
                self._log_broken = True
                raise ProtocolError(f"process {self.pid} wrote a definition that breaks the layout")
            text = self._memory[at + _ENTRY.size : at + _ENTRY.size + length] if kind == _ENTRY_FILE else b""
            self._memory[at : at + size] = bytes(size)
            self._log_tail += size
            self._header["log_tail"][0] = self._log_tail
            if kind == _ENTRY_FILE:
                yield number, text.decode(errors="backslashreplace")[:MAX_TEXT]

    def dropped(self) -> dict[str, int]:
        """Returns what the process could not record, by reason, cumulative."""
        header = self._header[0]
        return {
            "events_dropped:ring_full": int(self._slots["dropped_full"].sum()),
            "events_dropped:no_slot": int(header["dropped_no_slot"]),
            "events_dropped:reentrant": int(header["dropped_reentrant"]),
            "definitions_dropped": int(header["definitions_dropped"]),
        }

    def close(self) -> None:
        """Unmaps the region."""
        for name in ("_header", "_slots", "_rings"):
            if hasattr(self, name):
                delattr(self, name)
        self._memory.close()
