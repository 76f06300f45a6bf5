"""Mapping of calls to OTF2 I/O records, and to attributes for the rest."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from ...events import Flag, Kind, Layer
from ...events.otf2_library import NONE_32, NONE_64
from .call_properties import open_mode, operation_of, seek_arguments, status_flags
from .definitions import PARADIGMS, TraceDefinitions
from .handles import Handles

MODES: Final = {int(Kind.READ): 0, int(Kind.WRITE): 1, int(Kind.SYNC): 2}
"""Kind of a call -> mode of an operation."""
_NON_BLOCKING: Final = 1
_COLLECTIVE: Final = 2
_KINDS: Final = {int(kind): kind for kind in Kind}
_LAYERS: Final = {int(layer): layer for layer in Layer}
_BLOCKING: Final = int(Flag.BLOCKING)
_FAILED: Final = int(Flag.FAILED)
_COLLECTIVE_FLAG: Final = int(Flag.COLLECTIVE)
_UNREPRESENTABLE: Final = ~int(Flag.BLOCKING | Flag.COLLECTIVE | Flag.FAILED)
"""Flags that records of operations cannot represent."""
_LIFETIME_KINDS: Final = (Kind.CREATE, Kind.DESTROY, Kind.DUPLICATE)

_HAS_PARENT: Final = ("IoCreateHandle", "IoDuplicateHandle")

Event = tuple[str, tuple[int, ...]]
"""Name, and fields after the time."""


class Row(NamedTuple):
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


class Shape(NamedTuple):
    """Common properties of calls with the same name, layer, kind, signature and flags.

    Attributes:
        mode: mode of the operation if the record represents such calls completely; otherwise -1.
        flags: flags of that operation.
    """

    region: int
    signature: str
    text: int
    kind: Kind
    layer: Layer
    mode: int
    flags: int


@dataclass(slots=True)
class Process:
    """A process of the trace, with its operations in progress."""

    group: int
    pending_operations: dict[tuple[Layer, int], int] = field(default_factory=dict)
    """Layer and number of a non-blocking operation -> matching id."""
    operations: int = 0
    """Number of operations so far; they are numbered from 1."""


class Records:
    """Converts one stream's calls to records.

    Args:
        definitions: definitions of the trace.
        handles: handles of the stream.
        rank: rank of the stream.
        lost: counter of calls by what could not be converted.
    """

    def __init__(self, definitions: TraceDefinitions, handles: Handles, rank: int, lost: Counter[str]) -> None:
        self._definitions, self._handles, self._rank, self._lost = definitions, handles, rank, lost

    def shape(self, row: Row, name: str, signature: str) -> Shape:
        """Return the common properties of calls like this one."""
        kind, layer = _KINDS.get(row.kind, Kind.OTHER), _LAYERS.get(row.layer, Layer.OTHER)
        region = self._definitions.region(name, layer, moves=kind in (Kind.READ, Kind.WRITE))
        text = self._definitions.string(signature) if signature else 0
        is_representable = not row.flags & (_UNREPRESENTABLE | _COLLECTIVE_FLAG) and not operation_of(signature)
        mode = MODES.get(kind, -1) if is_representable else -1
        return Shape(region, signature, text, kind, layer, mode, 0)

    def of(
        self, row: Row, shape: Shape, process: Process, attributes: dict[str, int]
    ) -> tuple[Event | None, Event | None]:
        """Return the records at a call's start and end. Data that they cannot represent is added to the attributes."""
        first, last = self._records(row, shape, process, attributes)
        if row.file and self._handles.files.get(row.handle, row.file) != row.file:  # a socket that was connected since
            attributes["file"] = self._handles.file(row.file)
        if last is None or last[0] not in _HAS_PARENT:
            handle = self._handles.numbers.get(row.handle, NONE_32)
            upper = self._handles.enclosing(row.parent)
            if upper != self._handles.parents.get(handle, NONE_32):
                attributes["parent"] = upper
        return first, last

    def _records(
        self, row: Row, shape: Shape, process: Process, attributes: dict[str, int]
    ) -> tuple[Event | None, Event | None]:
        kind = shape.kind
        if (kind in (Kind.READ, Kind.WRITE) and (row.handle or row.file)) or (kind is Kind.SYNC and row.handle):
            return self._operation(row, shape, process, attributes)
        if row.flags & ~_FAILED != _BLOCKING:
            attributes["flags"] = row.flags
        if row.requested:
            attributes["requested"] = row.requested
        if row.bytes:
            attributes["bytes"] = row.bytes
        record = None if row.errno else self._of_handle(row, shape)
        if row.offset >= 0 and (record is None or record[0] != "IoSeek"):
            attributes["offset"] = row.offset
        if record is None:
            if kind is not Kind.OTHER:
                attributes["kind"] = int(kind)
            if row.handle:
                attributes["handle"] = self._handles.of(row.handle, row.file, shape.layer)
            elif (file := self._handles.file(row.file)) != NONE_32:
                attributes["file"] = file
        return None, record

    def _operation(
        self, row: Row, shape: Shape, process: Process, attributes: dict[str, int]
    ) -> tuple[Event | None, Event | None]:
        handle = self._handles.of(row.handle, row.file, shape.layer)
        if not row.handle:
            self._lost["handles of reads and writes (the trace has none; one a file stands for them)"] += 1
        if row.flags & _UNREPRESENTABLE:
            attributes["flags"] = row.flags
        number = operation_of(shape.signature)
        key = shape.layer, number
        begun = process.pending_operations.pop(key, None) if number else None
        if begun is not None:
            if row.requested:
                attributes["requested"] = row.requested
            if row.offset >= 0:
                attributes["offset"] = row.offset
            if "cancel" in shape.signature.partition("(")[0].lower():
                return None, ("IoOperationCancelled", (handle, begun))
            return None, ("IoOperationComplete", (handle, row.bytes, begun))
        flags = self._together(row, shape, handle, attributes) if row.flags & _COLLECTIVE_FLAG else 0
        process.operations = matching = process.operations + 1
        mode = MODES[shape.kind]
        # it moved some bytes without a requested size
        asked = row.requested if row.requested or not row.bytes else NONE_64
        # a call that moved some completes an operation that began unseen
        if number and not row.errno and not row.bytes:
            process.pending_operations[key] = matching
            asked = asked or NONE_64
            begin = "IoOperationBegin", (handle, mode, flags | _NON_BLOCKING, asked, matching)
            return begin, ("IoOperationIssued", (handle, matching))
        begin = "IoOperationBegin", (handle, mode, flags, asked, matching)
        return begin, ("IoOperationComplete", (handle, row.bytes, matching))

    def _together(self, row: Row, shape: Shape, handle: int, attributes: dict[str, int]) -> int:
        """Return the flag of a collective operation. OTF2 has it only for handles with a communicator."""
        if PARADIGMS[shape.layer][2] and max(row.rank, self._rank) >= 0:
            self._definitions.collective.add(handle)
            return _COLLECTIVE
        attributes["flags"] = row.flags
        return 0

    def _of_handle(self, row: Row, shape: Shape) -> Event | None:
        """Return the record of a call's effect on its handle or file. It returns None if OTF2 has no such record."""
        handles, kind = self._handles, shape.kind
        if kind is Kind.DELETE:
            file = handles.file(row.file)
            return None if file == NONE_32 else ("IoDeleteFile", (int(shape.layer), file))
        if not row.handle:
            if kind in _LIFETIME_KINDS and row.file:
                self._lost["opened and closed handles (the trace has no handles; the calls are regions)"] += 1
            return None
        if kind is Kind.CREATE:
            opened, rank = open_mode(shape.signature), max(row.rank, self._rank)
            made = handles.create(row.handle, row.file, shape.layer, row.parent, shape.signature, rank)
            return "IoCreateHandle", (made, opened.access, opened.creation, opened.status)
        if kind is Kind.DUPLICATE and row.parent and row.handle != row.parent:
            old, made = handles.duplicate(row.handle, row.parent, row.file, shape.layer)
            return "IoDuplicateHandle", (old, made, open_mode(shape.signature).status)
        handle = handles.of(row.handle, row.file, shape.layer)
        if kind is Kind.DESTROY:
            return "IoDestroyHandle", (handle,)
        if kind is Kind.SEEK:
            by, whence = seek_arguments(shape.signature)
            if by is None or whence is None:
                self._lost["distances of seeks (the resulting positions are written)"] += 1
                by, whence = max(row.offset, 0), 0
            return "IoSeek", (handle, by, whence, row.offset if row.offset >= 0 else NONE_64)
        if kind is Kind.CHANGE_FLAGS and (status := status_flags(shape.signature)) is not None:
            return "IoChangeStatusFlags", (handle, status)
        return None
