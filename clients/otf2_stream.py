"""One stream's calls as events of OTF2."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from ..events import DefinitionTable, EventBatch, Flag, Kind, Layer
from ..events.archive.reader import ArchivedStream
from .otf2_archive import Otf2Archive
from .otf2_calls import opened_as, operation_of, sought, status_set
from .otf2_definitions import ATTRIBUTES, PARADIGMS, Location, LocationGroup, TraceDefinitions
from .otf2_handles import Handles
from .otf2_library import NONE_32, NONE_64
from .trace_lanes import Lanes

MOST_LOCATIONS: Final = 16_384
"""Of a stream; calls of further threads are left out and counted."""
_PIECE: Final = 16_384
_MODES: Final = {Kind.READ: 0, Kind.WRITE: 1, Kind.SYNC: 2}
_NON_BLOCKING: Final = 1
_COLLECTIVE: Final = 2
_PLACES: Final = {name: (at, kind) for at, (name, (kind, _)) in enumerate(ATTRIBUTES.items())}
_SAID: Final = Flag.BLOCKING | Flag.COLLECTIVE | Flag.FAILED
"""Flags of operations that their records have."""

_Event = tuple[str, tuple[int, ...]]
"""Name, and fields after the time."""


class _Row(NamedTuple):
    """A call in its stream's numbers; fields as the columns of a batch."""

    start: int
    duration: int
    call: int
    layer: int
    kind: int
    rank: int
    pid: int
    tid: int
    file: int
    handle: int
    parent: int
    depth: int
    offset: int
    requested: int
    bytes: int
    errno: int
    flags: int
    signature: int


@dataclass(slots=True)
class _Process:
    group: int
    under_way: dict[int, int] = field(default_factory=dict)
    """Non-blocking operation -> matching id."""
    operations: int = 0


@dataclass(slots=True)
class _Thread:
    process: _Process
    lanes: Lanes[_Open]
    name: str
    writers: list[Any] = field(default_factory=list)
    """By lane."""


class _Open(NamedTuple):
    """What to write when a call ends."""

    region: int
    record: _Event | None
    errno: int


