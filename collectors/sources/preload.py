"""The source that traced processes hand their shared memory to."""

from __future__ import annotations

import os
import select
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from ...events import (
    EventBatch,
    InputError,
    Interner,
    Kind,
    Layer,
    ProtocolError,
    StreamInfo,
    concatenate,
    empty_batch,
    make_batch,
)
from ..source import Chunk, Closed, Opened, Origin, Problems, SourceItem
from ._gate import Arrival, Gate
from ._region import RECORD, Region

_MOST_PROCESSES: Final = 16_384
_EVENTS_A_POLL: Final = 65_536
"""Of one process."""
_HOLD_S: Final = 0.1
"""How long records wait for a definition that some thread has begun to write and not finished."""
_MOST_GROWTH: Final = 1 << 40
"""Of a drop counter between two looks; a process that says more breaks the layout."""
_COPIED: Final = ("duration", "offset", "requested", "bytes", "handle", "parent", "signature", "flags", "layer", "kind")


_Taken: TypeAlias = list[tuple[Region, int, npt.NDArray[Any]]]


@dataclass(slots=True)
class _Process:
    """One traced process image: a stream."""

    stream: str
    pid: int
    """As we see it; the process itself may be in a pid namespace and know another."""
    regions: list[Region]
    watch: int
    """pidfd; -1 once the process has ended."""
    interner: Interner = field(default_factory=Interner)
    calls: npt.NDArray[np.uint32] = field(default_factory=lambda: np.zeros(1, np.uint32))
    files: npt.NDArray[np.uint32] = field(default_factory=lambda: np.zeros(256, np.uint32))
    dropped: Counter[str] = field(default_factory=Counter)
    held: _Taken = field(default_factory=list)
    """Drained records that may use definitions up to ``held_until`` of the log."""
    held_until: int = 0
    held_since_s: float = 0.0

    def learn_file(self, number: int, path: str) -> None:
        """Remembers which of the stream's files the process's own number means."""
        if number >= len(self.files):
            grown = np.zeros(max(number + 1, 2 * len(self.files)), np.uint32)
            grown[: len(self.files)] = self.files
            self.files = grown
        self.files[number] = self.interner.file(path)

    def drain(self) -> None:
        """Takes records out of the rings into ``held``, from the regions in turn."""
        room = _EVENTS_A_POLL
        for region in self.regions:
            for tid, rows in region.drain(room):
                self.held.append((region, tid, rows))
                room -= len(rows)
        self.regions.append(self.regions.pop(0))
        # Read after the rings: whatever file a drained record names was begun to be defined before this position.
        self.held_until = self.log.log_head()
        self.held_since_s = time.monotonic()

    @property
    def log(self) -> Region:
        """The region with the definitions."""
        return next(region for region in self.regions if region.extent == 0)

    @property
    def drained(self) -> bool:
        """True when nothing is left to hand out."""
        return not self.held and all(region.drained for region in self.regions)


