"""Definitions of an OTF2 trace: clock, places, regions, files, handles; callbacks of the library. Source: [Layers]."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from ....events import FileInfo, FileType, Kind, Layer
from ....events.definitions import MAX_TEXT
from ....events.otf2_library import EVENTS, NONE_32, NONE_64, U8, U32, U64, address
from ....events.schema import file_type_of
from ...call_classes import CALLS, classify

_PLACE, _TEXT = ctypes.c_void_p, ctypes.c_char_p
_EVENT_HEAD: Final = (U64, U64, U64, _PLACE, _PLACE)
"""Location, time, position, user data, attributes."""
DEFINITIONS: Final[dict[str, tuple[Any, ...]]] = {
    "ClockProperties": (U64, U64, U64, U64),
    "String": (U32, _TEXT),
    "Attribute": (U32, U32, U32, U8),
    "SystemTreeNode": (U32, U32, U32, U32),
    "LocationGroup": (U32, U32, U8, U32, U32),
    "LocationGroupProperty": (U32, U32, U8, U64),
    "Location": (U64, U32, U8, U64, U32),
    "Region": (U32, U32, U32, U32, U8, U8, U32, U32, U32, U32),
    "IoParadigm": (U8, U32, U32, U8, U32, U8, _PLACE, _PLACE, _PLACE),
    "IoRegularFile": (U32, U32, U32),
    "IoDirectory": (U32, U32, U32),
    "IoFileProperty": (U32, U32, U8, U64),
    "IoHandle": (U32, U32, U32, U8, U32, U32, U32),
    "IoPreCreatedHandleState": (U32, U8, U32),
}
"""Definition -> types of its fields."""
_SIGNED: Final = {5: 8, 6: 16, 7: 32, 8: 64}
_UNSIGNED: Final = {1: 8, 2: 16, 3: 32, 4: 64}
"""Type of an attribute -> its number of bits. Other types are references of 32 bits."""


def callbacks(library: Any, kind: str, functions: dict[str, Callable[..., Any]]) -> tuple[Any, list[Any]]:
    """Register Python functions as callbacks for records.

    Args:
        library: OTF2's lower module.
        kind: ``EvtReader`` or ``GlobalDefReader``.
        functions: functions by name of the record, a key of ``EVENTS`` or ``DEFINITIONS``; called with all C arguments.

    Returns:
        The set of callbacks to register, and objects that must be kept alive while it is used.
    """
    made = getattr(library, f"{kind}Callbacks_New")()
    kept = []
    for name, function in functions.items():
        fields = (*_EVENT_HEAD, *EVENTS[name]) if kind == "EvtReader" else (_PLACE, *DEFINITIONS[name])
        callback = ctypes.CFUNCTYPE(ctypes.c_int, *fields)(function)
        kept.append(callback)
        setter = address(library, f"OTF2_{kind}Callbacks_Set{name}Callback")
        ctypes.CFUNCTYPE(ctypes.c_int, _PLACE, _PLACE)(setter)(ctypes.cast(made, _PLACE), ctypes.cast(callback, _PLACE))
    return made, kept


class Attributes:
    """Reads the attributes of events."""

    def __init__(self, library: Any) -> None:
        count = address(library, "OTF2_AttributeList_GetNumberOfElements")
        self._count = ctypes.CFUNCTYPE(U32, _PLACE)(count)
        get = address(library, "OTF2_AttributeList_GetAttributeByIndex")
        self._get = ctypes.CFUNCTYPE(ctypes.c_int, _PLACE, U32, _PLACE, _PLACE, _PLACE)(get)
        self._attribute, self._type, self._value = U32(), U8(), U64()
        self._places = [ctypes.addressof(each) for each in (self._attribute, self._type, self._value)]

    def read(self, attributes: int | None) -> dict[int, int] | None:
        """Return attribute numbers and values; None if there are none."""
        if not attributes or not (count := self._count(attributes)):
            return None
        found = {}
        for index in range(count):
            if not self._get(attributes, index, *self._places):
                found[self._attribute.value] = _value(self._type.value, self._value.value)
        return found


def _value(kind: int, value: int) -> int:
    bits = _UNSIGNED.get(kind) or _SIGNED.get(kind) or 32
    value &= (1 << bits) - 1
    return value - (1 << bits) if kind in _SIGNED and value >> (bits - 1) else value


_FILE_ROLES: Final = frozenset((27, 38))
"""FILE_IO and FILE_IO_METADATA of OTF2_RegionRole."""
_PRE_CREATED: Final = 1
_READ_WRITE: Final = 2
_DIGITS: Final = 18
_PARADIGMS: Final = {
    "POSIX": Layer.POSIX,
    "ISOC": Layer.STDIO,
    "MPI-IO": Layer.MPIIO,
    "HDF5": Layer.HDF5,
    "NetCDF": Layer.NETCDF,
    "PnetCDF": Layer.PNETCDF,
    "KERNEL": Layer.KERNEL,
}
_OPEN_FLAGS: Final = {
    2: 0o2000,
    4: 0o4000,
    8: 0o20000,
    16: 0o4010000,
    32: 0o10000,
    64: 0o40000,
    128: 0o1000000,
    1: 0o2000000,
}
"""OTF2's status flag -> flag of open(2)."""
_RANK: Final = re.compile(r"\brank (\d{1,9})\b", re.IGNORECASE)
_THREAD: Final = re.compile(r"thread (\d{1,9})\b")
_LARGEST_ID: Final = 2**31 - 1
_LATEST_NS: Final = 2**62
_STRING: Final = 11
"""OTF2_TYPE_STRING."""


