"""A process image with its regions, and the interface of the receivers of its data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol, runtime_checkable

import msgspec

from .....events import ProtocolError
from .....events.losses import BYTES, EVENTS
from ..records.lines import Lines
from .cells import Cells
from .keeper import Notes
from .region import Region
from .watching import GONE, UNWATCHED, ProcessLiveness

HOLD_S: Final = 0.1
"""Time for which records wait for a definition that a thread has begun to write and not finished."""
_COUNT_S: Final = 1.0
"""Interval at which the counters of an idle process are read."""
_COUNT_BUSY_S: Final = 0.05
"""Interval for a recording process: reading counters takes as long as taking a thousand calls."""


class DrainReceiver(Protocol):
    """Receiver of a drain's data. Processes are identified by their tokens."""

    @property
    def free_lines(self) -> int:
        """Lines that it can accept now; it can always accept everything else."""
        ...

    def image_started(self, token: int, pid: int, header: bytes, *, follows: bool) -> None:
        """Begin a process image.

        Args:
            token: token of the process image.
            pid: pid in our namespace; in its own pid namespace the process may have another.
            header: header of its first region.
            follows: whether it replaces another image of the same process.
        """
        ...

    def counters(self, token: int, rank: int, ranks: int, counts: dict[str, int]) -> None:
        """Accept the rank and the cumulative counters of the process."""
        ...

    def lines(self, token: int, tid: int, lines: Lines) -> None:
        """Lines of a ring follow, beginning with a record; the receiver must copy them."""
        ...

    def definitions(self, token: int, entries: bytes) -> None:
        """Whole entries of the definitions log follow."""
        ...

    def settled(self, token: int) -> None:
        """Whether all definitions that the lines so far use have arrived. It is also true if no more of them will."""
        ...

    def malformed(self, token: int, problem: str) -> None:
        """Report that the log violated the layout."""
        ...

    def still_running(self, token: int) -> None:
        """Report that the process still runs, although nothing more of it is read."""
        ...

    def ended(self, token: int) -> None:
        """End the process image; nothing of it follows."""
        ...

    def ended_processes(self, data: bytes) -> None:
        """Accept process images that have ended, as entries of ``ended_process.py``; nothing else of them follows."""
        ...

    def refused(self, counter: str, problem: str, job: str | None) -> None:
        """Report a refused process; ``counter`` is the counter for that, ``job`` None if its job is unknown."""
        ...

    def unreachable(self, job: str, command: str, failure: str) -> None:
        """Report a process that should have been traced but could not reach the socket."""
        ...


@runtime_checkable
class InheritingReceiver(DrainReceiver, Protocol):
    """Receiver that can continue the processes of a previous collector."""

    def inherited(self, token: int, pid: int, header: bytes, had: int, taken: int) -> None:
        """Begin a process image of previous collectors.

        Args:
            token: token of the process image.
            pid: as for ``image_started``.
            header: as for ``image_started``.
            had: number of previous collectors.
            taken: number of records that the last of them took.
        """
        ...


