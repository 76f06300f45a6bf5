"""Convert the events of an OTF2 location to I/O calls. Source: [Layers] (I/O records)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from ....events import Definitions, FileInfo, Flag, HandleInfo, Interner, Kind, Layer
from ....events.otf2_library import NONE_32, NONE_64
from ...source import UnsupportedData
from .definitions import Handle, Region, TraceDefinitions

MAX_OPERATIONS: Final = 1 << 16
"""Maximum number of concurrent operations of a process."""
MAX_DEPTH: Final = 4096
"""Maximum nesting depth of regions."""
# Plain numbers: an operation on enumerations takes a microsecond, a tenth of the time budget of a call.
_LAST_KIND: Final = int(max(Kind))
_OTHER_KIND, _BLOCKING, _FAILED = int(Kind.OTHER), int(Flag.BLOCKING), int(Flag.FAILED)
_OTHER_LAYER: Final = int(Layer.OTHER)
_MODES: Final = {0: int(Kind.READ), 1: int(Kind.WRITE), 2: int(Kind.SYNC)}
_NAMES: Final = {int(Kind.READ): "read", int(Kind.WRITE): "write", int(Kind.SYNC): "sync"}
_FLAGS: Final = [_BLOCKING, 0, _BLOCKING | Flag.COLLECTIVE, int(Flag.COLLECTIVE)]
"""Indexed by OTF2's flags of an operation: 1 not blocking, 2 collective."""
_SIMPLE: Final = {
    "IoCreateHandle": int(Kind.CREATE),
    "IoDestroyHandle": int(Kind.DESTROY),
    "IoChangeStatusFlags": int(Kind.CHANGE_FLAGS),
}
_NO_ATTRIBUTES: Final[dict[str, int]] = {}
_NO_HANDLE: Final = Handle(NONE_32, NONE_32, NONE_32, NONE_32, False)
_NOT_LEFT: Final = "I/O calls that were entered and not left"
_UNBEGUN: Final = "completions of operations that were not begun"

Row = tuple[int, int, int, int, int, int, int, int, int, int, int, int, int, int, int]
"""Ticks at start and end. Then call, layer, kind, file, handle, parent, depth, offset, requested, bytes, errno,
flags, signature, as the columns of a batch."""


@dataclass(slots=True)
class Record:
    """Data of an I/O record about a call; in the trace's numbers."""

    kind: int
    handle: int
    begin: int
    end: int
    asked: int = 0
    moved: int = 0
    offset: int = -1
    flags: int = _BLOCKING
    file: int = NONE_32
    paradigm: int = NONE_32
    parent: int = NONE_32
    within: bool = False
    """The call that contains it has not been left."""


@dataclass(slots=True)
class Frame:
    """A region that was entered."""

    region: int
    begin: int
    is_io: bool
    attributes: dict[str, int]
    depth: int
    """Number of enclosing I/O calls."""
    records: list[Record] = field(default_factory=list)


@dataclass(slots=True)
class Process:
    """State that the locations of a process share: the operations in progress."""

    operations: dict[tuple[int, int], Record] = field(default_factory=dict)
    """By handle and matching id."""


