"""The collector's view of a traced process's shared memory.

The producer publishes a ring's head with a release store after the lines. The collector reads heads before lines, with
a fence. A hostile process may have written any value, so each number is checked before use.
"""

from __future__ import annotations

import fcntl
import os
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from .....events import ProtocolError
from ..records.definition_log import DefinitionLog
from ..records.fences import fence
from ..records.image_header import counts_of, unrecorded_in
from ..records.lines import Lines, marks
from ..records.ring_layout import (
    COLLECTOR_ASLEEP,
    ENTRY,
    HEADER,
    HEADER_BYTES,
    LAYOUT,
    LINE_BYTES,
    LINE_WORDS,
    MAGIC,
    MARK_WORDS,
    MAX_HEADER_VALUES,
    MAX_WORD_LINES,
    SLOT,
    field_at,
)
from .cells import Cells
from .pace_words import PaceWords
from .received_descriptors import mapped

_RELEASE_AT: Final = 4
"""Fraction of a ring, 1 / 4, after which space is released as soon as possible."""
_NEARLY_FULL: Final = 4
"""Fraction of a ring, 1 / 4. A ring that was full since the last poll contains more now, or did so then."""
_ENOUGH: Final = 16
"""Fraction of a ring, 1 / 16, after which data is read immediately."""
_VIEWS: Final = (
    "_header", "_slots", "_tallies", "_rings", "_heads", "_shown_tails", "_taken", "_dropped", "_rank", "_ranks",
    "_seen", "_wakes",
)  # fmt: skip
_WORD: Final = 2**64 - 1
_TALLIES: Final = slice(field_at(SLOT, "dropped_full") // 8, field_at(SLOT, "dropped_bytes") // 8 + 1)
"""Words of a slot: dropped_full, made, sampled_out, sampled_out_bytes, dropped_bytes."""
_PIECE_LINES: Final = 8192
"""Lines that are processed at once, so that they fit a core's cache."""


class Region:
    """One mapped region: header, rings and definitions log.

    Attributes:
        counters: violations of the layout since the region was mapped.
        defers_release: whether space of lines is released only by ``release``.

    Raises:
        ProtocolError: the memory is not a region of this layout, or can still be truncated.
    """

    def __init__(self, descriptor: int) -> None:
        size = check_is_sealed(descriptor)
        self._view_memory(mapped(descriptor, size), HEADER_BYTES)

    @classmethod
    def in_cell(cls, memory: memoryview) -> Region:
        """Return the region in a cell. Raises ProtocolError as the constructor."""
        region = cls.__new__(cls)
        region._view_memory(memory, HEADER.itemsize)
        region.is_cell = True
        return region

    is_cell = False
    """Whether it is a cell of another region."""

    def _view_memory(self, memory: memoryview, head_bytes: int) -> None:
        self._memory = memory
        self._header = np.frombuffer(self._memory, HEADER, count=1)
        facts = self._header[0].copy()
        _check(facts, len(memory), head_bytes)
        self.extent = int(facts["extent"])
        self.token = int(facts["token"])
        self.counters: Counter[str] = Counter()
        self._lines = int(facts["ring_lines"])
        self._enough = self._lines // _ENOUGH
        slots = int(facts["slot_count"])
        self._slots = np.frombuffer(self._memory, SLOT, slots, int(facts["slots_offset"]))
        words = np.frombuffer(self._memory, "<u8", slots * self._lines * LINE_WORDS, int(facts["rings_offset"]))
        self._rings = words.reshape(-1, LINE_WORDS)
        self._tallies = self._slots.view("<u8").reshape(slots, -1)[:, _TALLIES]
        self._heads, self._shown_tails = self._slots["head"], self._slots["tail"]
        self._taken = self._slots["taken"]
        self._dropped = self._slots["dropped_full"]
        self._tails, self._taken_here = self._shown_tails.copy(), self._taken.copy()
        self.defers_release = False
        self._was_nearly_full = False
        self._dropped_before = 0
        self._next = 0
        self._rank, self._ranks = self._header["rank"], self._header["ranks"]
        self._seen = self._header["collector_seen_ns"]
        self._wakes = self._header["wakes"]
        self.log = DefinitionLog(self._memory, self._header, int(facts["log_offset"]), int(facts["log_bytes"]))

    @property
    def pid(self) -> int:
        """Pid of the process in its own namespace."""
        return int(self._header["pid"][0])

    @property
    def follows_another(self) -> bool:
        """Whether the process has replaced another region of the same program by it."""
        return bool(self._header["before_token"][0])

    def cells(self) -> Cells | None:
        """Return the cells in which forked children of the process may begin; None: it has none."""
        return Cells.of(self._memory)

    def heads(self) -> npt.NDArray[np.uint64]:
        """Return the current heads of its rings."""
        return self._heads.copy()

    def pace_words(self) -> PaceWords:
        """Return the pacing words, which outlive the region."""
        return PaceWords(self._memory, self._slots)

    def extend(self, words: PaceWords) -> None:
        """Add this region's slots to the words of its process's first region."""
        words.extend(self.extent, self._slots)

    def header(self) -> bytes:
        """Return the current header."""
        return self._header.tobytes()

    @property
    def rank(self) -> int:
        """Current rank of the process; -1 for none."""
        return max(int(self._rank[0]), -1)

    @property
    def ranks(self) -> int:
        """Current size of the process's communicator; 0 if unknown."""
        return max(int(self._ranks[0]), 0)

    def mark_read(self, now_ns: int) -> None:
        """Tells the process that it is being read (CLOCK_MONOTONIC)."""
        self._seen[0] = now_ns

    def sleep(self) -> bool:
        """Asks to be woken when much data waits in this process's regions. Returns whether the process can do so."""
        if not self._wakes[0]:
            return False
        self._wakes[0] = COLLECTOR_ASLEEP
        return True

    @property
    def records_taken(self) -> int:
        """Number of records taken out of its rings since its start."""
        return int(self._taken_here.sum())

    @property
    def is_short_of_space(self) -> bool:
        """True when so much is unreleased that the process may soon run out of space."""
        return int((self._tails - self._shown_tails).max()) >= self._lines // _RELEASE_AT

    def read_positions(self) -> bytes:
        """Return the read positions of its rings."""
        return self._tails.tobytes() + self._taken_here.tobytes()

    def resume_from(self, place: bytes) -> None:
        """Continues at the previous collector's positions, as far as they are not released."""
        if len(place) != 2 * self._tails.nbytes:
            return
        tails, taken = np.frombuffer(place, "<u8").reshape(2, -1)
        ahead = tails > self._tails
        self._tails[ahead], self._taken_here[ahead] = tails[ahead], taken[ahead]
        self.release()

    def release(self) -> None:
        """Releases the space of taken lines to the process."""
        fence()  # complete the copies of the lines first
        self._taken[:] = self._taken_here
        self._shown_tails[:] = self._tails

    @property
    def is_filling(self) -> bool:
        """True when it should be read soon, so that it does not overflow."""
        return int((self._heads - self._tails).max()) >= self._enough or self.log.is_filling

    def drain(
        self,
        most: int,
        on_drops: Callable[[], None] = lambda: None,
        heads: npt.NDArray[np.uint64] | None = None,
    ) -> Iterator[tuple[int, Lines]]:
        """Yield (tid, lines of one ring), about ``most`` lines in all. It frees them when the next are requested.

        The caller must copy the lines. They begin with a record, and never end between a record and its words. Only
        rings with new lines are touched, starting after the last ring of the previous call, so that none is starved.

        Args:
            most: approximate maximum number of lines.
            on_drops: function called before the first lines if full rings have dropped calls since the last time.
                ``counts`` then includes all that were dropped between these lines.
            heads: earlier result of ``heads``: lines after it are left in the rings.
        """
        heads = self.heads() if heads is None else heads
        fence()  # read lines and counters after the head that announces them
        if self._have_dropped(heads):
            on_drops()
        news = (heads != self._tails).nonzero()[0].tolist()
        first = bisect_left(news, self._next)
        for slot in news[first:] + news[:first]:
            head = int(heads[slot])
            if not 0 < head - int(self._tails[slot]) <= self._lines:
                # Only a producer that violates the layout causes this; its ring restarts at its own head.
                self.counters["rings_malformed"] += 1
                self._taken_here[slot] = self._taken[slot] = self._slots["made"][slot]
                self._tails[slot] = self._shown_tails[slot] = head
                continue
            self._next = slot + 1
            tid = int(self._slots["tid"][slot])
            while most > 0 and int(self._tails[slot]) < head:
                taken, end, records = self._piece(slot, head, min(most, _PIECE_LINES))
                if len(taken):
                    yield tid, taken
                most -= end - int(self._tails[slot])
                taken_now = (int(self._taken_here[slot]) + records) & _WORD
                self._taken_here[slot], self._tails[slot] = taken_now, end
                if not self.defers_release:
                    fence()  # complete the copies of the lines before their space is released
                    self._taken[slot], self._shown_tails[slot] = taken_now, end
            if most <= 0:
                return

    def _have_dropped(self, heads: npt.NDArray[np.uint64]) -> bool:
        """Return whether full rings have dropped calls since the last time. Costs little unless a ring fills up."""
        was, tails = self._was_nearly_full, self._shown_tails if self.defers_release else self._tails
        self._was_nearly_full = int((heads - tails).max()) >= self._lines // _NEARLY_FULL
        if not (was or self._was_nearly_full):
            return False
        before, self._dropped_before = self._dropped_before, int(self._dropped.sum())
        return self._dropped_before != before

    def _piece(self, slot: int, head: int, most: int) -> tuple[Lines, int, int]:
        """Return lines from the tail on, and their end in the ring.

        It also returns the number of records among them.
        """
        tail = int(self._tails[slot])
        taken = self._view(slot, tail, min(head, tail + most + MAX_WORD_LINES))
        taken = taken[: _end_of_records(taken, most)]
        end = tail + len(taken)
        is_record = marks(taken) != MARK_WORDS
        records = int(np.count_nonzero(is_record))
        if not records or not is_record[0]:  # words without a record
            self.counters["events_dropped:malformed"] += 1
            taken = taken[int(is_record.argmax()) :] if records else taken[:0]
        return taken, end, records

    @property
    def drained(self) -> bool:
        """True when no ring contains a record."""
        return bool((self._heads == self._tails).all())

    def counts(self, *, ended: bool = False) -> dict[str, int]:
        """Return what the process could not or must not record, by reason, cumulative.

        Args:
            ended: whether the process image has ended, so that what it has not recorded yet is lost.
        """
        full, _, sampled, bytes_sampled, bytes_full = self._tallies.sum(axis=0).tolist()
        counts = counts_of(self._memory, full, sampled, bytes_sampled, bytes_full)
        return {**counts, **unrecorded_in(self._memory)} if ended else counts

    def close(self) -> None:
        """Unmaps the region."""
        if hasattr(self, "log"):
            self.log.close()
        for name in _VIEWS:
            if hasattr(self, name):
                delattr(self, name)
        del self._memory  # remaining views of lines keep the memory

    def _view(self, slot: int, tail: int, head: int) -> Lines:
        base, first = slot * self._lines, tail & (self._lines - 1)
        until = min(first + head - tail, self._lines)
        taken = self._rings[base + first : base + until]
        rest = head - tail - len(taken)
        return np.concatenate([taken, self._rings[base : base + rest]]) if rest else taken


def check_is_sealed(descriptor: int) -> int:
    """Return the size of a region.

    Raises:
        ProtocolError: it can be truncated, or has no header.
        OSError: it is no memory file.
    """
    size = os.fstat(descriptor).st_size
    if size < HEADER_BYTES or not fcntl.fcntl(descriptor, fcntl.F_GET_SEALS) & fcntl.F_SEAL_SHRINK:
        raise ProtocolError("a region is a memfd sealed against shrinking, with a header")
    return size


def _end_of_records(lines: Lines, most: int) -> int:
    """Return the number of lines to take, about ``most`` records. The last of these records is complete."""
    if len(lines) <= most:
        return len(lines)
    records = np.flatnonzero(marks(lines[most:]) != MARK_WORDS)
    return most + int(records[0]) if len(records) else len(lines)


def _check(facts: Any, size: int, head_bytes: int) -> None:
    if int(facts["magic"]) != MAGIC or int(facts["layout"]) != LAYOUT or int(facts["region_bytes"]) != size:
        raise ProtocolError(f"a region starts with its magic, layout {LAYOUT} and its true size")
    for name, most in MAX_HEADER_VALUES.items():
        if not 0 < int(facts[name]) <= most:
            raise ProtocolError(f"{name} is 1 to {most}, not {int(facts[name])}")
    lines = int(facts["ring_lines"])
    if lines & (lines - 1):
        raise ProtocolError(f"ring_lines is a power of two, not {lines}")
    if int(facts["log_bytes"]) % ENTRY.size or int(facts["log_tail"]) % ENTRY.size:
        raise ProtocolError(f"the log consists of pieces of {ENTRY.size} bytes")
    slots = int(facts["slot_count"])
    for start, length in (
        ("slots_offset", slots * SLOT.itemsize),
        ("log_offset", int(facts["log_bytes"])),
        ("rings_offset", slots * lines * LINE_BYTES),
    ):
        at = int(facts[start])
        if at % 8 or at < head_bytes or at + length > size:
            raise ProtocolError(f"{start} lies outside the region")
