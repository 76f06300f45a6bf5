"""The source that traced processes hand their shared memory to."""

from __future__ import annotations

import math
import os
import select
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec

from ....events import InputError, ProtocolError, StreamInfo, empty_batch
from ...file_facts import NodeFiles
from ...source import Changed, Chunk, Closed, Lost, Opened, Origin, Problems, SourceItem
from .gate import Arrival, Gate
from .process import TracedProcess
from .signatures import Allowance
from .unseen import Unseen

_MOST_PROCESSES: Final = 16_384
_LATE_S: Final = 1.0
"""A pause between polls after which the library may take us for gone, and hand over a new region."""
_LATE_FOR_S: Final = 10.0
"""How long after such a pause the new region may come."""
_OVERLAP_S: Final = 1.0
"""How long threads may still write into a region that another has replaced."""


class PreloadSource:
    """Listens on a Unix socket for processes that the preload library traces; each is a stream.

    A process hands over memory and closes the connection. It is watched by a pidfd; when it ends, its rings are read
    to their end: what it wrote before a SIGKILL is there. Only processes of our own user (or root) are taken. The
    socket is private to its user.

    Args:
        path: the socket.
        origin: what streams are that do not say it themselves.
        files: what the node knows of files; closed with the source.
        patience_s: how long a few events wait for more; a poll that finds them costs more than they do.
        clock: a steady one, seconds.
    """

    def __init__(
        self,
        path: Path,
        origin: Origin,
        *,
        files: NodeFiles | None = None,
        patience_s: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.problems = Problems()
        self.counters: Counter[str] = Counter()
        self._path = path
        self._origin = origin
        self._closed = False
        self._processes: dict[int, TracedProcess] = {}  # by token
        self._images: dict[int, set[int]] = {}  # tokens by pid
        self._watched: dict[int, int] = {}  # pidfd -> token
        self._allowance = Allowance()
        self.unseen = Unseen()
        """Programs that traced processes started and that are not traced, and why."""
        self._files = files or NodeFiles()
        self._patience_s = patience_s
        self._clock = clock
        self._polled_s = clock()
        self._late_until_s = -math.inf
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

    @property
    def in_use(self) -> bool:
        """Tells whether there are processes that have not ended, or whose rings have yet to be read to their end."""
        return bool(self._processes)

    def poll(self) -> list[SourceItem]:
        """Takes in new processes and returns what all have recorded since the last poll."""
        if self._closed:
            return []
        now_s = self._clock()
        if now_s - self._polled_s > _LATE_S:
            self._late_until_s = now_s + _LATE_FOR_S
        self._polled_s = now_s
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
            try:
                self._hand_out(process, ended, items)
            except Exception as error:  # a process that breaks us costs itself, not the others
                self._give_up(token, error, items)
                continue
            if ended and process.drained and process.until_s <= now_s:
                self._forget(token)
                self._release(process)
                items.append(Closed(process.stream, +process.losses))
        return items

    def hurry(self) -> None:
        """From now on, gives at each poll all that is there."""
        self._patience_s = 0.0

    def close(self) -> None:
        """Stops listening and lets the processes' memory go; they run on, and hand over anew to who listens then."""
        if self._closed:
            return
        self._closed = True
        for process in self._processes.values():
            self._release(process)
        self._processes.clear()
        self._images.clear()
        self._gate.close()
        self._events.close()
        self._files.close()

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
            known.add(arrival.region)
        else:
            arrival.region.close()
            self._refuse(ProtocolError(problem))

    def _begin(self, arrival: Arrival, items: list[SourceItem]) -> None:
        region, pid = arrival.region, arrival.pid
        info = StreamInfo(
            job=region.job or self._origin.job,
            source="preload",
            host=self._origin.host,
            user=self._origin.user,
            command=region.command,
            rank=region.rank,
            ranks=region.ranks,
            pid=pid,
            parent_pid=region.ppid,
            origin=str(self._path),
            clock_offset_ns=region.clock_offset_ns,
        )
        process = TracedProcess(
            f"preload:{pid}:{arrival.token:016x}",
            region,
            info,
            arrival.watch,
            self._files.of_process(pid, region.mount_namespace),
            self.counters,
            self.problems,
            self._allowance,
            self.unseen,
            self._clock,
        )
        for token in self._images.get(pid, ()):
            self._replace(self._processes[token], process)
        self._images.setdefault(pid, set()).add(arrival.token)
        self._processes[arrival.token] = process
        if process.watch >= 0:
            self._watched[process.watch] = arrival.token
            self._events.register(process.watch, select.EPOLLIN)
        self.counters["processes"] += 1
        items.append(Opened(process.stream, info))

    def _replace(self, old: TracedProcess, new: TracedProcess) -> None:
        """Ends a process image that has called exec, or a region that its process has given up as we were late."""
        if old.watch >= 0 and self._polled_s < self._late_until_s:
            old.until_s = self._polled_s + _OVERLAP_S
        # What the old region held comes from the old region.
        new.forgive |= {"events_dropped:collector_gone", "bytes_dropped:collector_gone"}
        self._unwatch(old)

    def _hand_out(self, process: TracedProcess, ended: bool, items: list[SourceItem]) -> None:
        rank, ranks = process.first.rank, process.first.ranks
        if (rank, ranks) != (process.info.rank, process.info.ranks):
            process.info = msgspec.structs.replace(process.info, rank=rank, ranks=ranks)
            items.append(Changed(process.stream, process.info))
        events = process.take(ended, self._patience_s)
        # After the rings were read: a process that finds this stamp new does not give the region up.
        process.first.seen(time.monotonic_ns())
        definitions = process.definitions(ended)
        if events is not None or definitions:
            self.counters["events"] += 0 if events is None else len(events)
            items.append(Chunk(process.stream, empty_batch() if events is None else events, definitions))
        if losses := process.fresh_losses():
            items.append(Lost(losses, process.stream))

    def _give_up(self, token: int, error: Exception, items: list[SourceItem]) -> None:
        process = self._processes[token]
        self.counters["processes_failed"] += 1
        self.problems.add(InputError(process.stream, None, repr(error), "a process that can be followed"))
        self._forget(token)
        self._release(process)
        items.append(Closed(process.stream, +process.losses))

    def _forget(self, token: int) -> None:
        process = self._processes.pop(token)
        images = self._images[process.pid]
        images.discard(token)
        if not images:
            del self._images[process.pid]

    def _unwatch(self, process: TracedProcess) -> None:
        """Closes a process's pidfd: it has ended, and is handed out to its end."""
        if process.watch >= 0:
            self._events.unregister(process.watch)
            del self._watched[process.watch]
            os.close(process.watch)
            process.watch = -1

    def _release(self, process: TracedProcess) -> None:
        self._unwatch(process)
        process.close()
