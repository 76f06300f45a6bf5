"""Regions of shared memory as a traced process makes them, or as a broken or hostile one might."""

from __future__ import annotations

import fcntl
import mmap
import os
import socket
from pathlib import Path
from typing import Any

import numpy as np
from iotide.collectors.sources import _region as layout

PAGE = 4096
CALLS = [("", 0, 0), ("open", 1, 1), ("write", 1, 8)]


class MadeRegion:
    """A producer's side of a region; a context manager."""

    def __init__(self, slots: int = 2, records: int = 256, log_bytes: int = PAGE, sealed: bool = True) -> None:
        rings = 3 * PAGE + log_bytes
        self.size = rings + slots * records * layout.RECORD.itemsize
        self.descriptor = os.memfd_create("region", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self.descriptor, self.size)
        if sealed:
            fcntl.fcntl(self.descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)
        self.memory = mmap.mmap(self.descriptor, self.size)
        self.header: Any = np.frombuffer(self.memory, layout._HEADER, 1)
        calls: Any = np.frombuffer(self.memory, layout._CALL, len(CALLS), PAGE)
        for place, (name, layer, kind) in enumerate(CALLS):
            calls[place] = (name.encode(), layer, kind, b"")
        self.slots: Any = np.frombuffer(self.memory, layout._SLOT, slots, 2 * PAGE)
        self.rings: Any = np.frombuffer(self.memory, layout.RECORD, slots * records, rings)
        self.records = records
        self.log_offset = 3 * PAGE
        self.log_bytes = log_bytes
        self.set(
            magic=layout.MAGIC, layout=layout.LAYOUT, region_bytes=self.size, token=77, slot_count=slots,
            ring_records=records, call_count=len(CALLS), log_bytes=log_bytes, calls_offset=PAGE, slots_offset=2 * PAGE,
            log_offset=3 * PAGE, rings_offset=rings, pid=1234, rank=-1,
        )  # fmt: skip

    def __enter__(self) -> MadeRegion:
        return self

    def __exit__(self, *_: object) -> None:
        del self.header, self.slots, self.rings
        self.memory.close()
        os.close(self.descriptor)

    def set(self, **fields: int) -> None:
        for name, value in fields.items():
            self.header[name] = value

    def put(self, count: int = 1, slot: int = 0, **fields: int) -> None:
        """Appends records to a ring; ``start`` counts up from the ring's head."""
        head = int(self.slots["head"][slot])
        at = slot * self.records + (head + np.arange(count)) % self.records
        rows = np.zeros(count, layout.RECORD)
        rows["start"] = head + np.arange(count)
        rows["call"], rows["layer"], rows["kind"] = 2, 1, 8
        for name, value in fields.items():
            rows[name] = value
        self.rings[at] = rows
        self.slots["head"][slot] = head + count

    def define(self, number: int, path: bytes, committed: bool = True) -> int:
        """Appends a file's definition; returns its size, to be passed to ``commit``."""
        head = int(self.header["log_head"][0])
        size = (16 + len(path) + 15) // 16 * 16
        to_end = self.log_bytes - head % self.log_bytes
        if to_end < size:
            layout._ENTRY.pack_into(self.memory, self.log_offset + head % self.log_bytes, to_end, 0, 0, 0, 0)
            head += to_end
        at = self.log_offset + head % self.log_bytes
        self.memory[at + 16 : at + 16 + len(path)] = path
        layout._ENTRY.pack_into(self.memory, at, size if committed else 0, 1, len(path), number, 0)
        self.header["log_head"] = head + size
        return size

    def commit(self, at: int, size: int) -> None:
        """Commits an entry that was left open."""
        self.memory[self.log_offset + at : self.log_offset + at + 4] = size.to_bytes(4, "little")

    def hello(self) -> bytes:
        facts = self.header[0]
        return layout.HELLO.pack(layout.MAGIC, layout.LAYOUT, int(facts["extent"]), self.size, int(facts["token"]))

    def hand_over(self, gate: Path) -> None:
        with connected(gate) as peer:
            socket.send_fds(peer, [self.hello()], [self.descriptor])


def connected(gate: Path) -> socket.socket:
    peer = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    peer.connect(str(gate))
    return peer