class Region(NamedTuple):
    """A function; ``is_io``: its calls are I/O calls even without an I/O record."""

    name: str
    layer: int
    kind: int
    is_io: bool


class Handle(NamedTuple):
    """An I/O handle in the trace's numbers; NONE_32 if there is no file or parent."""

    name: int
    """Number of a text."""
    file: int
    paradigm: int
    parent: int
    pre_created: bool


@dataclass(slots=True)
class Group:
    """Facts about a process."""

    name: str
    node: int
    facts: dict[str, str]

    @property
    def rank(self) -> int:
        """Rank of the process, -1 if unknown."""
        text = self.facts.get("rank", "")
        found = _RANK.search(self.name)
        number = text if text.isascii() and text.isdigit() else found[1] if found else ""
        return int(number) if number and int(number) <= _LARGEST_ID else -1

    def number(self, name: str) -> int:
        """Return a fact that is a process id; 0 if unknown."""
        text = self.facts.get(name, "")
        return int(text) if text.isascii() and text.isdigit() and int(text) <= _LARGEST_ID else 0


@dataclass(slots=True)
class Location:
    """A thread."""

    number: int
    name: int
    """Number of a text."""
    group: int
    events: int


class TraceDefinitions:
    """Collects a trace's definitions through ``functions``. All must be read before the other methods are called.

    Attributes:
        handles: handles by number.
        locations: threads.
    """

    def __init__(self) -> None:
        self.handles: dict[int, Handle] = {}
        self.locations: list[Location] = []
        self._strings: dict[int, str] = {}
        self._attributes: dict[int, int] = {}
        self._groups: dict[int, tuple[int, int]] = {}
        self._group_facts: dict[int, dict[int, int]] = {}
        self._regions: dict[int, tuple[int, int, int]] = {}
        self._files: dict[int, tuple[int, bool]] = {}
        self._file_facts: dict[int, dict[int, int]] = {}
        self._paradigms: dict[int, int] = {}
        self._layers: dict[int, Layer] = {}
        self._nodes: dict[int, tuple[int, int, int]] = {}
        self._clock = (10**9, 0, NONE_64)  # ticks per second, first tick, its time of day in ns
        self._states: dict[int, tuple[int, int]] = {}

    def functions(self) -> dict[str, Callable[..., int]]:
        """Return the callback for each kind of definition."""
        return {name: getattr(self, f"_take_{name}") for name in DEFINITIONS}

    @property
    def unix(self) -> bool:
        """Whether the time of day is known."""
        return self._clock[2] < _LATEST_NS

    def nanoseconds(self, ticks: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
        """Convert stamps to int64 ns.

        They are since 1970 if the time of day is known, otherwise since the trace's begin.
        """
        resolution, offset, begin_ns = self._clock
        since = ticks.astype(np.int64) - np.int64(offset)
        if resolution != 10**9:
            whole, part = np.divmod(since, np.int64(resolution))
            since = whole * 10**9 + np.rint(part * (10**9 / resolution)).astype(np.int64)
        return since + (begin_ns if self.unix else 0)

    def string(self, number: int) -> str:
        """Return a text; "" if it is not defined."""
        return self._strings.get(number, "")

    def region(self, number: int) -> Region:
        """Return a function."""
        name, description, role = self._regions.get(number, (NONE_32, NONE_32, 0))
        call = self.string(name) or "call"
        layer, kind = classify(call)
        if kind is Kind.CHANGE_FLAGS:  # fcntl has many other uses, and a record states it if flags were changed
            kind = Kind.OTHER
        paradigm = _PARADIGMS.get(self.string(description))
        known = call in CALLS or layer not in (Layer.OTHER, Layer.POSIX)
        return Region(call, int(paradigm if paradigm is not None else layer), int(kind), role in _FILE_ROLES or known)

    def file(self, number: int) -> FileInfo:
        """Return a file; without a path if it is not defined."""
        name, folder = self._files.get(number, (NONE_32, False))
        path = self.string(name)
        facts = {self.string(key): self.string(value) for key, value in self._file_facts.get(number, {}).items()}
        kind = facts.get("File Type", "")
        return FileInfo(
            path,
            FileType[kind] if kind in FileType.__members__ else FileType.DIRECTORY if folder else file_type_of(path),
            facts.get("Mount Point", ""),
            facts.get("File System", ""),
            {"yes": True, "no": False}.get(facts.get("Shared", "")),
            _number(facts.get("Stripes", "")),
            _number(facts.get("Stripe Size", "")),
            facts.get("Pool", ""),
        )

    def layer(self, paradigm: int) -> Layer:
        """Return the layer of a paradigm."""
        known = self._layers.get(paradigm)
        if known is None:
            known = _PARADIGMS.get(self.string(self._paradigms.get(paradigm, NONE_32)), Layer.OTHER)
            self._layers[paradigm] = known
        return known

    def attribute(self, number: int) -> str:
        """Return the name of an attribute."""
        return self.string(self._attributes.get(number, NONE_32))

    def flags(self, handle: int) -> int:
        """Return the open(2) flags of a handle that existed at the start."""
        access, status = self._states.get(handle, (_READ_WRITE, 0))
        flags = min(access, _READ_WRITE)
        for ours, theirs in _OPEN_FLAGS.items():
            flags |= theirs if status & ours else 0
        return flags

    def group(self, number: int) -> Group:
        """Return a process."""
        name, node = self._groups.get(number, (NONE_32, NONE_32))
        facts = self._group_facts.get(number, {})
        return Group(self.string(name), node, {self.string(key): self.string(text) for key, text in facts.items()})

    def tid(self, location: Location) -> int:
        """Return the system's thread id, 0 if the trace does not contain it."""
        found = _THREAD.match(self.string(location.name))
        return int(found[1]) if found and int(found[1]) <= _LARGEST_ID else 0

    def host(self, group: Group) -> str:
        """Return the name of the node of a process, "" if unknown."""
        number = group.node
        for _ in range(16):
            name, kind, parent = self._nodes.get(number, (NONE_32, NONE_32, NONE_32))
            if self.string(kind) == "node":
                return self.string(name)
            number = parent
        return ""

    def _take_ClockProperties(self, _: Any, resolution: int, offset: int, length: int, begin_ns: int) -> int:  # noqa: N802
        self._clock = max(min(resolution, _LATEST_NS), 1), min(offset, _LATEST_NS), begin_ns
        return 0

    def _take_String(self, _: Any, number: int, text: bytes | None) -> int:  # noqa: N802
        self._strings[number] = (text or b"")[: 4 * MAX_TEXT].decode(errors="backslashreplace")[:MAX_TEXT]
        return 0

    def _take_Attribute(self, _: Any, number: int, name: int, description: int, kind: int) -> int:  # noqa: N802
        self._attributes[number] = name
        return 0

    def _take_SystemTreeNode(self, _: Any, number: int, name: int, kind: int, parent: int) -> int:  # noqa: N802
        self._nodes[number] = name, kind, parent
        return 0

    def _take_LocationGroup(self, _: Any, number: int, name: int, kind: int, node: int, creator: int) -> int:  # noqa: N802
        self._groups[number] = name, node
        return 0

    def _take_LocationGroupProperty(self, _: Any, number: int, name: int, kind: int, value: int) -> int:  # noqa: N802
        if kind == _STRING:
            self._group_facts.setdefault(number, {})[name] = value & NONE_32
        return 0

    def _take_Location(self, _: Any, number: int, name: int, kind: int, events: int, group: int) -> int:  # noqa: N802
        self.locations.append(Location(number, name, group, events))
        return 0

    def _take_Region(self, _: Any, number: int, name: int, own: int, description: int, role: int, *more: int) -> int:  # noqa: N802
        self._regions[number] = name, description, role
        return 0

    def _take_IoParadigm(self, _: Any, number: int, identification: int, *more: Any) -> int:  # noqa: N802
        self._paradigms[number] = identification
        return 0

    def _take_IoRegularFile(self, _: Any, number: int, name: int, scope: int) -> int:  # noqa: N802
        self._files[number] = name, False
        return 0

    def _take_IoDirectory(self, _: Any, number: int, name: int, scope: int) -> int:  # noqa: N802
        self._files[number] = name, True
        return 0

    def _take_IoFileProperty(self, _: Any, number: int, name: int, kind: int, value: int) -> int:  # noqa: N802
        if kind == _STRING:
            self._file_facts.setdefault(number, {})[name] = value & NONE_32
        return 0

    def _take_IoHandle(  # noqa: N802
        self, _: Any, number: int, name: int, file: int, paradigm: int, flags: int, communicator: int, parent: int
    ) -> int:
        self.handles[number] = Handle(name, file, paradigm, parent, bool(flags & _PRE_CREATED))
        return 0

    def _take_IoPreCreatedHandleState(self, _: Any, number: int, access: int, status: int) -> int:  # noqa: N802
        self._states[number] = access, status
        return 0


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _DIGITS else 0
