"""The source that traced processes hand their shared memory to."""

from __future__ import annotations

import array
import contextlib
import os
import select
import socket
import stat
import struct
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ...events import EventBatch, InputError, Interner, ProtocolError, StreamInfo, concatenate, empty_batch, make_batch
from ..source import Chunk, Closed, Opened, Origin, Problems, SourceItem
from ._region import HELLO, LAYOUT, MAGIC, RECORD, Region

_BACKLOG: Final = 4096
_ACCEPTS_A_POLL: Final = 256
_MOST_PROCESSES: Final = 16_384
_CREDENTIALS: Final = struct.Struct("3i")
_COPIED: Final = ("duration", "offset", "requested", "bytes", "handle", "parent", "signature", "flags", "layer", "kind")


@dataclass(slots=True)
class _Process:
    """One traced process image: a stream."""

    stream: str
    regions: list[Region]
    watch: int
    """pidfd; -1 when the process was gone before we looked."""
    interner: Interner = field(default_factory=Interner)
    calls: npt.NDArray[np.uint32] = field(default_factory=lambda: np.zeros(1, np.uint32))
    files: npt.NDArray[np.uint32] = field(default_factory=lambda: np.zeros(256, np.uint32))
    dropped: Counter[str] = field(default_factory=Counter)

    def learn_file(self, number: int, path: str) -> None:
        """Remembers which of the stream's files the process's own number means."""
        if number >= len(self.files):
            grown = np.zeros(max(number + 1, 2 * len(self.files)), np.uint32)
            grown[: len(self.files)] = self.files
            self.files = grown
        self.files[number] = self.interner.file(path)