class ProcessImage:
    """A process image and the regions that it handed over."""

    def __init__(self, pid: int, region: Region, watch: int) -> None:
        self.pid = pid
        self.first = region
        self.regions = [region]
        self.watch = watch
        """pidfd, ``UNWATCHED``, or ``GONE`` once the process has ended."""
        self.liveness = ProcessLiveness(pid) if watch == UNWATCHED else None
        self.notes: Notes | None = None
        """Notes for another collector."""
        self.predecessors = 0
        """Number of previous collectors."""
        self.defers_release = False
        """Data taken is released and noted only by ``release``."""
        self._counted: dict[str, int] = {}
        self.reported_before: dict[str, int] = {}
        """Counters that the previous collector has reported."""
        self.until_s = 0.0
        """Time until which a replaced image is read at least."""
        self.drained_s: float | None = None
        self.unsettled_since_s: float | None = None
        self.counted_s: float | None = None
        self.is_uncounted = True
        """Data was taken since its counters were read."""
        self.lacked_room = False
        """There was no room for all that it has recorded."""
        self._while_waiting = [0, 0]
        self._ring_full = [0, 0]
        self._logs = [region.log]
        self._uses_until = [0]
        self.free_cell: Callable[[], None] = lambda: None
        """Frees the cell in which the process began."""
        self.cells: Cells | None = None
        """Cells in its first region, which are read."""
        self._reported: tuple[int, int, dict[str, int]] | None = None

    def add(self, region: Region) -> None:
        """Add a further region. The first one after a cell replaces it, except for what is still in the cell."""
        self.regions.append(region)
        if self.first.is_cell:
            self.first = region
            self._logs.append(region.log)
            self._uses_until.append(0)

    @property
    def runs(self) -> bool:
        """True while the process, with this program, has not ended."""
        return self.watch != GONE and (self.liveness is None or self.liveness.is_running())

    @property
    def drained(self) -> bool:
        """True when nothing remains to be passed on."""
        return self.unsettled_since_s is None and all(region.drained for region in self.regions)

    def may_wait(self, now_s: float, patience_s: float) -> bool:
        """Return whether few events may wait for more."""
        if self.unsettled_since_s is not None or self.drained_s is None or now_s - self.drained_s >= patience_s:
            return False
        return not any(region.is_filling for region in self.regions)

    def report_counters(self, token: int, receiver: DrainReceiver, now_s: float) -> None:
        """Pass on rank and counters if they have changed."""
        self.counted_s = now_s
        self.is_uncounted = False
        first, *others = self.regions
        ended = self.watch == GONE
        counts = first.counts(ended=ended)
        for more in (
            first.counters,
            *(each for region in others for each in (region.counts(ended=ended), region.counters)),
        ):
            for name, count in more.items():
                counts[name] = counts.get(name, 0) + count
        if self.defers_release:
            self._counted = dict(counts)
        elif self.notes is not None:
            self.notes.store_counters(counts)
        for name, count in self.reported_before.items():
            counts[name] = max(0, counts.get(name, 0) - count)
        self._count_receiver_full(counts)
        report = self.first.rank, self.first.ranks, counts
        if report != self._reported:
            self._reported = report
            receiver.counters(token, *report)

    def _count_receiver_full(self, counts: dict[str, int]) -> None:
        """Count calls that found their ring full because the receiver had no room.

        They are counted separately from others.
        """
        for position, unit in enumerate((EVENTS, BYTES)):
            dropped = counts[f"{unit}ring_full"]
            if self.lacked_room:
                self._while_waiting[position] += max(0, dropped - self._ring_full[position])
            self._ring_full[position] = dropped
            if waiting := self._while_waiting[position]:
                counts[f"{unit}ring_full"] = max(0, dropped - waiting)
                counts[f"{unit}spool_full"] = waiting

    def is_to_be_counted(self, now_s: float) -> bool:
        """Return whether it is time to read the counters."""
        return self.counted_s is None or now_s - self.counted_s >= (_COUNT_BUSY_S if self.is_uncounted else _COUNT_S)

    def ranks_changed(self) -> bool:
        """Return whether the rank differs from the reported one."""
        return self._reported is not None and self._reported[:2] != (self.first.rank, self.first.ranks)

    @property
    def records_taken(self) -> int:
        """Number of records taken out of its rings since its start."""
        return sum(region.records_taken for region in self.regions)

    def defer_release(self) -> None:
        """From now on, space is released only by ``release``."""
        self.defers_release = True
        for region in self.regions:
            region.defers_release = True

    @property
    def is_short_of_space(self) -> bool:
        """Returns whether the process may soon run out of space because nothing was released."""
        return any(region.is_short_of_space for region in self.regions)

    def read_position(self) -> bytes:
        """Return the read positions, and the reported counters."""
        regions = {region.extent: region.read_positions() for region in self.regions}
        return msgspec.msgpack.encode((regions, self._counted))

    def resume_from(self, position: bytes) -> None:
        """Continues at the previous collector's positions.

        Raises:
            msgspec.MsgspecError: the position is malformed.
        """
        regions, self.reported_before = msgspec.msgpack.decode(position, type=tuple[dict[int, bytes], dict[str, int]])
        for region in self.regions:
            region.resume_from(regions.get(region.extent, b""))

    def release(self) -> None:
        """Releases the space of data that is stored elsewhere."""
        for region in self.regions:
            region.release()
        if self.notes is not None:
            self.notes.store_counters(self._counted)

    def drain(self, token: int, receiver: DrainReceiver, now_s: float, most: int) -> int:
        """Pass on about ``most`` lines, then the definitions that they use. Returns the number of lines."""
        room = most
        # A thread continues in an extent when its cell is full: the cell is read after the extents' heads, before them.
        heads = [None if region.is_cell else region.heads() for region in self.regions]
        for region, until in zip(self.regions, heads, strict=True):
            # A file that ends with these lines, because both processes are killed, then has their losses, too.
            for tid, lines in region.drain(room, lambda: self.report_counters(token, receiver, now_s), until):
                receiver.lines(token, tid, lines)
                room -= len(lines)
            if room <= 0:
                break
        if len(self.regions) > 1:
            self.regions.append(self.regions.pop(1 if self.regions[0].is_cell else 0))
        if room < most:
            # Read after the rings: definitions for all drained records were begun before this position.
            self._uses_until = [log.head() for log in self._logs]
            self.unsettled_since_s = now_s if self.unsettled_since_s is None else self.unsettled_since_s
        self.drained_s = now_s
        return most - room

    def learn(self, token: int, receiver: DrainReceiver, now_s: float, *, ended: bool) -> bool:
        """Pass on definitions, and report when all that are needed have arrived. Returns whether there were any."""
        news = False
        note = self.notes.store_definitions if self.notes is not None else lambda entries: None
        try:
            for log in self._logs:
                while entries := log.take(note):
                    receiver.definitions(token, entries)
                    news = True
        except ProtocolError as error:
            receiver.malformed(token, str(error))
        since_s = self.unsettled_since_s
        if since_s is not None and (ended or now_s - since_s > HOLD_S or self._has_read_used()):
            self.unsettled_since_s = None
            receiver.settled(token)
            return True
        return news

    def _has_read_used(self) -> bool:
        """Return whether all definitions that the lines so far use have been read."""
        return all(log.has_read(until) for log, until in zip(self._logs, self._uses_until, strict=True))
