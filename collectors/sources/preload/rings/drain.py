"""The first stage: takes what traced processes write out of their memory, as it is, so that there is room for more."""

from __future__ import annotations

import contextlib
import os
import select
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, Protocol

from .....events import ProtocolError
from .....events.losses import BYTES, EVENTS
from ..records.lines import Lines
from .handover_socket import Arrival, HandoverSocket
from .region import Region
from .unreached_processes import Ear
from .watching import GONE, UNWATCHED, Life

LINES_A_POLL: Final = 65_536
HOLD_S: Final = 0.1
"""How long records wait for a definition that some thread has begun to write and not finished."""

_MOST_PROCESSES: Final = 16_384
_LATE_S: Final = 1.0
"""A pause between polls after which the library may take us for gone, and hand over a new region."""
_LATE_FOR_S: Final = 10.0
"""How long after such a pause the new region may come."""
_OVERLAP_S: Final = 1.0
"""How long threads may still write into a region that another has replaced."""
_LOOK_S: Final = 0.5
"""How often processes are looked for that no descriptor could be had for."""
_COUNT_S: Final = 1.0
"""How often the counters of a process that records nothing are read."""
_COUNT_BUSY_S: Final = 0.05
"""How often those of one that records are: reading them takes as long as taking a thousand calls."""


class Taker(Protocol):
    """What a drain hands on to. Processes are named by their tokens."""

    @property
    def room(self) -> int:
        """Lines that it can take now; it always can take all else."""
        ...

    def begun(self, token: int, pid: int, header: bytes, *, follows: bool) -> None:
        """Takes in a process image.

        Args:
            token: names it.
            pid: as we see it; the process itself may be in a pid namespace and know another.
            header: of its first region.
            follows: another image of the process has ended for it.
        """
        ...

    def told(self, token: int, rank: int, ranks: int, counts: dict[str, int]) -> None:
        """Takes in what the process says of itself and has counted; cumulative."""
        ...

    def lines(self, token: int, tid: int, lines: Lines) -> None:
        """Takes in lines of a ring, from a record on; they are to be copied."""
        ...

    def log(self, token: int, entries: bytes) -> None:
        """Takes in whole entries of the definitions log."""
        ...

    def settled(self, token: int) -> None:
        """Takes in that all definitions have come which the lines so far use, or no more of them will."""
        ...

    def malformed(self, token: int, problem: str) -> None:
        """Takes in that the log broke the layout."""
        ...

    def ended(self, token: int) -> None:
        """Takes in that the process image has ended and nothing of it follows."""
        ...

    def refused(self, counter: str, problem: str) -> None:
        """Takes in that a process was not taken; ``counter`` counts that."""
        ...

    def unheard(self, job: str, command: str, failure: str) -> None:
        """Takes in that a process was to be traced and could not reach the socket, and why."""
        ...


class _Process:
    """A process image and the regions that it handed over."""

    def __init__(self, pid: int, region: Region, watch: int) -> None:
        self.pid = pid
        self.first = region
        self.regions = [region]
        self.watch = watch
        """pidfd, ``UNWATCHED``, or ``GONE`` once the process has ended."""
        self.life = Life(pid) if watch == UNWATCHED else None
        self.until_s = 0.0
        """An image that another has replaced is read until then at least."""
        self.drained_s: float | None = None
        self.unsettled_since_s: float | None = None
        self.counted_s: float | None = None
        self.is_uncounted = True
        """Something was taken since its counters were read."""
        self.is_kept_waiting = False
        """There was no room for all that it has recorded."""
        self._while_waiting = [0, 0]
        self._ring_full = [0, 0]
        self._uses_until = 0
        self._told: tuple[int, int, dict[str, int]] | None = None

    @property
    def drained(self) -> bool:
        """True when nothing is left to hand on."""
        return self.unsettled_since_s is None and all(region.drained for region in self.regions)

    def may_wait(self, now_s: float, patience_s: float) -> bool:
        """Tells whether the little that there is may wait for more."""
        if self.unsettled_since_s is not None or self.drained_s is None or now_s - self.drained_s >= patience_s:
            return False
        return not any(region.is_filling for region in self.regions)

    def tell(self, token: int, taker: Taker, now_s: float) -> None:
        """Hands on what the process says of itself, where that is new."""
        self.counted_s = now_s
        self.is_uncounted = False
        first, *others = self.regions
        counts = first.counts()
        for more in (first.counters, *(each for region in others for each in (region.counts(), region.counters))):
            for name, count in more.items():
                counts[name] = counts.get(name, 0) + count
        self._tell_why_full(counts)
        now = self.first.rank, self.first.ranks, counts
        if now != self._told:
            self._told = now
            taker.told(token, *now)

    def _tell_why_full(self, counts: dict[str, int]) -> None:
        """Tells calls that found their ring full for want of room behind it from others."""
        for place, unit in enumerate((EVENTS, BYTES)):
            dropped = counts[f"{unit}ring_full"]
            if self.is_kept_waiting:
                self._while_waiting[place] += max(0, dropped - self._ring_full[place])
            self._ring_full[place] = dropped
            if waiting := self._while_waiting[place]:
                counts[f"{unit}ring_full"] = max(0, dropped - waiting)
                counts[f"{unit}spool_full"] = waiting

    def is_to_be_counted(self, now_s: float) -> bool:
        """Tells whether it is time to read its counters."""
        return self.counted_s is None or now_s - self.counted_s >= (_COUNT_BUSY_S if self.is_uncounted else _COUNT_S)

    def ranks_changed(self) -> bool:
        """Tells whether the rank is another than was told."""
        return self._told is not None and self._told[:2] != (self.first.rank, self.first.ranks)

    def drain(self, token: int, taker: Taker, now_s: float, most: int) -> int:
        """Hands lines on, about ``most``, and then the definitions that they use; returns how many lines."""
        room = most
        for region in self.regions:
            for tid, lines in region.drain(room):
                taker.lines(token, tid, lines)
                room -= len(lines)
            if room <= 0:
                break
        if len(self.regions) > 1:
            self.regions.append(self.regions.pop(0))
        if room < most:
            # Read after the rings: whatever a drained record names was begun to be defined before this position.
            self._uses_until = self.first.log.head()
            self.unsettled_since_s = now_s if self.unsettled_since_s is None else self.unsettled_since_s
        self.drained_s = now_s
        return most - room

    def learn(self, token: int, taker: Taker, now_s: float, *, ended: bool) -> bool:
        """Hands on definitions, and that all have come that are used; returns whether there was one of them."""
        news = False
        try:
            while entries := self.first.log.take():
                taker.log(token, entries)
                news = True
        except ProtocolError as error:
            taker.malformed(token, str(error))
        since_s = self.unsettled_since_s
        if since_s is not None and (ended or now_s - since_s > HOLD_S or self.first.log.has_read(self._uses_until)):
            self.unsettled_since_s = None
            taker.settled(token)
            return True
        return news