class StreamWriter:
    """Writes a stream's calls, which come by start; see ``calls_in_order``.

    Args:
        archive: open.
        definitions: of the trace.
        stream: whose calls they are.
        shift_ns: taken from all times.
        lost: takes what could not be carried over, and of how many calls.
    """

    def __init__(
        self, archive: Otf2Archive, definitions: TraceDefinitions, stream: ArchivedStream, shift_ns: int,
        lost: Counter[str],
    ) -> None:  # fmt: skip
        self._archive, self._definitions, self._stream, self._lost = archive, definitions, stream, lost
        self._shift_ns = shift_ns
        self._events = archive.events.write
        self._handles = Handles(definitions, stream, lost)
        self._processes: dict[tuple[int, int], _Process] = {}
        self._threads: dict[tuple[int, int, int], _Thread] = {}
        self._opened: list[tuple[int, Any]] = []

    def write(self, batch: EventBatch, table: DefinitionTable) -> Iterator[int]:
        """Writes calls; yields how many were written, some at a time."""
        signatures: dict[int, tuple[str, int]] = {0: ("", 0)}
        for begin in range(0, len(batch), _PIECE):
            part = batch.select(slice(begin, begin + _PIECE))
            for values in zip(*(column.tolist() for column in part.columns().values()), strict=True):
                row = _Row(*values)
                if row.signature not in signatures:
                    text = table.signature(row.signature)
                    signatures[row.signature] = text, self._definitions.string(text)
                key = row.pid, row.rank, row.tid
                if key not in self._threads and len(self._opened) >= MOST_LOCATIONS:
                    self._lost[f"calls of threads past the first {MOST_LOCATIONS} of a stream"] += 1
                else:
                    self._call(self._thread(*key), row, table.string(row.call), *signatures[row.signature])
            yield len(part)

    def close(self) -> None:
        """Ends all that is open; a process without calls has a location, too."""
        if not self._threads:
            info = self._stream.info
            thread = self._thread(info.pid, info.rank, info.pid)
            thread.writers.append(self._new_location(thread, 0))
        for thread in self._threads.values():
            thread.lanes.finish()
        for location, writer in self._opened:
            self._definitions.locations[location].events = self._archive.close_location(location, writer)

    def _call(self, thread: _Thread, row: _Row, name: str, signature: str, text: int) -> None:
        start = row.start - self._shift_ns
        kind, layer = Kind(row.kind), Layer(row.layer)
        region = self._definitions.region(name, layer, moves=kind in (Kind.READ, Kind.WRITE))
        attributes = {"signature": text} if text else {}
        first, last = self._records(thread.process, row, kind, layer, signature, attributes)
        lane = thread.lanes.place(start, start + max(row.duration, 0), _Open(region, last, row.errno))
        if lane == len(thread.writers):
            thread.writers.append(self._new_location(thread, lane))
        writer = thread.writers[lane]
        self._events["Enter"](writer, self._list(attributes), start, region)
        if first is not None:
            at = self._list({"offset": row.offset}) if row.offset >= 0 else None
            self._events[first[0]](writer, at, start, *first[1])

    def _leave(self, thread: _Thread, lane: int, time: int, call: _Open) -> None:
        writer = thread.writers[lane]
        if call.record is not None:
            self._events[call.record[0]](writer, None, time, *call.record[1])
        self._events["Leave"](writer, self._list({"errno": call.errno}) if call.errno else None, time, call.region)

    def _records(
        self, process: _Process, row: _Row, kind: Kind, layer: Layer, signature: str, attributes: dict[str, int]
    ) -> tuple[_Event | None, _Event | None]:
        """Returns the I/O records at a call's start and end; what they have no room for becomes attributes."""
        if kind in _MODES and (row.handle or row.file) and not (kind is Kind.SYNC and not row.handle):
            return self._operation(process, row, kind, layer, signature, attributes)
        if row.flags & ~Flag.FAILED != Flag.BLOCKING:
            attributes["flags"] = row.flags
        if row.requested:
            attributes["requested"] = row.requested
        if row.bytes:
            attributes["bytes"] = row.bytes
        record = None if row.errno else self._handle_record(row, kind, layer, signature)
        if row.offset >= 0 and (record is None or record[0] != "IoSeek"):
            attributes["offset"] = row.offset
        if record is None:
            if row.handle:
                attributes["handle"] = self._handles.of(row.handle, row.file, layer)
            elif (file := self._handles.file(row.file)) != NONE_32:
                attributes["file"] = file
        return None, record

    def _operation(
        self, process: _Process, row: _Row, kind: Kind, layer: Layer, signature: str, attributes: dict[str, int]
    ) -> tuple[_Event | None, _Event | None]:
        handle = self._handles.of(row.handle, row.file, layer)
        if not row.handle:
            self._lost["handles of reads and writes (the trace has none; one a file stands for them)"] += 1
        if row.flags & ~_SAID:
            attributes["flags"] = row.flags
        number = operation_of(signature)
        begun = process.under_way.pop(number, None) if number else None
        if begun is not None:
            if "cancel" in signature.partition("(")[0].lower():
                return None, ("IoOperationCancelled", (handle, begun))
            return None, ("IoOperationComplete", (handle, row.bytes, begun))
        flags = 0
        if row.flags & Flag.COLLECTIVE and PARADIGMS[layer][2] and max(row.rank, self._stream.info.rank) >= 0:
            self._definitions.collective.add(handle)
            flags |= _COLLECTIVE
        elif row.flags & Flag.COLLECTIVE:
            attributes["flags"] = row.flags
        process.operations += 1
        matching = process.operations
        asked = row.requested if row.requested or not row.bytes else NONE_64
        mode = _MODES[kind]
        if number and not row.errno:
            process.under_way[number] = matching
            begin = "IoOperationBegin", (handle, mode, flags | _NON_BLOCKING, asked, matching)
            return begin, ("IoOperationIssued", (handle, matching))
        begin = "IoOperationBegin", (handle, mode, flags, asked, matching)
        return begin, ("IoOperationComplete", (handle, row.bytes, matching))

    def _handle_record(self, row: _Row, kind: Kind, layer: Layer, signature: str) -> _Event | None:
        """Returns what a call does to its handle or file, where it does something that OTF2 has a record for."""
        handles = self._handles
        if kind is Kind.DELETE:
            file = handles.file(row.file)
            return None if file == NONE_32 else ("IoDeleteFile", (int(layer), file))
        if not row.handle:
            if kind in (Kind.CREATE, Kind.DESTROY, Kind.DUPLICATE) and row.file:
                self._lost["opened and closed handles (the trace has no handles; the calls are regions)"] += 1
            return None
        if kind is Kind.CREATE:
            opened = opened_as(signature)
            rank = row.rank if row.rank >= 0 else self._stream.info.rank
            made = handles.created(row.handle, row.file, layer, row.parent, signature, rank)
            return "IoCreateHandle", (made, opened.access, opened.creation, opened.status)
        if kind is Kind.DUPLICATE and row.parent and row.handle != row.parent:
            old, made = handles.duplicated(row.handle, row.parent, row.file, layer)
            return "IoDuplicateHandle", (old, made, opened_as(signature).status)
        handle = handles.of(row.handle, row.file, layer)
        if kind is Kind.DESTROY:
            return "IoDestroyHandle", (handle,)
        if kind is Kind.SEEK:
            by, whence = sought(signature)
            if by is None or whence is None:
                self._lost["how far seeks were to go (given as what they came to)"] += 1
                by, whence = max(row.offset, 0), 0
            return "IoSeek", (handle, by, whence, row.offset if row.offset >= 0 else NONE_64)
        if kind is Kind.CHANGE_FLAGS and (status := status_set(signature)) is not None:
            return "IoChangeStatusFlags", (handle, status)
        return None

    def _thread(self, pid: int, rank: int, tid: int) -> _Thread:
        found = self._threads.get((pid, rank, tid))
        if found is None:
            made: list[_Thread] = []
            lanes = Lanes[_Open](lambda lane, time, call: self._leave(made[0], lane, time, call), self._count_cut)
            made.append(_Thread(self._process(pid, rank), lanes, f"thread {tid}" if tid else "all threads"))
            found = self._threads[pid, rank, tid] = made[0]
        return found

    def _process(self, pid: int, rank: int) -> _Process:
        found = self._processes.get((pid, rank))
        if found is None:
            info, groups = self._stream.info, self._definitions.groups
            shown_rank, shown_pid = rank if rank >= 0 else info.rank, pid or info.pid
            words = [f"rank {shown_rank}"] if shown_rank >= 0 else []
            words += [info.command or info.source, *([f"pid {shown_pid}"] if shown_pid else [])]
            found = self._processes[pid, rank] = _Process(len(groups))
            main = len(self._definitions.locations)
            groups.append(LocationGroup(" ".join(words), info, shown_rank, main, shown_pid))
        return found

    def _new_location(self, thread: _Thread, lane: int) -> Any:
        locations = self._definitions.locations
        name = thread.name if not lane else f"{thread.name}, overlapping calls {lane}"
        locations.append(Location(name, thread.process.group))
        writer = self._archive.open_location(len(locations) - 1)
        self._opened.append((len(locations) - 1, writer))
        return writer

    def _count_cut(self) -> None:
        self._lost["ends of calls that reach into the next call of their thread (cut there)"] += 1

    def _list(self, attributes: dict[str, int]) -> Any:
        if not attributes:
            return None
        return self._archive.events.attributes(*((*_PLACES[name], value) for name, value in attributes.items()))
