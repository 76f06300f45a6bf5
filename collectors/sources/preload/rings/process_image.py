"""A process image that hands over what it records, and who takes that."""

from __future__ import annotations

from typing import Final, Protocol, runtime_checkable

import msgspec

from .....events import ProtocolError
from .....events.losses import BYTES, EVENTS
from ..records.lines import Lines
from .keeper import Notes
from .region import Region
from .watching import UNWATCHED, Life

HOLD_S: Final = 0.1
"""How long records wait for a definition that some thread has begun to write and not finished."""
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


@runtime_checkable
class Inheriting(Taker, Protocol):
    """Who can go on with what another collector had."""

    def inherited(self, token: int, pid: int, header: bytes, had: int, taken: int) -> None:
        """Takes in a process image that other collectors have had.

        Args:
            token: names it.
            pid: as of ``begun``.
            header: likewise.
            had: how many collectors.
            taken: records that the last of them took.
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
        self.life = Life(pid) if watch == UNWATCHED else None
        self.notes: Notes | None = None
        """For another collector."""
        self.had = 0
        """How many other collectors have had it."""
        self.holds = False
        """What was taken is given back, and noted, with ``release`` alone."""
        self._counted: dict[str, int] = {}
        self.told_before: dict[str, int] = {}
        """What another collector has told of its counts."""
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
        if self.holds:
            self._counted = dict(counts)
        elif self.notes is not None:
            self.notes.tell(counts)
        for name, count in self.told_before.items():
            counts[name] = max(0, counts.get(name, 0) - count)
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

    @property
    def taken(self) -> int:
        """How many records were taken out of its rings, ever."""
        return sum(region.taken for region in self.regions)

    def hold(self) -> None:
        """From now on, has what was taken be given back with ``release`` alone."""
        self.holds = True
        for region in self.regions:
            region.holds = True

    @property
    def is_held_up(self) -> bool:
        """Tells whether it may soon find no room as what was taken is not released."""
        return any(region.is_held_up for region in self.regions)

    def place(self) -> bytes:
        """Returns up to where it was taken, and what was told of its counts."""
        regions = {region.extent: region.place() for region in self.regions}
        return msgspec.msgpack.encode((regions, self._counted))

    def go_on_from(self, place: bytes) -> None:
        """Takes in up to where another collector had got.

        Raises:
            msgspec.MsgspecError: that is no place.
        """
        regions, self.told_before = msgspec.msgpack.decode(place, type=tuple[dict[int, bytes], dict[str, int]])
        for region in self.regions:
            region.go_on_from(regions.get(region.extent, b""))

    def release(self) -> None:
        """Gives what was taken back, once that is kept elsewhere."""
        for region in self.regions:
            region.release()
        if self.notes is not None:
            self.notes.tell(self._counted)

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
        note = self.notes.learn if self.notes is not None else lambda entries: None
        try:
            while entries := self.first.log.take(note):
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