class Drain:
    """Listens on a Unix socket for processes that the preload library traces, and empties their rings.

    A process hands over memory and closes the connection. It is watched by a pidfd; when it ends, its rings are read
    to their end: what it wrote before a SIGKILL is there. Only processes of our own user (or root) are taken. The
    socket is private to its user.

    Args:
        path: the socket.
        clock: a steady one, seconds.
        lines_a_poll: of one process.
    """

    def __init__(
        self, path: Path, clock: Callable[[], float] = time.monotonic, lines_a_poll: int = LINES_A_POLL
    ) -> None:
        self._clock = clock
        self._lines_a_poll = lines_a_poll
        self._processes: dict[int, _Process] = {}  # by token
        self._images: dict[int, set[int]] = {}  # tokens by pid
        self._watched: dict[int, int] = {}  # pidfd -> token
        self._polled_s = clock()
        self._late_until_s: float | None = None
        self._looked_s: float | None = None
        self._given_up: set[int] = set()
        self._closed = False
        self.events = select.epoll()
        try:
            self._gate = HandoverSocket(path, self.events)
            self._ear = Ear(path, self.events)
        except BaseException:
            self.events.close()
            raise

    def descriptors(self) -> list[int]:
        """Returns the descriptors that the drain needs before a process has come."""
        needed = [self.events.fileno(), *self._gate.descriptors(), self._ear.fileno()]
        return [descriptor for descriptor in needed if descriptor >= 0]

    @property
    def in_use(self) -> bool:
        """Tells whether there are processes that have not ended, or whose rings have yet to be read to their end."""
        return bool(self._processes)

    def poll(self, taker: Taker, patience_s: float = 0.0) -> bool:
        """Takes in new processes and hands on what all have recorded since the last poll.

        Args:
            taker: is given it.
            patience_s: how long a few events of a process wait for more.

        Returns:
            Whether there was any.
        """
        if self._closed:
            return False
        now_s = self._clock()
        if now_s - self._polled_s > _LATE_S:
            self._late_until_s = now_s + _LATE_FOR_S
        self._polled_s = now_s
        ready = [descriptor for descriptor, _ in self.events.poll(0)]
        # Before arrivals: an exec seen there closes pidfds, whose numbers may then be used again.
        for descriptor in self._watched.keys() & set(ready):
            self._unwatch(self._processes[self._watched[descriptor]])
        self._look_after_unwatched(now_s)
        news = False
        for arrival in self._gate.arrivals(ready):
            news = True
            if isinstance(arrival, Arrival):
                self._take(arrival, taker)
            else:
                self._refuse(arrival, taker)
        if self._ear.fileno() in ready:
            for word in self._ear.words():
                news = True
                taker.unheard(word.job, word.command, word.failure)
        for token, process in list(self._processes.items()):
            news = self._hand_on(token, process, taker, patience_s) or news
        while self._given_up:
            if (given_up := self._processes.get(token := self._given_up.pop())) is not None:
                self._forget(token)
                self._release(given_up)
        return news

    def sleep(self) -> bool:
        """Has processes knock at the socket when much waits; returns whether all can.

        ``events`` then has news in time, however long it is before the next poll; a second at most, so that they do not
        take us for gone.
        """
        cannot = [process for process in self._processes.values() if not process.first.sleep()]
        return not cannot

    def give_up(self, token: int) -> None:
        """Reads a process no further once it is not being read."""
        self._given_up.add(token)

    def leave(self) -> None:
        """Lets go of the descriptors; the process that we forked listens on."""
        self._closed = True
        self._gate.leave()
        self._ear.leave()
        self.events.close()

    def close(self, taker: Taker) -> None:
        """Stops listening and lets the processes' memory go; they run on, and hand over anew to who listens then."""
        if self._closed:
            return
        self._closed = True
        for token, process in self._processes.items():
            process.tell(token, taker, self._polled_s)
            self._release(process)
            taker.ended(token)
        self._processes.clear()
        self._images.clear()
        self._gate.close()
        self._ear.close()
        self.events.close()

    def _hand_on(self, token: int, process: _Process, taker: Taker, patience_s: float) -> bool:
        ended, now_s = process.watch == GONE, self._polled_s
        news = False
        if process.ranks_changed():  # what is drained from here on was done with that rank
            process.tell(token, taker, now_s)
            news = True
        if ended or not process.may_wait(now_s, patience_s):
            room = min(self._lines_a_poll, taker.room)
            taken = process.drain(token, taker, now_s, room)
            news = process.learn(token, taker, now_s, ended=ended) or taken > 0 or news
            process.is_uncounted = process.is_uncounted or taken > 0
            kept_waiting = room < self._lines_a_poll and taken >= room
            if ended or kept_waiting or process.is_kept_waiting or process.is_to_be_counted(now_s):
                process.tell(token, taker, now_s)
            process.is_kept_waiting = kept_waiting
        # After the rings were read: a process that finds this stamp new does not give the region up.
        process.first.seen(time.monotonic_ns())
        if ended and process.drained and process.until_s <= now_s:
            self._forget(token)
            self._release(process)
            taker.ended(token)
            news = True
        return news

    def _look_after_unwatched(self, now_s: float) -> None:
        """Notices the end of processes for which there was no pidfd."""
        if self._looked_s is not None and now_s - self._looked_s < _LOOK_S:
            return
        self._looked_s = now_s
        for process in self._processes.values():
            if process.watch == UNWATCHED and process.life is not None:
                with self._gate.spare_descriptor():
                    if not process.life.lasts():
                        process.watch = GONE

    def _refuse(self, error: Exception, taker: Taker) -> None:
        taker.refused("processes_refused" if isinstance(error, ProtocolError) else "accepts_failed", str(error))

    def _take(self, arrival: Arrival, taker: Taker) -> None:
        known = self._processes.get(arrival.token)
        problem = ""
        if (known is None) != (arrival.region.extent == 0):
            problem = f"process {arrival.pid} sent a region that is not its next"
        elif known is None and len(self._processes) >= _MOST_PROCESSES:
            problem = f"at most {_MOST_PROCESSES} processes are traced at once"
        if known is None and not problem:
            self._begin(arrival, taker)
            return
        if arrival.watch >= 0:
            os.close(arrival.watch)
        if known is not None and not problem:
            known.regions.append(arrival.region)
        else:
            arrival.region.close()
            self._refuse(ProtocolError(problem), taker)

    def _begin(self, arrival: Arrival, taker: Taker) -> None:
        region, pid = arrival.region, arrival.pid
        with self._gate.spare_descriptor() if arrival.watch == UNWATCHED else contextlib.nullcontext():
            process = _Process(pid, region, arrival.watch)
        earlier = self._images.setdefault(pid, set())
        for token in earlier:
            self._replace(self._processes[token])
        follows = bool(earlier)
        earlier.add(arrival.token)
        self._processes[arrival.token] = process
        if process.watch >= 0:
            self._watched[process.watch] = arrival.token
            self.events.register(process.watch, select.EPOLLIN)
        taker.begun(arrival.token, pid, region.header(), follows=follows)

    def _replace(self, old: _Process) -> None:
        """Ends a process image that has called exec, or a region that its process has given up as we were late."""
        if old.watch != GONE and self._late_until_s is not None and self._polled_s < self._late_until_s:
            old.until_s = self._polled_s + _OVERLAP_S
        self._unwatch(old)

    def _forget(self, token: int) -> None:
        process = self._processes.pop(token)
        images = self._images[process.pid]
        images.discard(token)
        if not images:
            del self._images[process.pid]

    def _unwatch(self, process: _Process) -> None:
        """Closes a process's pidfd: it has ended, and is handed on to its end."""
        if process.watch >= 0:
            self.events.unregister(process.watch)
            del self._watched[process.watch]
            os.close(process.watch)
        process.watch = GONE

    def _release(self, process: _Process) -> None:
        self._unwatch(process)
        for region in process.regions:
            region.close()