class PreloadSource:
    """Listens on a Unix socket for processes that the preload library traces; each is a stream.

    A process hands over memory and closes the connection. It is watched by a pidfd; when it ends, its rings are read
    to their end: what it wrote before a SIGKILL is there. Only processes of our own user (or root) are taken. The
    socket is private to its user.
    """

    MOST_FILES: Final = 4_000_000
    """Highest file number taken from a process; what has a higher one has no name."""

    def __init__(self, path: Path, origin: Origin) -> None:
        self.problems = Problems()
        self.counters: Counter[str] = Counter()
        self._path = path
        self._origin = origin
        self._closed = False
        self._processes: dict[int, _Process] = {}  # by token
        self._watched: dict[int, int] = {}  # pidfd -> token
        self._events = select.epoll()
        try:
            self._gate = Gate(path, self._events)
        except BaseException:
            self._events.close()
            raise

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
        # Before arrivals: an exec seen there closes pidfds, whose numbers may then be used again.
        for descriptor in self._watched.keys() & set(ready):
            self._unwatch(self._processes[self._watched[descriptor]])
        for arrival in self._gate.arrivals(ready):
            if isinstance(arrival, Arrival):
                self._take(arrival, items)
            else:
                self._refuse(arrival)
        for token, process in list(self._processes.items()):
            ended = process.watch < 0
            self._hand_out(process, ended, items)
            if ended and process.drained:
                del self._processes[token]
                self._release(process)
                items.append(Closed(process.stream))
        return items

    def close(self) -> None:
        """Stops listening and lets the processes' memory go; they run on, and count what they drop."""
        if self._closed:
            return
        self._closed = True
        for process in self._processes.values():
            if process.held:
                self.counters["events_dropped:closed"] += sum(len(rows) for _, _, rows in process.held)
            self._release(process)
        self._processes.clear()
        self._gate.close()
        self._events.close()

    def _refuse(self, error: Exception) -> None:
        self.counters["processes_refused" if isinstance(error, ProtocolError) else "accepts_failed"] += 1
        self.problems.add(InputError(str(self._path), None, str(error), "a traced process's region"))

    def _take(self, arrival: Arrival, items: list[SourceItem]) -> None:
        known = self._processes.get(arrival.token)
        problem = ""
        if (known is None) != (arrival.region.extent == 0):
            problem = f"process {arrival.pid} sent a region that is not its next"
        elif known is None and len(self._processes) >= _MOST_PROCESSES:
            problem = f"at most {_MOST_PROCESSES} processes are traced at once"
        if known is None and not problem:
            self._begin(arrival, items)
            return
        if arrival.watch >= 0:
            os.close(arrival.watch)
        if known is not None and not problem:
            known.regions.append(arrival.region)
        else:
            arrival.region.close()
            self._refuse(ProtocolError(problem))

    def _begin(self, arrival: Arrival, items: list[SourceItem]) -> None:
        for other in self._processes.values():
            if other.pid == arrival.pid:
                self._unwatch(other)  # it has called exec
        region, pid = arrival.region, arrival.pid
        process = _Process(f"preload:{pid}:{arrival.token:016x}", pid, [region], arrival.watch)
        process.calls = np.array([process.interner.string(name) if name else 0 for name in region.calls], np.uint32)
        self._processes[arrival.token] = process
        if process.watch >= 0:
            self._watched[process.watch] = arrival.token
            self._events.register(process.watch, select.EPOLLIN)
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

    def _hand_out(self, process: _Process, ended: bool, items: list[SourceItem]) -> None:
        if not process.held:
            process.drain()
        self._learn(process)
        batches = []
        if process.held and (
            ended or process.log.has_read(process.held_until) or time.monotonic() - process.held_since_s > _HOLD_S
        ):
            self._count_drops(process)
            batches = [self._batch(process, *taken) for taken in process.held]
            process.held = []
        definitions = process.interner.take_fresh()
        if batches or definitions:
            events = concatenate(batches) if batches else empty_batch()
            self.counters["events"] += len(events)
            items.append(Chunk(process.stream, events, definitions))

    def _learn(self, process: _Process) -> None:
        overflowed = process.interner.overflowed
        try:
            for number, path in process.log.definitions():
                if 0 < number <= self.MOST_FILES:
                    process.learn_file(number, path)
                else:
                    self.counters["definitions_dropped"] += 1
        except ProtocolError as error:
            self.counters["definitions_malformed"] += 1
            self.problems.add(InputError(process.stream, None, str(error), "the layout of ring.h"))
        if process.interner.overflowed > overflowed:
            self.counters["definitions_dropped"] += process.interner.overflowed - overflowed

    def _batch(self, process: _Process, region: Region, tid: int, rows: npt.NDArray[Any]) -> EventBatch:
        start = rows["start"] + region.clock_offset_ns
        valid = (start >= 0) & (rows["duration"] >= 0) & (rows["bytes"] >= 0)
        valid &= (rows["kind"] <= max(Kind)) & (rows["layer"] <= max(Layer))
        if not valid.all():
            self.counters["events_dropped:malformed"] += int(np.count_nonzero(~valid))
            rows, start = rows[valid], start[valid]
        columns: dict[str, npt.ArrayLike] = {name: rows[name] for name in _COPIED}
        columns["start"] = start
        columns["call"] = _look_up(process.calls, rows["call"])
        columns["file"] = _look_up(process.files, rows["file"])
        columns["errno"] = rows["errno"]
        columns["depth"] = rows["depth"]
        return make_batch(len(rows), {**columns, "tid": tid, "pid": process.pid, "rank": region.rank})

    def _unwatch(self, process: _Process) -> None:
        """Closes a process's pidfd: it has ended, and is handed out to its end."""
        if process.watch >= 0:
            self._events.unregister(process.watch)
            del self._watched[process.watch]
            os.close(process.watch)
            process.watch = -1

    def _release(self, process: _Process) -> None:
        self._count_drops(process)
        self._unwatch(process)
        for region in process.regions:
            region.close()

    def _count_drops(self, process: _Process) -> None:
        now: Counter[str] = Counter()
        for region in process.regions:
            now.update(region.dropped())
        for reason, count in now.items():
            if 0 < (grown := count - process.dropped[reason]) < _MOST_GROWTH:
                self.counters[reason] += grown
                process.dropped[reason] = count


def _look_up(table: npt.NDArray[np.uint32], numbers: npt.NDArray[Any]) -> npt.NDArray[np.uint32]:
    """Returns table[numbers], 0 for numbers beyond the table."""
    return table[np.where(numbers < len(table), numbers, 0)]


if not set(_COPIED) <= set(RECORD.names or ()):
    raise AssertionError("a copied column is not in the record")
