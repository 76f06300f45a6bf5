"""First stage of collection: empty the rings of traced processes without processing the data."""

from __future__ import annotations

import contextlib
import os
import select
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from .....events import ProtocolError
from ..records.image_header import ImageHeader
from .cell_reader import OVERLAP_S, CellReader
from .ended_process import MAX_LINES, EndedProcesses, groups_in, identities_in
from .handover_socket import ACCEPTS_A_POLL, Arrival, HandoverSocket
from .inheritance import DeferredRelease, Inherited, preserve, take_over
from .keeper import Keeper
from .passed_peers import PassedPeers
from .process_image import DrainReceiver, InheritingReceiver, ProcessImage
from .region import Region
from .unreached_processes import RefusedProcessError, ReportSocket
from .watching import GONE, UNWATCHED

LINES_A_POLL: Final = 65_536
_MAX_PROCESSES: Final = 16_384
_LATE_S: Final = 1.0
"""Pause between polls after which a process may assume that the collector is gone, and hand over a new region."""
_LATE_FOR_S: Final = 10.0
"""Time after such a pause within which the new region may arrive."""
_LOOK_S: Final = 0.5
"""Interval at which processes without a pidfd are checked."""


class Drain:
    """Listens on a Unix socket for traced processes, and empties their rings. The preload library connects them.

    A process hands over memory and closes the connection. Its end is detected by a pidfd, and then its rings are read
    to their end, including what it wrote before a SIGKILL. Only processes of the same user (or root) are accepted. The
    socket is private to its user.

    Args:
        path: path of the socket.
        clock: a steady clock, s.
        lines_a_poll: maximum number of lines per process and poll.
        keeper: process that preserves the regions for another collector if this one is killed; closed with the drain.
        passed: receiver of processes that another process has accepted at the path; by default the drain listens there.

    Attributes:
        release: what releases the space of data, at once or when it is stored elsewhere.
    """

    def __init__(
        self,
        path: Path,
        clock: Callable[[], float] = time.monotonic,
        lines_a_poll: int = LINES_A_POLL,
        keeper: Keeper | None = None,
        passed: PassedPeers | None = None,
    ) -> None:
        self.most_lines = 0  # highest number of lines that the last poll took from one process
        self._clock = clock
        self._lines_a_poll = lines_a_poll
        self._processes: dict[int, ProcessImage] = {}  # by token
        self._images: dict[int, set[int]] = {}  # tokens by pid
        self._watched: dict[int, int] = {}  # pidfd -> token
        self._polled_s = clock()
        self._late_until_s: float | None = None
        self._looked_s: float | None = None
        self._given_up: set[int] = set()
        self._closed = False
        self._keeper = keeper
        self._inherited = [] if keeper is None else self._take_over(keeper)
        self.release = DeferredRelease(self._processes, self._inherited, keeper)
        if self._inherited:  # these may have detected that the previous collector is gone, and hand over a new region
            self._late_until_s = clock() + _LATE_FOR_S
        self.events = select.epoll()
        try:
            self._handover_socket = HandoverSocket(path, self.events, keeps=keeper is not None, passed=passed)
            self._cells = CellReader(self, self._handover_socket)
            self._opens_cells = keeper is None and passed is None
            self._report_socket = ReportSocket(path, self.events, None if passed is None else passed.reports)
        except BaseException:
            self.events.close()
            raise

    def await_ends(self, *, wanted: bool) -> None:
        """Read new processes in the first poll after 2 ms, because those that have ended take a tenth of the time."""
        self._handover_socket.awaits_ends = wanted

    def descriptors(self) -> list[int]:
        """Return the descriptors that the drain needs before the first process arrives."""
        needed = [self.events.fileno(), *self._handover_socket.descriptors(), self._report_socket.fileno()]
        return [descriptor for descriptor in needed if descriptor >= 0]

    @property
    def in_use(self) -> bool:
        """Whether there are processes that are connecting, have not ended, or whose rings are not completely read."""
        return bool(self._processes) or self._handover_socket.has_waiting_peers or self._cells.has_unread

    def images(self) -> dict[int, list[Region]]:
        """Return the regions of running processes, by token; may be called by another thread."""
        return {token: image.regions[:] for token, image in list(self._processes.items()) if image.watch != GONE}

    def running(self) -> list[int]:
        """Return the tokens of processes that have not ended."""
        return [token for token, image in self._processes.items() if image.runs]

    @property
    def all_run(self) -> bool:
        """True while no process that has ended remains to be read."""
        return all(image.runs for image in self._processes.values())

    def poll(self, receiver: DrainReceiver, patience_s: float = 0.0) -> bool:
        """Accept new processes, and passes on what all have recorded since the last poll.

        Args:
            receiver: receiver of the data.
            patience_s: time for which a few events of a process wait for more, s.

        Returns:
            Whether there was any data.
        """
        if self._closed:
            return False
        self.most_lines = 0
        now_s = self._clock()
        if now_s - self._polled_s > _LATE_S:
            self._late_until_s = now_s + _LATE_FOR_S
        self._polled_s = now_s
        while self._inherited and isinstance(receiver, InheritingReceiver):
            self._inherit(self._inherited.pop(0), receiver)
        ready = [descriptor for descriptor, _ in self.events.poll(0)]
        # Before arrivals: an exec detected there closes pidfds, whose numbers may then be reused.
        for descriptor in self._watched.keys() & set(ready):
            self._unwatch(self._processes[self._watched[descriptor]])
        self._check_unwatched(now_s)
        self._cells.reads_ended = not self.release.is_deferred
        news = self._cells.read(receiver, now_s)
        news = self._accept_arrivals(ready, receiver) or news
        for token, process in list(self._processes.items()):
            news = self._drain_process(token, process, receiver, patience_s) or news
        self._release_stopped()
        return news

    def _accept_arrivals(self, ready: list[int], receiver: DrainReceiver) -> bool:
        """Accept regions and reports of processes. Returns whether there were any."""
        news = False
        reads_ended = not self.release.is_deferred and receiver.free_lines > ACCEPTS_A_POLL * MAX_LINES
        for arrival in self._handover_socket.arrivals(ready, reads_ended=reads_ended):
            news = True
            self.handle(arrival, receiver)
        if self._report_socket.fileno() in ready:
            for report in self._report_socket.reports():
                news = True
                receiver.unreachable(report.job, report.command, report.failure)
        return news

    def handle(self, arrival: Arrival | EndedProcesses | Exception, receiver: DrainReceiver) -> None:
        """Accept what has arrived at the socket."""
        if isinstance(arrival, Arrival):
            self._accept(arrival, receiver)
        elif isinstance(arrival, EndedProcesses):
            pids = {pid for _, pid, _ in identities_in(arrival.data)}
            self._cells.read_before(pids, receiver, self._polled_s, replaced=False)
            self.pass_ended(arrival.data, receiver)
        else:
            self.refuse(arrival, receiver)

    def is_known(self, token: int) -> bool:
        """Return whether a process image is being read."""
        return token in self._processes

    @property
    def has_room(self) -> bool:
        """Whether a further process image can be read."""
        return len(self._processes) < _MAX_PROCESSES

    def _release_stopped(self) -> None:
        """Release the processes that are not read any more."""
        while self._given_up:
            if (process := self._processes.get(token := self._given_up.pop())) is not None:
                self._forget(token)
                self._release(process)

    def sleep(self) -> bool:
        """Asks processes to notify the collector when much data waits; returns whether all can.

        ``events`` is then signalled in time. Poll at least every second: processes check that the collector is there.
        """
        cannot = [process for process in self._processes.values() if not process.first.sleep()]
        return not (cannot or self._handover_socket.has_unread_peers or self._cells.had_unread)

    def stop_reading(self, token: int) -> None:
        """Stop reading a process at the end of the current poll."""
        self._given_up.add(token)

    def close_in_parent(self) -> None:
        """Close this process's descriptors; the forked process continues to listen."""
        self._closed = True
        self._handover_socket.close_in_parent()
        self._report_socket.close_in_parent()
        self.events.close()

    def close(self, receiver: DrainReceiver) -> None:
        """Stop listening and release the processes' memory. They continue, and hand over to the next collector."""
        if self._closed:
            return
        self._closed = True
        for process in self._cells.close(receiver, self._polled_s):
            self._drain_process(process.first.token, process, receiver, 0.0)
        for token, process in self._processes.items():
            process.report_counters(token, receiver, self._polled_s)
            if self.release.is_deferred:
                process.release()
            self._release(process)
            receiver.ended(token)
        self._processes.clear()
        self._images.clear()
        if self._keeper is not None:
            self._keeper.close()
        self._handover_socket.close()
        self._report_socket.close()
        self.events.close()

    def _drain_process(self, token: int, process: ProcessImage, receiver: DrainReceiver, patience_s: float) -> bool:
        ended, now_s = process.watch == GONE, self._polled_s
        news = False
        if process.ranks_changed():  # records drained from here on were made with that rank
            process.report_counters(token, receiver, now_s)
            news = True
        if ended or not process.may_wait(now_s, patience_s):
            room = min(self._lines_a_poll, receiver.free_lines)
            taken = process.drain(token, receiver, now_s, room)
            self.most_lines = max(self.most_lines, taken)
            news = process.learn(token, receiver, now_s, ended=ended) or taken > 0 or news
            process.is_uncounted = process.is_uncounted or taken > 0
            lacks_room = room < self._lines_a_poll and taken >= room
            if ended or lacks_room or process.lacked_room or process.is_to_be_counted(now_s):
                process.report_counters(token, receiver, now_s)
            process.lacked_room = lacks_room
        if news:
            self.release.note(token)
        # After reading the rings: a process that sees a new stamp does not give the region up.
        process.first.mark_read(time.monotonic_ns())
        if ended and process.drained and process.until_s <= now_s:
            self._forget(token)
            self._release(process)
            receiver.ended(token)
            news = True
        return news

    def _check_unwatched(self, now_s: float) -> None:
        """Detect the end of processes without a pidfd."""
        if self._looked_s is not None and now_s - self._looked_s < _LOOK_S:
            return
        self._looked_s = now_s
        for process in self._processes.values():
            if process.watch == UNWATCHED and process.liveness is not None:
                with self._handover_socket.spare_descriptor():
                    if not process.liveness.is_running():
                        process.watch = GONE

    def refuse(self, error: Exception, receiver: DrainReceiver) -> None:
        """Report a refused process."""
        counter = "processes_refused" if isinstance(error, ProtocolError) else "accepts_failed"
        receiver.refused(counter, str(error), error.job if isinstance(error, RefusedProcessError) else None)

    def _accept(self, arrival: Arrival, receiver: DrainReceiver) -> None:
        known = self._processes.get(arrival.token)
        if known is None and arrival.region.extent:
            known = self._cells.adopt_token(arrival.token, receiver, self._polled_s)
        problem = ""
        if (known is None) != (arrival.region.extent == 0):
            problem = f"process {arrival.pid} sent a region that is not its next"
        elif known is None and not self.has_room:
            problem = f"at most {_MAX_PROCESSES} processes are traced at once"
        if known is None and not problem:
            self._begin(arrival, receiver)
            return
        if arrival.watch >= 0:
            os.close(arrival.watch)
        if known is not None and not problem:
            arrival.region.defers_release = self.release.is_deferred
            known.add(arrival.region)
            preserve(self._keeper, known, arrival)
        else:
            if arrival.descriptor >= 0:
                os.close(arrival.descriptor)
            job = ImageHeader.of(arrival.region.header()).job
            arrival.region.close()
            self.refuse(RefusedProcessError(problem, job), receiver)

    def pass_ended(self, data: bytes, receiver: DrainReceiver) -> None:
        """Pass on processes that have ended, each after earlier images of it."""
        for entries, pid, token in groups_in(data, self._images.keys(), self._processes.keys()):
            if (known := self._processes.get(token)) is not None:
                job = ImageHeader.of(known.first.header()).job
                self.refuse(RefusedProcessError(f"process {pid} sent a region that is not its next", job), receiver)
                continue
            for earlier in list(self._images.get(pid, ())):
                self._replace(self._processes[earlier])
                self._drain_process(earlier, self._processes[earlier], receiver, 0.0)
            receiver.ended_processes(entries)

    def _begin(self, arrival: Arrival, receiver: DrainReceiver) -> None:
        region, pid = arrival.region, arrival.pid
        self._cells.read_before({pid}, receiver, self._polled_s, replaced=region.follows_another)
        with self._handover_socket.spare_descriptor() if arrival.watch == UNWATCHED else contextlib.nullcontext():
            process = ProcessImage(pid, region, arrival.watch)
        if self.release.is_deferred:
            process.defer_release()
        preserve(self._keeper, process, arrival)
        self.start(arrival.token, process, receiver)
        if self._opens_cells and not self.release.is_deferred:
            self._cells.open(process)

    def start(self, token: int, process: ProcessImage, receiver: DrainReceiver) -> None:
        """Begin to read a process image, which ends earlier ones of its process."""
        earlier = self._images.setdefault(process.pid, set())
        for other in earlier:
            self._replace(self._processes[other])
        follows = bool(earlier)
        self._add(token, process)
        receiver.image_started(token, process.pid, process.first.header(), follows=follows)

    def _add(self, token: int, process: ProcessImage) -> None:
        self._images.setdefault(process.pid, set()).add(token)
        self._processes[token] = process
        if process.watch >= 0:
            self._watched[process.watch] = token
            self.events.register(process.watch, select.EPOLLIN)

    def _inherit(self, left: Inherited, receiver: InheritingReceiver) -> None:
        """Continues with a process of the previous collector."""
        process = left.process
        self._add(left.token, process)
        before = process.records_taken - left.kept[0].taken
        receiver.inherited(left.token, process.pid, process.first.header(), process.predecessors, before)
        receiver.definitions(left.token, left.definitions)
        for kept in left.kept:
            if self._keeper is not None:
                self._keeper.preserve(kept._replace(predecessors=process.predecessors + 1, taken=process.records_taken))
            os.close(kept.region)

    def _take_over(self, keeper: Keeper) -> list[Inherited]:
        """Map the previous collector's regions. It passes them to the new keeper before the old one releases them."""
        found = take_over(keeper.inherited)
        for left in found:
            for kept in left.kept:
                keeper.preserve(kept)
        keeper.has_inherited()
        return found

    def _replace(self, old: ProcessImage) -> None:
        """End a process image after exec, or a region that its process gave up because this collector was late."""
        if old.watch != GONE and self._late_until_s is not None and self._polled_s < self._late_until_s:
            old.until_s = self._polled_s + OVERLAP_S
        self._unwatch(old)

    def _forget(self, token: int) -> None:
        process = self._processes.pop(token)
        self.release.note_end(token, process)
        images = self._images[process.pid]
        images.discard(token)
        if not images:
            del self._images[process.pid]

    def _unwatch(self, process: ProcessImage) -> None:
        """Close a process's pidfd: it has ended, and is read to its end."""
        if process.watch >= 0:
            self.events.unregister(process.watch)
            del self._watched[process.watch]
            os.close(process.watch)
        process.watch = GONE

    def _release(self, process: ProcessImage) -> None:
        has_ended = process.watch == GONE
        self._unwatch(process)
        if process.notes is not None:
            process.notes.close()
            process.notes = None
        if process.cells is not None:
            process.cells.close(self._polled_s)
        for region in process.regions:
            region.close()
        if has_ended:  # otherwise it continues there, and counts in its next region what nobody has read
            process.free_cell()
