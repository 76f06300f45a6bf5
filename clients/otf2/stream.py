"""Calls as an OTF2 trace for Vampir, otf2-print and the Score-P tools. Source: [Layers]."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from ...archive.file.reader import ArchivedStream, ArchiveReader
from ...events import DefinitionTable, EventBatch, StreamInfo
from ...events.otf2_library import NONE_32, NONE_64
from ...events.schema import UNKNOWN_RANK
from ..traces.call_order import calls_in_order
from .archive import Otf2Archive
from .definitions import ATTRIBUTES, Location, LocationGroup, TraceDefinitions
from .handles import Handles
from .records import Process, Records, Row, Shape

Call = TypeVar("Call")

ROUNDING_NS: Final = 2_000
"""Maximum overlap with the next call of the thread, ns: strace rounds timestamps to microseconds."""
MAX_LANES: Final = 64
MAX_NESTED: Final = 256
NAME: Final = "traces"
"""Base name of the anchor file, traces.otf2, as most tools expect."""


class Lanes(Generic[Call]):
    """Stacks of open calls, each of which can be one location of a trace.

    Calls that overlap without nesting (threads that a trace does not distinguish, summaries) go to further lanes. The
    output of a lane is in order of time.

    Args:
        leave: callback with a lane, a time and a call that ends there.
        cut: callback for each call whose end is moved forward to the start of the next.
    """

    def __init__(self, leave: Callable[[int, int, Call], None], cut: Callable[[], None]) -> None:
        self._close, self._cut = leave, cut
        self._lanes: list[list[tuple[int, Call]]] = []

    def place(self, start: int, end: int, call: Call) -> int:
        """Close calls that ended by ``start``, and open a call. Calls must be ordered by start. Return its lane."""
        for number, stack in enumerate(self._lanes):
            while stack and stack[-1][0] <= start:
                self._close(number, *stack.pop())
            while stack and start < stack[-1][0] < end and stack[-1][0] - start <= ROUNDING_NS:
                self._close(number, start, stack.pop()[1])
                self._cut()
            if not stack or (stack[-1][0] >= end and len(stack) < MAX_NESTED):
                stack.append((end, call))
                return number
        if len(self._lanes) < MAX_LANES:
            self._lanes.append([(end, call)])
            return len(self._lanes) - 1
        stack = self._lanes[-1]
        while stack:
            self._close(MAX_LANES - 1, start, stack.pop()[1])
            self._cut()
        stack.append((end, call))
        return MAX_LANES - 1

    def close_all(self) -> None:
        """Close all open calls."""
        for number, stack in enumerate(self._lanes):
            while stack:
                self._close(number, *stack.pop())


MAX_OPEN: Final = 512
"""Maximum number of open locations, 256 KiB each. A thread that returns after it was closed gets a further one."""
_PIECE: Final = 16_384
_LATEST: Final = NONE_64 - 1
_PLACES: Final = {name: (at, kind) for at, (name, (kind, _)) in enumerate(ATTRIBUTES.items())}
_SIGNATURE: Final = _PLACES["signature"]
_OFFSET: Final = _PLACES["offset"]
_PARENT: Final = _PLACES["parent"]

_Open = tuple[int, int, Callable[..., int] | None, tuple[int, ...]]
"""An open call: region, errno, function for the record at its end, and that record's fields."""


@dataclass(slots=True)
class _Thread:
    process: Process
    lanes: Lanes[_Open]
    name: str
    writers: list[Any]
    """By lane."""
    locations: list[int] = field(default_factory=list)
    """By lane."""
    used: int = 0
    """Number of its last call, for the choice of the least recently used thread."""


