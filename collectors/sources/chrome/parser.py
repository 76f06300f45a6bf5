"""Parse Chrome traces (trace-event JSON): those of iotide, and the I/O calls of others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ...source import Changed, Chunk, Closed, Input, Opened, SourceItem
from .calls import NO_ARGUMENTS, Event, Meaning, joined, meanings, times
from .pieces import Broken, EventPieces
from .processes import Clock, Process, hashable

MAX_STREAMS: Final = 16_384
MAX_OPEN: Final = 1 << 16
"""Maximum number of calls that have begun and not ended."""
_EXPECTED: Final = "an event with name, ph, pid, and ts and dur in microseconds from 0 on"
_INSTANT: Final = frozenset("iIR")
_PHASES: Final = {
    **dict.fromkeys("bneSTpF", "halves of asynchronous events"),
    **dict.fromkeys("stf", "arrows between events"),
    **dict.fromkeys("NOD", "objects"),
    **dict.fromkeys("Pp", "samples"),
    **dict.fromkeys("vV", "memory dumps"),
    "C": "counters",
}
_OTHERS: Final = "events of unknown phases"
_UNENDED: Final = "events that were begun and not ended"


class ChromeParser:
    """Parses a trace into one stream for each process that makes I/O calls.

    Complete events (X), pairs of begin and end (B, E) and instants (i) are calls if ``meaning`` recognises them;
    metadata (M) names processes. Everything else is counted as unsupported.
    """

    def __init__(self, about: Input) -> None:
        self.problems, self.counters = about.problems, about.counters
        self._about = about
        self._pieces = EventPieces(Event)
        self._begun: dict[tuple[Any, Any], list[Event]] = {}
        self._begun_count = 0
        self._processes: dict[Any, Process] = {}
        self._clock: Clock | None = None
        self._omitted = about.unsupported

    def feed(self, data: bytes) -> list[SourceItem]:
        """Parse the next bytes, split anywhere, and return the calls of complete events."""
        return self._take(self._pieces.feed(data))

    def finish(self) -> list[SourceItem]:
        """Close all streams."""
        items = self._take(self._pieces.finish())
        items += [Closed(process.stream) for process in self._processes.values() if process.stream]
        self._processes.clear()
        self._omitted.add(_UNENDED, self._begun_count)
        return items

    def _take(self, pieces: Iterator[list[Any] | Broken]) -> list[SourceItem]:
        items: list[SourceItem] = []
        for piece in pieces:
            if isinstance(piece, Broken):
                self._about.malformed(piece.event, piece.problem, _EXPECTED)
            elif piece:
                self._events(piece, self._pieces.events - len(piece) + 1, items)
        return items

    def _events(self, events: list[Event], first: int, items: list[SourceItem]) -> None:
        """Process events by phase; ``first``: number of the first event in the file."""
        calls: list[Event] = []
        places: list[int] = []
        for place, event in enumerate(events, first):
            phase = event.ph
            if phase == "X":
                calls.append(event)
            elif phase == "M":
                if calls and self._changes_clock(event):  # the calls before it may also be in an earlier piece
                    self._calls(calls, np.array(places), items)
                    calls, places = [], []
                self._describe(event, items)
                continue
            elif phase == "B":
                self._begin(event)
                continue
            elif phase == "E":
                done = self._end(event)
                if done is None:
                    continue
                calls.append(done)
            elif phase in _INSTANT if type(phase) is str else False:
                event.dur = 0
                calls.append(event)
            else:
                self._omitted.add(_PHASES.get(phase, _OTHERS) if type(phase) is str else _OTHERS)
                continue
            places.append(place)
        if calls:
            self._calls(calls, np.array(places), items)

    def _begin(self, event: Event) -> None:
        if self._begun_count >= MAX_OPEN:
            self._about.left_out(1, "begun calls", MAX_OPEN, "too_many_begun")
            return
        self._begun.setdefault(_thread(event), []).append(event)
        self._begun_count += 1

    def _end(self, event: Event) -> Event | None:
        """Return the call that an end event completes: the last one begun on its thread."""
        thread = _thread(event)
        open_ = self._begun.get(thread)
        if not open_:
            self._omitted.add("ends of events that were not begun")
            return None
        done = open_.pop()
        self._begun_count -= 1
        if not open_:
            del self._begun[thread]
        begin, end = times([done.ts, event.ts]).tolist()
        done.dur = (end - begin) / 1000 if begin >= 0 and end >= begin else None
        done.args = joined(done.args, event.args)
        return done

    def _calls(self, events: list[Event], places: npt.NDArray[np.int64], items: list[SourceItem]) -> None:
        """Assign I/O calls to the streams of their processes."""
        known = meanings(events)
        self._omitted.add("events that are no I/O call", known.count(None))
        for pid, rows in _by_process(events, known).items():
            mine = [events[row] for row in rows]
            clock = self._clock = self._clock or Clock.of(self._pieces.head, mine[0])
            process = self._stream_of(pid, clock, items)
            if process is None:
                self._about.left_out(len(mine), "processes", MAX_STREAMS)
                continue
            batch, bad = process.batch(mine, [known[row] for row in rows], clock)
            for at in np.flatnonzero(bad).tolist():
                event = mine[at]
                described = f"{str(event.name)[:40]!r} with ts {str(event.ts)[:30]}, dur {str(event.dur)[:30]}"
                self._about.malformed(int(places[rows[at]]), described, _EXPECTED)
            batch = batch.select(~bad) if bad.any() else batch
            if len(batch):
                self.counters["events"] += len(batch)
                items.append(Chunk(process.stream, batch, process.interner.take_fresh()))

    def _stream_of(self, pid: Any, clock: Clock, items: list[SourceItem]) -> Process | None:
        """Return a process with its stream open; None if there are too many."""
        process = self._process(pid)
        if process is not None and not process.stream:
            process.stream = self._about.stream("chrome", str(pid)[:64])
            items.append(Opened(process.stream, process.info(self._about, clock)))
        return process

    def _changes_clock(self, event: Event) -> bool:
        """Return whether an event gives a process another origin of its stamps."""
        says = event.args
        if event.name != "process_name" or says is None:
            return False
        process = self._processes.get(hashable(event.pid))
        before = NO_ARGUMENTS if process is None else process.own_arguments
        return (says.clock, says.begin_ns) != (before.clock, before.begin_ns)

    def _describe(self, event: Event, items: list[SourceItem]) -> None:
        """Record the name of a process, and the further facts that iotide's exporter adds."""
        if event.name != "process_name" or event.args is None:
            return
        process = self._process(hashable(event.pid))
        if process is not None:
            process.own_arguments = event.args
            if process.stream and self._clock is not None:
                items.append(Changed(process.stream, process.info(self._about, self._clock)))

    def _process(self, pid: Any) -> Process | None:
        process = self._processes.get(pid)
        if process is None and len(self._processes) < MAX_STREAMS:
            process = self._processes[pid] = Process(pid)
        return process


def _thread(event: Event) -> tuple[Any, Any]:
    return hashable(event.pid), hashable(event.tid)


def _by_process(events: list[Event], known: list[Meaning | None]) -> dict[Any, list[int]]:
    """Return the rows of the calls of each process."""
    rows: dict[Any, list[int]] = {}
    for row, (event, call) in enumerate(zip(events, known, strict=True)):
        if call is not None:
            pid = event.pid
            rows.setdefault(pid if type(pid) is int else hashable(pid), []).append(row)
    return rows