class LocationCalls:
    """Converts a location's events, in their order, to calls.

    A region that contains I/O records, or is a function of an I/O library, is one call: it has the region's duration,
    and the first record describes it. A record outside all regions is a call of its own.
    """

    def __init__(self, definitions: TraceDefinitions, process: Process, unsupported: UnsupportedData) -> None:
        self.interner = Interner()
        self.rows: list[Row] = []
        self.records = 0
        """Number of I/O records."""
        self.others = 0
        """Number of regions that are not I/O."""
        self._definitions, self._process, self._omissions = definitions, process, unsupported
        self._frames: list[Frame] = []
        self._skipped = 0
        self._regions: dict[int, tuple[Region, int]] = {}
        self._defined: set[int] = set()
        self._files: dict[int, int] = {}
        self._signatures: dict[int, int] = {}
        self._attributes: dict[int, str] = {}

    def take(self, name: str, time: int, attributes: dict[int, int] | None, fields: tuple[int, ...]) -> None:
        """Process an event: its name, stamp, attributes and fields as OTF2 has them."""
        if name == "Enter":
            self._enter(time, attributes, fields[0])
        elif name == "Leave":
            self._leave(time, attributes, fields[0])
        else:
            self.records += 1
            self._record(name, time, attributes, fields)

    def take_definitions(self) -> Definitions:
        """Return the definitions that the rows since the last call use first."""
        return self.interner.take_fresh()

    def finish(self) -> None:
        """Report calls that the location's end has cut off."""
        self._omissions.add(_NOT_LEFT, sum(frame.is_io for frame in self._frames))

    # ---- regions ----

    def _enter(self, time: int, attributes: dict[int, int] | None, region: int) -> None:
        if len(self._frames) >= MAX_DEPTH:
            self._skipped += 1
            return
        depth = 0
        if self._frames:
            around = self._frames[-1]
            depth = around.depth + (around.is_io or bool(around.records))
        self._frames.append(Frame(region, time, self._region(region)[0].is_io, self._named(attributes), depth))

    def _leave(self, time: int, attributes: dict[int, int] | None, region: int) -> None:
        if self._skipped:
            self._skipped -= 1
            return
        if not any(frame.region == region for frame in reversed(self._frames)):
            self._omissions.add("regions that were left and not entered")
            return
        while (frame := self._frames.pop()).region != region:
            self._omissions.add(_NOT_LEFT, int(frame.is_io))
        if not frame.records and not frame.is_io:
            self.others += 1
            return
        attribute_values = {**frame.attributes, **self._named(attributes)} if attributes else frame.attributes
        self._emit(frame, frame.begin, time, frame.records[0] if frame.records else None, attribute_values)
        for at, record in enumerate(frame.records):
            record.within = False
            if at and record.kind in _NAMES:
                self._emit(frame, record.begin, record.end, record, _NO_ATTRIBUTES)
            elif at:
                self._omissions.add("further I/O records within one call")

    # ---- records ----

    def _record(self, name: str, time: int, attributes: dict[int, int] | None, fields: tuple[int, ...]) -> None:
        attribute_values = self._named(attributes)
        if name == "IoOperationBegin":
            self._begin(time, fields, attribute_values)
        elif name in ("IoOperationComplete", "IoOperationCancelled"):
            self._complete(time, fields[0], fields[-1], fields[1] if len(fields) > 2 else 0)
        elif name == "IoDeleteFile":
            self._place(
                Record(int(Kind.DELETE), NONE_32, time, time, file=fields[1], paradigm=fields[0]), attribute_values
            )
        elif name == "IoDuplicateHandle":
            self._place(Record(int(Kind.DUPLICATE), fields[1], time, time, parent=fields[0]), attribute_values)
        elif name == "IoSeek":
            offset = -1 if fields[3] == NONE_64 else fields[3]
            self._place(Record(int(Kind.SEEK), fields[0], time, time, offset=offset), attribute_values)
        elif name in _SIMPLE:
            self._place(Record(_SIMPLE[name], fields[0], time, time), attribute_values)

    def _begin(self, time: int, fields: tuple[int, ...], attribute_values: dict[str, int]) -> None:
        handle, mode, flags, asked, matching = fields
        record = Record(
            _MODES.get(mode, _OTHER_KIND), handle, time, time, 0 if asked == NONE_64 else asked,
            offset=attribute_values.get("offset", -1), flags=_FLAGS[flags & 3],
        )  # fmt: skip
        operations = self._process.operations
        if len(operations) < MAX_OPERATIONS:
            operations[handle, matching] = record
        else:
            self._omissions.add("ends of operations past 65,536 under way at once")
        if self._frames:
            self._hold(record, attribute_values)

    def _complete(self, time: int, handle: int, matching: int, moved: int) -> None:
        record = self._process.operations.pop((handle, matching), None)
        if record is None:
            self._omissions.add(_UNBEGUN)
            return
        if record.within:  # within the call that began it
            record.end, record.moved = time, moved
        else:  # later: in the call that waits for it, or outside all calls
            done = Record(record.kind, handle, record.begin, time, moved=moved, flags=record.flags)
            self._place(done, _NO_ATTRIBUTES)

    def _place(self, record: Record, attribute_values: dict[str, int]) -> None:
        """Assign a record to its enclosing call; outside all calls it becomes one."""
        if self._frames:
            self._hold(record, attribute_values)
        else:
            self._emit(None, record.begin, record.end, record, attribute_values)

    def _hold(self, record: Record, attribute_values: dict[str, int]) -> None:
        frame = self._frames[-1]
        record.within = True
        frame.records.append(record)
        if attribute_values:
            frame.attributes = {**attribute_values, **frame.attributes}

    # ---- rows ----

    def _emit(
        self, frame: Frame | None, begin: int, end: int, record: Record | None, attribute_values: dict[str, int]
    ) -> None:
        """Add a row. Values of the record take precedence over attributes, and these over the handle's definition."""
        handle = record.handle if record is not None else attribute_values.get("handle", NONE_32)
        known = self._definitions.handles.get(handle, _NO_HANDLE)
        file, parent, paradigm = (
            attribute_values.get("file", known.file),
            attribute_values.get("parent", known.parent),
            known.paradigm,
        )
        flags, asked, moved = (
            attribute_values.get("flags", _BLOCKING),
            attribute_values.get("requested", 0),
            attribute_values.get("bytes", 0),
        )
        offset, errno = attribute_values.get("offset", -1), attribute_values.get("errno", 0)
        if record is not None:
            file = file if record.file == NONE_32 else record.file
            parent = parent if record.parent == NONE_32 else record.parent
            paradigm = paradigm if record.paradigm == NONE_32 else record.paradigm
            offset = offset if record.offset < 0 else record.offset
            if record.kind in _NAMES:
                flags, asked, moved = (
                    record.flags | attribute_values.get("flags", 0),
                    record.asked or asked,
                    record.moved,
                )
        layer: int = self._definitions.layer(paradigm)
        kind, call = _OTHER_KIND, 0
        if frame is not None:
            about, call = self._region(frame.region)
            layer = layer if about.layer == _OTHER_LAYER else about.layer
            kind = _kind(attribute_values, about.kind) if record is None else record.kind
            call = call or self.interner.string(about.name)
        elif record is not None:
            kind = record.kind
            call = self.interner.string(_NAMES.get(kind, Kind(kind).name.lower()))
        self._define(handle, known)
        self.rows.append(
            (
                begin, end, call, layer, kind, self._file(file), _shifted(handle), _shifted(parent),
                frame.depth if frame is not None else 0, offset, asked, moved, errno,
                flags | (_FAILED if errno else 0), self._signature(attribute_values.get("signature", NONE_32)),
            )
        )  # fmt: skip

    def _region(self, number: int) -> tuple[Region, int]:
        known = self._regions.get(number)
        if known is None:
            region = self._definitions.region(number)
            known = self._regions[number] = region, self.interner.string(region.name) if region.is_io else 0
        return known

    def _file(self, number: int) -> int:
        if number == NONE_32:
            return 0
        known = self._files.get(number)
        if known is None:
            info: FileInfo = self._definitions.file(number)
            known = self._files[number] = self.interner.file(info.path, info)
        return known

    def _define(self, number: int, handle: Handle) -> None:
        """Define a handle that existed at the start."""
        if not handle.pre_created or number in self._defined:
            return
        self._defined.add(number)
        info = HandleInfo(
            self._file(handle.file), _shifted(handle.parent), self._definitions.layer(handle.paradigm),
            self._definitions.string(handle.name), -1, self._definitions.flags(number),
        )  # fmt: skip
        self.interner.handle(_shifted(number), info)

    def _signature(self, text: int) -> int:
        if text == NONE_32:
            return 0
        known = self._signatures.get(text)
        if known is None:
            written = self._definitions.string(text)
            known = self._signatures[text] = self.interner.new_signature(written) if written else 0
        return known

    def _named(self, attributes: dict[int, int] | None) -> dict[str, int]:
        if not attributes:
            return _NO_ATTRIBUTES
        names = self._attributes
        for number in attributes:
            if number not in names:
                names[number] = self._definitions.attribute(number)
        return {names[number]: value for number, value in attributes.items()}


def _shifted(number: int) -> int:
    """Numbers count from 1 here, and 0 is unknown."""
    return 0 if number == NONE_32 else number + 1


def _kind(attribute_values: dict[str, int], otherwise: int) -> int:
    """Return the kind from iotide's attribute. The kind from the call's name if there is no valid one."""
    kind = attribute_values.get("kind", otherwise)
    return kind if 0 <= kind <= _LAST_KIND else otherwise