class StreamWriter:
    """Writer of a stream's calls, which must be ordered by start; see ``calls_in_order``.

    Args:
        archive: open archive.
        definitions: definitions of the trace.
        stream: stream of the calls.
        shift_ns: offset that is subtracted from all times.
        lost: counter of calls by what could not be converted.
    """

    def __init__(
        self, archive: Otf2Archive, definitions: TraceDefinitions, stream: ArchivedStream, shift_ns: int,
        lost: Counter[str],
    ) -> None:  # fmt: skip
        self._archive, self._definitions, self._stream, self._lost = archive, definitions, stream, lost
        self._shift_ns = shift_ns
        self._events = archive.events
        self._handles = Handles(definitions, stream, lost)
        self._records = Records(definitions, self._handles, stream.info.rank, lost)
        self._processes: dict[tuple[int, int], Process] = {}
        self._threads: dict[tuple[int, int, int], _Thread] = {}
        self._parts: Counter[tuple[int, int, int]] = Counter()
        """How often each thread was closed."""
        self._open = self._count = 0

    def write(self, batch: EventBatch, table: DefinitionTable) -> Iterator[int]:
        """Write calls; yield the number of written calls, in pieces.

        Raises:
            OSError: OTF2 cannot write.
        """
        shapes: dict[tuple[int, int, int, int, int], Shape] = {}
        numbers, files, count = self._handles.numbers, self._handles.files, self._count
        for begin in range(0, len(batch), _PIECE):
            part = batch.select(slice(begin, begin + _PIECE))
            for values in zip(*(column.tolist() for column in part.columns().values()), strict=True):
                _, _, call, layer, kind, rank, pid, tid, file, handle, parent, *_, flags, signature = values
                thread = self._threads.get((pid, rank, tid))
                if thread is None:
                    thread = self._thread(pid, rank, tid)
                count += 1
                thread.used = count
                key = call, layer, kind, flags, signature
                shape = shapes.get(key)
                if shape is None:
                    shape = self._records.shape(Row(*values), table.string(call), table.signature(signature))
                    shapes[key] = shape
                known = numbers.get(handle) if shape.mode >= 0 else None
                upper = numbers.get(parent) if parent else NONE_32
                if known is None or upper is None or (file and file != files.get(handle)):
                    self._call(thread, Row(*values), shape)
                else:
                    self._write_plain(thread, values, shape, known, upper)
            self._count = count
            yield len(part)

    def close(self) -> None:
        """Close everything that is open; a process without calls gets a location, too."""
        if not self._threads:
            info = self._stream.info
            thread = self._thread(info.pid, info.rank, info.pid)
            thread.writers.append(self._new_location(thread, 0))
        self._end(list(self._threads))

    def _end(self, keys: list[tuple[int, int, int]]) -> None:
        """Close some threads; their later calls go to further locations."""
        for key in keys:
            thread = self._threads.pop(key)
            thread.lanes.close_all()
            for location, writer in zip(thread.locations, thread.writers, strict=True):
                self._definitions.locations[location].events = self._archive.close_location(location, writer)
            self._open -= len(thread.writers)
            self._parts[key] += 1

    def _write_plain(self, thread: _Thread, values: tuple[int, ...], shape: Shape, handle: int, upper: int) -> None:
        """Write an operation that its record represents completely, as most calls."""
        start, duration, *_, offset, requested, moved, errno, _, _ = values
        events, process = self._events, thread.process
        process.operations = matching = process.operations + 1
        completes = handle, moved, matching
        start -= self._shift_ns
        writer = self._enter(thread, start, duration, (shape.region, errno, events.complete, completes))
        add, attributes = events.add, events.attributes
        if shape.text:
            add(attributes, *_SIGNATURE, shape.text)
        if upper != self._handles.parents.get(handle, NONE_32):
            add(attributes, *_PARENT, upper)
        failed = events.enter(writer, attributes, start, shape.region)
        if offset >= 0:
            add(attributes, *_OFFSET, offset)
        asked = requested if requested or not moved else NONE_64
        failed = failed or events.begin(writer, attributes, start, handle, shape.mode, 0, asked, matching)
        if failed:
            raise events.refused(failed)

    def _call(self, thread: _Thread, row: Row, shape: Shape) -> None:
        attributes = {"signature": shape.text} if shape.text else {}
        first, last = self._records.of(row, shape, thread.process, attributes)
        start = row.start - self._shift_ns
        functions = self._events.write
        ends = (functions[last[0]], last[1]) if last else (None, ())
        writer = self._enter(thread, start, row.duration, (shape.region, row.errno, *ends))
        self._add_attributes(attributes)
        failed = functions["Enter"](writer, self._events.attributes, start, shape.region)
        if first is not None and not failed:
            self._add_attributes({"offset": row.offset} if row.offset >= 0 else {})
            failed = functions[first[0]](writer, self._events.attributes, start, *first[1])
        if failed:
            raise self._events.refused(failed)

    def _enter(self, thread: _Thread, start: int, duration: int, call: _Open) -> Any:
        """Open a call; return the writer of its location."""
        lane = thread.lanes.place(start, min(start + max(duration, 0), _LATEST), call)
        if lane == len(thread.writers):
            thread.writers.append(self._new_location(thread, lane))
        return thread.writers[lane]

    def _write_leave(self, writers: list[Any], lane: int, time: int, call: _Open) -> None:
        region, errno, function, fields = call
        writer, events = writers[lane], self._events
        failed = function(writer, None, time, *fields) if function is not None else 0
        if errno:
            self._add_attributes({"errno": errno})
        failed = failed or events.leave(writer, events.attributes, time, region)
        if failed:
            raise events.refused(failed)

    def _thread(self, pid: int, rank: int, tid: int) -> _Thread:
        found = self._threads.get((pid, rank, tid))
        if found is None:
            if self._open >= MAX_OPEN:
                by_use = sorted(self._threads, key=lambda key: self._threads[key].used)
                self._end(by_use[: len(by_use) // 2 + 1])
            writers: list[Any] = []
            lanes = Lanes[_Open](partial(self._write_leave, writers), self._count_shortened_call)
            name = f"thread {tid}" if tid else "all threads"
            if part := self._parts[pid, rank, tid]:
                name += f", part {part + 1}"
            found = self._threads[pid, rank, tid] = _Thread(self._process(pid, rank), lanes, name, writers)
        return found

    def _process(self, pid: int, rank: int) -> Process:
        found = self._processes.get((pid, rank))
        if found is None:
            info, groups = self._stream.info, self._definitions.groups
            shown_rank, shown_pid = rank if rank >= 0 else info.rank, pid or info.pid
            words = [f"rank {shown_rank}"] if shown_rank >= 0 else []
            words += [info.command or info.source, *([f"pid {shown_pid}"] if shown_pid else [])]
            found = self._processes[pid, rank] = Process(len(groups))
            main = len(self._definitions.locations)
            groups.append(LocationGroup(" ".join(words), info, shown_rank, main, shown_pid))
        return found

    def _new_location(self, thread: _Thread, lane: int) -> Any:
        locations = self._definitions.locations
        name = thread.name if not lane else f"{thread.name}, overlapping calls {lane}"
        locations.append(Location(name, thread.process.group))
        writer = self._archive.open_location(len(locations) - 1)
        thread.locations.append(len(locations) - 1)
        self._open += 1
        return writer

    def _count_shortened_call(self) -> None:
        self._lost["ends of calls that reach into the next call of their thread (cut there)"] += 1

    def _add_attributes(self, attributes: dict[str, int]) -> None:
        for name, value in attributes.items():
            self._events.add(self._events.attributes, *_PLACES[name], value)


def write_otf2(
    reader: ArchiveReader, folder: Path, lost: Counter[str], show: Callable[[int], None] = lambda calls: None
) -> int:
    """Write all calls of an archive as an OTF2 trace; return their number.

    A call is a region of its thread's location that contains the I/O record of its operation. Data without a place in
    the record is stored in attributes. Memory: about a quarter of a million calls, one number per file, 48 bytes per
    handle.

    Args:
        reader: the archive.
        folder: an empty folder, for traces.otf2, traces.def and the folder traces.
        lost: counter of calls by what could not be converted.
        show: callback with the number of written calls.

    Raises:
        UnavailableError: the otf2 package is missing.
        InputError: a section is broken.
        OSError: a file cannot be written.
    """
    first_ns, last_ns = _span(reader)
    shift_ns = min(first_ns, 0)
    calls = 0
    with Otf2Archive(folder, NAME) as archive:
        archive.describe(_texts(reader.job))
        definitions = TraceDefinitions(
            archive.library, archive.handle, (each.info.host for each in reader.streams.values())
        )
        for number, stream in reader.streams.items():
            writer = StreamWriter(archive, definitions, stream, shift_ns, lost)
            for batch, table in calls_in_order(reader, number):
                for part in writer.write(batch, table):
                    calls += part
                    show(calls)
            writer.close()
        if not definitions.locations:  # readers refuse a trace without locations
            definitions.groups.append(LocationGroup("no calls", StreamInfo(job="", source="archive"), UNKNOWN_RANK, 0))
            definitions.locations.append(Location("no calls", 0))
            archive.close_location(0, archive.open_location(0))
        unix = all(each.info.clock_offset_ns is not None for each in reader.streams.values())
        definitions.finish(first_ns - shift_ns, last_ns - first_ns, first_ns if unix and first_ns >= 0 else None)
    return calls


def _span(reader: ArchiveReader) -> tuple[int, int]:
    """Return the first start and the last end."""
    first, last = [], []
    for number in reader.streams:
        for section in reader.sections(number):
            first.append(section.first_ns)
            last.append(section.last_ns)
    return min(first, default=0), max(last, default=0)


def _texts(job: dict[str, Any]) -> dict[str, str]:
    return {str(name): str(value) for name, value in job.items()}