class PreloadSource:
    """Listens on a Unix socket for processes that the preload library traces; each is a stream.

    A process hands over memory and closes the connection. It is watched by a pidfd; when it ends, its rings are read
    once more, to the end: what it wrote before a SIGKILL is there. Only processes of our own user (or root) are
    taken. The socket is private to its user.
    """

    MOST_FILES: Final = 4_000_000
    """Highest file number taken from a process; a larger one breaks the layout."""

    def __init__(self, path: Path, origin: Origin) -> None:
        self.problems = Problems()
        self.counters: Counter[str] = Counter()
        self._path = path
        self._origin = origin
        self._closed = False
        self._processes: dict[int, _Process] = {}  # by token
        self._watched: dict[int, int] = {}  # pidfd -> token
        self._gate = _listen(path)
        self._events = select.epoll()
        self._events.register(self._gate, select.EPOLLIN)

    @property
    def finished(self) -> bool:
        """True once closed: until then another process may come."""
        return self._closed

    def poll(self) -> list[SourceItem]:
        """Takes in new processes and returns what all have recorded since the last poll."""
        if self._closed:
            return []
        items: list[SourceItem] = []
        ready = [descriptor for descriptor, _ in self._events.poll(0)]
        # Who ended is looked up first: an exec seen below closes pidfds, whose numbers may then be used again.
        ended = [self._watched[descriptor] for descriptor in ready if descriptor in self._watched]
        if self._gate.fileno() in ready:
            self._accept_all(items)
        for token in list(self._processes):
            self._drain(self._processes[token], items)
        for token in ended:
            if token in self._processes:
                self._end(token, items)
        return items

    def close(self) -> None:
        """Stops listening and lets the processes' memory go; they run on, and count what they drop."""
        if self._closed:
            return
        self._closed = True
        for process in self._processes.values():
            self._release(process)
        self._processes.clear()
        self._events.close()
        self._gate.close()
        with contextlib.suppress(OSError):
            self._path.unlink()

    def _accept_all(self, items: list[SourceItem]) -> None:
        for _ in range(_ACCEPTS_A_POLL):
            try:
                peer, _ = self._gate.accept()
            except BlockingIOError:
                return
            except OSError as error:  # out of descriptors, or the peer is gone again
                self.counters["accepts_failed"] += 1
                self.problems.add(InputError(str(self._path), None, str(error), "a connection"))
                return
            with peer:
                try:
                    self._take(peer, items)
                except (ProtocolError, OSError, ValueError) as error:
                    self.counters["processes_refused"] += 1
                    self.problems.add(InputError(str(self._path), None, str(error), "a traced process's region"))

    def _take(self, peer: socket.socket, items: list[SourceItem]) -> None:
        pid, uid, _ = _CREDENTIALS.unpack(peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size))
        peer.setblocking(False)
        hello, descriptors = _receive(peer)
        try:
            if uid not in (os.getuid(), 0):
                raise ProtocolError(f"process {pid} belongs to user {uid}, not to us")
            if len(hello) != HELLO.size or len(descriptors) != 1:
                raise ProtocolError(f"process {pid} sent no HELLO of {HELLO.size} bytes with one descriptor")
            magic, layout, _, _, token = HELLO.unpack(hello)
            if magic != MAGIC or layout != LAYOUT:
                raise ProtocolError(f"process {pid} speaks layout {layout}, not {LAYOUT}")
            region = Region(descriptors[0])
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        known = self._processes.get(token)
        if region.token != token or (known is None) != (region.extent == 0):
            region.close()
            raise ProtocolError(f"process {pid} sent a region that is not its next")
        if known is not None:
            known.regions.append(region)
        elif len(self._processes) >= _MOST_PROCESSES:
            region.close()
            raise ProtocolError(f"at most {_MOST_PROCESSES} processes are traced at once")
        else:
            self._begin(pid, token, region, items)

    def _begin(self, pid: int, token: int, region: Region, items: list[SourceItem]) -> None:
        for other in [old for old, process in self._processes.items() if process.regions[0].pid == region.pid]:
            self._end(other, items)  # it has called exec
        try:
            watch = os.pidfd_open(pid)
        except OSError:
            watch = -1
        process = _Process(stream=f"preload:{pid}:{token:016x}", regions=[region], watch=watch)
        process.calls = np.array([process.interner.string(name) if name else 0 for name in region.calls], np.uint32)
        self._processes[token] = process
        self.counters["processes"] += 1
        info = StreamInfo(
            job=region.job or self._origin.job,
            source="preload",
            host=self._origin.host,
            user=self._origin.user,
            command=region.command,
            rank=region.rank,
            ranks=max(region.ranks, 0),
            pid=pid,
            parent_pid=region.ppid,
            origin=str(self._path),
            clock_offset_ns=region.clock_offset_ns,
        )
        items.append(Opened(process.stream, info))
        if watch < 0:
            self._drain(process, items)
            self._end(token, items)
        else:
            self._watched[watch] = token
            self._events.register(watch, select.EPOLLIN)

    def _drain(self, process: _Process, items: list[SourceItem]) -> None:
        # All rings first, definitions after: whatever file a drained record names has been defined by then.
        taken = [(region, tid, rows) for region in process.regions for tid, rows in region.drain()]
        try:
            for number, path in process.regions[0].definitions():
                if number > self.MOST_FILES:
                    raise ProtocolError(f"file number {number} is beyond {self.MOST_FILES}")
                process.learn_file(number, path)
        except ProtocolError as error:
            self.counters["definitions_malformed"] += 1
            self.problems.add(InputError(process.stream, None, str(error), "the layout of ring.h"))
        if taken:
            self._count_drops(process)
        batches = [self._batch(process, region, tid, rows) for region, tid, rows in taken]
        definitions = process.interner.take_fresh()
        if batches or definitions:
            events = concatenate(batches) if batches else empty_batch()
            self.counters["events"] += len(events)
            items.append(Chunk(process.stream, events, definitions))

    def _batch(self, process: _Process, region: Region, tid: int, rows: npt.NDArray[Any]) -> EventBatch:
        columns: dict[str, npt.ArrayLike] = {name: rows[name] for name in _COPIED}
        columns["start"] = rows["start"] + region.clock_offset_ns
        columns["call"] = _look_up(process.calls, rows["call"])
        columns["file"] = _look_up(process.files, rows["file"])
        columns["errno"] = rows["errno"]
        columns["depth"] = rows["depth"]
        return make_batch(len(rows), {**columns, "tid": tid, "pid": region.pid, "rank": region.rank})

    def _end(self, token: int, items: list[SourceItem]) -> None:
        process = self._processes.pop(token)
        self._drain(process, items)
        self._release(process)
        items.append(Closed(process.stream))

    def _release(self, process: _Process) -> None:
        self._count_drops(process)
        for region in process.regions:
            region.close()
        if process.watch >= 0:
            self._events.unregister(process.watch)
            del self._watched[process.watch]
            os.close(process.watch)

    def _count_drops(self, process: _Process) -> None:
        now: Counter[str] = Counter()
        for region in process.regions:
            now.update(region.dropped())
        for reason, count in now.items():
            if grown := count - process.dropped[reason]:
                self.counters[reason] += grown
        process.dropped = now


def _look_up(table: npt.NDArray[np.uint32], numbers: npt.NDArray[Any]) -> npt.NDArray[np.uint32]:
    """Returns table[numbers], 0 for numbers beyond the table."""
    return table[np.where(numbers < len(table), numbers, 0)]


def _receive(peer: socket.socket) -> tuple[bytes, list[int]]:
    # The process sends right after connecting; a peer that does not gets a moment and is refused.
    if not select.select([peer], [], [], 0.05)[0]:
        return b"", []
    message, ancillary, _, _ = peer.recvmsg(256, socket.CMSG_SPACE(4 * 4), socket.MSG_CMSG_CLOEXEC)
    numbers = array.array("i")
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            numbers.frombytes(data[: len(data) - len(data) % numbers.itemsize])
    return message, numbers.tolist()


def _listen(path: Path) -> socket.socket:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with contextlib.suppress(FileNotFoundError):
        found = path.lstat()
        if not stat.S_ISSOCK(found.st_mode):
            raise InputError(str(path), None, "it exists and is no socket", "a path for a Unix socket")
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as probe:
            if probe.connect_ex(str(path)) == 0:
                raise InputError(str(path), None, "another collector listens there", "a path of its own")
        path.unlink()
    gate = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET | socket.SOCK_NONBLOCK)
    before = os.umask(0o177)
    try:
        gate.bind(str(path))
    finally:
        os.umask(before)
    gate.listen(_BACKLOG)
    return gate


if not set(_COPIED) <= set(RECORD.names or ()):
    raise AssertionError("a copied column is not in the record")
