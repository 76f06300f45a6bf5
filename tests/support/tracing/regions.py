"""Regions of shared memory as a traced process creates them, or as a broken or hostile one might."""

from __future__ import annotations

import fcntl
import mmap
import os
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from iotide.collectors.sources.preload.records import ring_layout as layout

PAGE = 4096
OPEN, WRITE, LISTED = 1, 2, 3
"""Numbers of the calls that are defined in each new region."""
_SENDER = """
import socket, sys
gate = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
gate.connect(sys.argv[1])
socket.send_fds(gate, [bytes.fromhex(sys.argv[2])], [int(sys.argv[3])])
if len(sys.argv) == 4:
    print("sent", flush=True)
    sys.stdin.read()
"""
CALLS = {
    OPEN: b"open(path:f,flags:O,mode:m)=d",
    WRITE: b"pwrite64(fd:d,count:n,offset:o)",
    LISTED: b"list(of:a,name:s)=i",
}


class MadeRegion:
    """A producer's side of a region; a context manager. Its log begins with the definitions of CALLS."""

    def __init__(
        self,
        slots: int = 2,
        lines: int = 256,
        log_bytes: int = PAGE,
        *,
        sealed: bool = True,
        calls: bool = True,
        cells: int = 0,
    ) -> None:
        self.log_offset = PAGE + -(-slots * layout.SLOT.itemsize // PAGE) * PAGE
        rings = self.log_offset + log_bytes
        self.cells_offset = rings + slots * lines * layout.LINE_BYTES
        self.size = self.cells_offset + cells * layout.CELL_BYTES
        self.descriptor = os.memfd_create("region", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self.descriptor, self.size)
        if sealed:
            fcntl.fcntl(self.descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)
        self.memory = mmap.mmap(self.descriptor, self.size)
        self.header: Any = np.frombuffer(self.memory, layout.HEADER, 1)
        self.slots: Any = np.frombuffer(self.memory, layout.SLOT, slots, PAGE)
        self.rings: Any = np.frombuffer(self.memory, "<u8", slots * lines * layout.LINE_WORDS, rings).reshape(-1, 8)
        self.lines = lines
        self.log_bytes = log_bytes
        self._senders: list[subprocess.Popen[str]] = []
        self.set(
            magic=layout.MAGIC, layout=layout.LAYOUT, region_bytes=self.size, token=77, slot_count=slots,
            ring_lines=lines, log_bytes=log_bytes, slots_offset=PAGE, log_offset=self.log_offset,
            rings_offset=rings, pid=1234, rank=-1,
        )  # fmt: skip
        if cells:
            self.memory[layout.CELLS_AT : layout.CELLS_AT + layout.CELLS.itemsize] = np.array(
                (self.cells_offset, cells, layout.CELL_BYTES, 0, 0), layout.CELLS
            ).tobytes()
        if calls:
            self.define_calls()

    def define_calls(self) -> None:
        for number, text in CALLS.items():
            self.define(number, text, kind=layout.ENTRY_CALL, aux=1)

    def __enter__(self) -> MadeRegion:
        return self

    def __exit__(self, *_: object) -> None:
        self.end_senders()
        del self.header, self.slots, self.rings
        self.memory.close()
        os.close(self.descriptor)

    def end_senders(self) -> None:
        """End the processes that have handed over the region, and wait for that."""
        while self._senders:
            with self._senders.pop() as sender:
                sender.communicate()

    def set(self, **fields: int | bytes) -> None:
        for name, value in fields.items():
            self.header[name] = value

    def put(self, count: int = 1, slot: int = 0, *, words: Sequence[int] = (), **fields: int) -> None:
        """Append records to a ring, all with the same words; ``start`` counts up from the ring's records."""
        made = int(self.slots["made"][slot])
        rows = np.zeros(count, layout.RECORD)
        rows["start"] = made + np.arange(count)
        rows["call"], rows["kind"], rows["words"], rows["descriptor"] = WRITE, 8, len(words), -1
        for name, value in fields.items():
            rows[name] = value
        extra = -(-len(words) // layout.WORDS_PER_LINE)
        lines = np.zeros((count, 1 + extra, 8), np.uint64)
        lines[:, 0] = rows.view(np.uint64).reshape(count, 8)
        lines[:, 1:] = words_lines(words)
        self.put_lines(lines.reshape(-1, 8), slot, records=count)

    def put_lines(self, lines: Any, slot: int = 0, *, records: int = 0) -> None:
        """Append raw lines to a ring."""
        head = int(self.slots["head"][slot])
        self.rings[slot * self.lines + (head % self.lines + np.arange(len(lines))) % self.lines] = lines
        self.slots["made"][slot] += records
        self.slots["head"][slot] = head + len(lines)

    def define(
        self, number: int, text: bytes, committed: bool = True, *, kind: int = layout.ENTRY_FILE, aux: int = 0
    ) -> int:
        """Append a definition; return its size, for ``commit``."""
        head = int(self.header["log_head"][0])
        size = (16 + len(text) + 15) // 16 * 16
        to_end = self.log_bytes - head % self.log_bytes
        if to_end < size:
            layout.ENTRY.pack_into(self.memory, self.log_offset + head % self.log_bytes, to_end, 0, 0, 0, 0)
            head += to_end
        at = self.log_offset + head % self.log_bytes
        self.memory[at + 16 : at + 16 + len(text)] = text
        layout.ENTRY.pack_into(self.memory, at, size if committed else 0, kind, len(text), number, aux)
        self.header["log_head"] = head + size
        return size

    def commit(self, at: int, size: int) -> None:
        """Commit an open entry."""
        self.memory[self.log_offset + at : self.log_offset + at + 4] = size.to_bytes(4, "little")

    def hello(self) -> bytes:
        facts = self.header[0]
        return layout.HELLO.pack(layout.MAGIC, layout.LAYOUT, int(facts["extent"]), self.size, int(facts["token"]))

    def hand_over(self, gate: Path) -> None:
        with connected(gate) as peer:
            socket.send_fds(peer, [self.hello()], [self.descriptor])

    def hand_over_from_ended_process(self, gate: Path) -> int:
        """Hand the region over from a separate process, and wait for its end; return its pid."""
        words = [sys.executable, "-c", _SENDER, str(gate), self.hello().hex(), str(self.descriptor), "ends"]
        with subprocess.Popen(words, pass_fds=[self.descriptor]) as sender:
            assert sender.wait() == 0
        return sender.pid

    def hand_over_from_another_process(self, gate: Path) -> None:
        """Hand the region over from a separate process that lives until the region is closed."""
        words = [sys.executable, "-c", _SENDER, str(gate), self.hello().hex(), str(self.descriptor)]
        sender = subprocess.Popen(
            words, pass_fds=[self.descriptor], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._senders.append(sender)
        assert sender.stdout is not None
        assert sender.stdout.readline() == "sent\n"


class MadeCell(MadeRegion):
    """A child's side of a cell; a context manager."""

    def __init__(
        self, host: MadeRegion, place: int, pid: int, token: int, order: int = 1, *, parent: int = 1234
    ) -> None:
        begin = host.cells_offset + place * layout.CELL_BYTES
        self.memory, self.lines, self.log_bytes = host.memory, layout.CELL_LINES, layout.CELL_LOG_BYTES
        self.log_offset = begin + layout.CELL_LOG_AT
        self.content: Any = np.frombuffer(host.memory, "u1", layout.CELL_BYTES, begin)
        self.header: Any = self.content[: layout.HEADER.itemsize].view(layout.HEADER)
        self.slots: Any = self.content[layout.CELL_SLOT_AT : layout.CELL_RING_AT].view(layout.SLOT)
        self.rings: Any = self.content[layout.CELL_RING_AT : layout.CELL_LOG_AT].view("<u8").reshape(-1, 8)
        self.claim: Any = np.frombuffer(
            host.memory, layout.CELL, 1, layout.CELLS_AT + layout.CELLS.itemsize + place * layout.CELL.itemsize
        )
        self.claim["pid"] = pid
        self.set(
            magic=layout.MAGIC, layout=layout.LAYOUT, region_bytes=layout.CELL_BYTES, token=token, slot_count=1,
            ring_lines=self.lines, log_bytes=self.log_bytes, slots_offset=layout.CELL_SLOT_AT, ppid=parent, pid=pid,
            log_offset=layout.CELL_LOG_AT, rings_offset=layout.CELL_RING_AT, rank=-1,
            collector_seen_ns=time.monotonic_ns(),
        )  # fmt: skip
        self.slots["tid"] = pid
        self.define_calls()
        self.claim["stage"] = order << 1

    def __exit__(self, *_: object) -> None:
        del self.header, self.slots, self.rings, self.claim, self.content


def words_lines(words: Sequence[int]) -> Any:
    """Return words as lines of a ring."""
    lines = np.zeros((-(-len(words) // layout.WORDS_PER_LINE), 8), np.uint64)
    for place, word in enumerate(words):
        lines[place // layout.WORDS_PER_LINE, place % layout.WORDS_PER_LINE] = word
    lines[:, -1] = layout.MARK_WORDS << 56
    return lines


def connected(gate: Path) -> socket.socket:
    peer = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    peer.connect(str(gate))
    return peer
