"""The definitions of an OTF2 trace. They are written as they occur where possible, the rest at the end."""

from __future__ import annotations

import ctypes
import errno
from array import array
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from ...events import FileInfo, FileType, Layer, StreamInfo
from ...events.otf2_library import EVENTS, NONE_32, U8, U32, U64, address
from .call_properties import Opened

STRING: Final = 11
"""Attribute types in use; see OTF2_Type."""
UINT64: Final = 4
IO_FILE: Final = 23
IO_HANDLE: Final = 24


class EventFunctions:
    """The functions that write events, by name: ``functions["Enter"](writer, attributes, time, region)``.

    Each returns 0 or an error number; see ``refused``.
    """

    def __init__(self, library: Any) -> None:
        self._library = library
        self.write: dict[str, Callable[..., int]] = {
            name: self._bound(f"OTF2_EvtWriter_{name}", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64, *types)
            for name, types in EVENTS.items()
        }
        self.enter, self.leave = self.write["Enter"], self.write["Leave"]
        self.begin, self.complete = self.write["IoOperationBegin"], self.write["IoOperationComplete"]
        self.add = self._bound("OTF2_AttributeList_AddAttribute", ctypes.c_void_p, U32, U8, U64)
        """Add an attribute to a list: its number, type and value."""
        self.attributes = ctypes.cast(library.AttributeList_New(), ctypes.c_void_p)
        """A list of attributes; the next event empties it."""

    def refused(self, error: int) -> OSError:
        """Return the exception for an error number of a function."""
        return OSError(errno.EIO, f"OTF2 cannot write an event ({self._library.Error(self._library.ErrorCode(error))})")

    def close(self) -> None:
        """Free the list."""
        self._library.AttributeList_Delete(ctypes.cast(self.attributes, ctypes.POINTER(self._library.AttributeList)))

    def _bound(self, name: str, *types: Any) -> Callable[..., int]:
        return ctypes.CFUNCTYPE(ctypes.c_int, *types)(address(self._library, name))


PARADIGMS: Final[dict[Layer, tuple[str, str, bool, bool]]] = {
    Layer.OTHER: ("OTHER", "other I/O library", False, False),
    Layer.POSIX: ("POSIX", "POSIX I/O", False, True),
    Layer.STDIO: ("ISOC", "ISO C I/O", False, False),
    Layer.MPIIO: ("MPI-IO", "MPI-IO", True, False),
    Layer.HDF5: ("HDF5", "HDF5", True, False),
    Layer.NETCDF: ("NetCDF", "NetCDF", True, False),
    Layer.PNETCDF: ("PnetCDF", "PnetCDF", True, False),
    Layer.KERNEL: ("KERNEL", "kernel I/O", False, True),
}
"""Layer -> identification, name, whether it is parallel, whether it belongs to the operating system."""
ATTRIBUTES: Final = {
    "signature": (STRING, "the call with its parameters"),
    "file": (IO_FILE, "file that the call is about"),
    "handle": (IO_HANDLE, "handle that the call is about"),
    "parent": (IO_HANDLE, "handle of the call around it, where that is not the handle's parent"),
    "offset": (UINT64, "where in the file"),
    "requested": (UINT64, "bytes asked for"),
    "bytes": (UINT64, "bytes moved"),
    "errno": (UINT64, "error of a failed call"),
    "kind": (UINT64, "what a call without an I/O record does to its handle or file, as a number of iotide's"),
    "flags": (UINT64, "1 blocking, 2 collective, 4 failed, 8 append, 16 a summary of many calls"),
}
"""Attributes of events, numbered in this order: type and description."""
_TEXTS_KEPT: Final = 1 << 18
_MACHINE: Final = 0
_ALL_RANKS: Final = 0


@dataclass(slots=True)
class Location:
    """A thread, or further calls of it that overlap others."""

    name: str
    group: int
    events: int = 0


@dataclass(slots=True)
class LocationGroup:
    """A process."""

    name: str
    info: StreamInfo
    rank: int
    main: int
    """Number of its first location."""
    pid: int = 0


class TraceDefinitions:
    """Assigns numbers to everything that events refer to, and writes the definitions.

    Strings, files and regions are written as they occur. Memory: one number per file, 48 bytes per handle, and the
    names of processes and threads.

    Args:
        library: OTF2's lower module.
        archive: archive opened for writing.
        hosts: hosts of all streams; "" where unknown.
    """

    def __init__(self, library: Any, archive: Any, hosts: Iterable[str]) -> None:
        self.groups: list[LocationGroup] = []
        self.locations: list[Location] = []
        self.collective: set[int] = set()
        """Handles that are used in collective operations."""
        self._library = library
        self._archive = archive
        self._writer = library.Archive_GetGlobalDefWriter(archive)
        self._texts: dict[str, int] = {}
        self._strings = 0
        self._files: dict[tuple[str, int], int] = {}
        self._regions: dict[tuple[str, int], int] = {}
        self._handles = array("Q")
        self._states: list[tuple[int, Opened]] = []
        self._members: dict[int, set[int]] = {}
        self.string("")
        self._begin(sorted(set(hosts)))

    @property
    def handle_count(self) -> int:
        """Number of defined handles."""
        return len(self._handles) // 6

    def string(self, text: str) -> int:
        """Return the number of a text."""
        number = self._texts.get(text)
        if number is None:
            if len(self._texts) >= _TEXTS_KEPT:
                self._texts.clear()
            number = self._texts[text] = self._strings
            self._strings += 1
            clean = text.replace("\0", "\\0").encode(errors="backslashreplace").decode()
            self._library.GlobalDefWriter_WriteString(self._writer, number, clean)
        return number

    def file(self, info: FileInfo, host: str) -> int:
        """Return the number of a file. There is one per machine on a shared file system, otherwise one per host."""
        scope = _MACHINE if info.shared else self._nodes[host]
        number = self._files.get((info.path, scope))
        if number is None:
            number = self._files[info.path, scope] = len(self._files)
            kind = "Directory" if info.type == FileType.DIRECTORY else "RegularFile"
            write = getattr(self._library, f"GlobalDefWriter_WriteIo{kind}")
            write(self._writer, number, self.string(info.path), scope)
            self._describe_file(number, info)
        return number

    def region(self, call: str, layer: Layer, *, moves: bool) -> int:
        """Return the number of a function; ``moves``: it reads or writes."""
        number = self._regions.get((call, layer))
        if number is None:
            number = self._regions[call, layer] = len(self._regions)
            library, name = self._library, self.string(call or "call")
            library.GlobalDefWriter_WriteRegion(
                self._writer, number, name, name, self.string(PARADIGMS[layer][0]),
                library.REGION_ROLE_FILE_IO if moves else library.REGION_ROLE_FILE_IO_METADATA,
                library.PARADIGM_MPI if layer is Layer.MPIIO else library.PARADIGM_NONE,
                library.REGION_FLAG_NONE, 0, 0, 0,
            )  # fmt: skip
        return number

    def handle(
        self, file: int, layer: Layer, parent: int, *, name: str = "", state: Opened | None = None, group: int = 0
    ) -> int:
        """Return the number of a new handle.

        Args:
            file: its file, or NONE_32.
            layer: layer of the library that made it.
            parent: handle of the layer above that it was made for, or NONE_32.
            name: name of the handle.
            state: open mode of an inherited handle; None if an event creates it.
            group: number shared by the ranks that made it together.
        """
        number = self.handle_count
        self._handles.extend((self.string(name), file, layer, state is not None, group, parent))
        if state is not None:
            self._states.append((number, state))
        return number

    def add_member(self, group: int, rank: int) -> None:
        """Add a rank to those that made a handle together."""
        self._members.setdefault(group, set()).add(rank)

    def finish(self, first_ns: int, length_ns: int, unix_ns: int | None) -> None:
        """Write the remaining definitions; ``unix_ns``: Unix time of the first event, None if unknown."""
        library = self._library
        library.GlobalDefWriter_WriteClockProperties(
            self._writer, 10**9, first_ns, length_ns, library.UNDEFINED_TIMESTAMP.value if unix_ns is None else unix_ns
        )
        self._write_processes()
        self._write_handles(self._write_communicators())
        library.Archive_CloseGlobalDefWriter(self._archive, self._writer)

    def _begin(self, hosts: list[str]) -> None:
        library, writer = self._library, self._writer
        name, machine, node = self.string("machine"), self.string("machine"), self.string("node")
        library.GlobalDefWriter_WriteSystemTreeNode(writer, _MACHINE, name, machine, NONE_32)
        library.GlobalDefWriter_WriteSystemTreeNodeDomain(writer, _MACHINE, library.SYSTEM_TREE_DOMAIN_MACHINE)
        self._nodes = {"": _MACHINE}
        for host in hosts:
            if host:
                self._nodes[host] = number = len(self._nodes)
                library.GlobalDefWriter_WriteSystemTreeNode(writer, number, self.string(host), node, _MACHINE)
                domain = library.SYSTEM_TREE_DOMAIN_SHARED_MEMORY
                library.GlobalDefWriter_WriteSystemTreeNodeDomain(writer, number, domain)
        for number, (word, (kind, text)) in enumerate(ATTRIBUTES.items()):
            library.GlobalDefWriter_WriteAttribute(
                writer, number, self.string(word), self.string(text), library.Type(kind)
            )
        for layer, (word, title, parallel, system) in PARADIGMS.items():
            library.GlobalDefWriter_WriteIoParadigm(
                writer, int(layer), self.string(word), self.string(title),
                library.IO_PARADIGM_CLASS_PARALLEL if parallel else library.IO_PARADIGM_CLASS_SERIAL,
                library.IO_PARADIGM_FLAG_OS if system else library.IO_PARADIGM_FLAG_NONE, [], [], [],
            )  # fmt: skip

    def _describe_file(self, number: int, info: FileInfo) -> None:
        properties = {
            "Mount Point": info.mount_point,
            "File System": info.filesystem,
            "Shared": "" if info.shared is None else "yes" if info.shared else "no",
            "File Type": info.type.name if info.type != FileType.UNKNOWN else "",
            "Stripes": str(info.stripes) if info.stripes else "",
            "Stripe Size": str(info.stripe_bytes) if info.stripe_bytes else "",
            "Pool": info.pool,
        }
        for name, text in properties.items():
            if text:
                self._library.GlobalDefWriter_WriteIoFileProperty(
                    self._writer, number, self.string(name), self._library.TYPE_STRING, self._text(text)
                )

    def _text(self, text: str) -> Any:
        value = self._library.AttributeValue()
        value.stringRef = self.string(text)
        return value

    def _write_processes(self) -> None:
        library, by_pid = self._library, dict[tuple[str, int], int]()
        for number, group in enumerate(self.groups):
            info = group.info
            library.GlobalDefWriter_WriteLocationGroup(
                self._writer, number, self.string(group.name), library.LOCATION_GROUP_TYPE_PROCESS,
                self._nodes[info.host], by_pid.get((info.host, info.parent_pid), NONE_32),
            )  # fmt: skip
            by_pid[info.host, group.pid] = number
            described = {
                "pid": group.pid, "parent pid": info.parent_pid, "command": info.command, "user": info.user,
                "job": info.job, "step": info.step, "source": info.source,
                "rank": group.rank if group.rank >= 0 else "",
            }  # fmt: skip
            for name, value in described.items():
                if value not in ("", 0) or (name == "rank" and value == 0):
                    library.GlobalDefWriter_WriteLocationGroupProperty(
                        self._writer, number, self.string(name), library.TYPE_STRING, self._text(str(value))
                    )
        for number, location in enumerate(self.locations):
            library.GlobalDefWriter_WriteLocation(
                self._writer, number, self.string(location.name), library.LOCATION_TYPE_CPU_THREAD, location.events,
                location.group,
            )  # fmt: skip

    def _write_communicators(self) -> dict[int, int]:
        """Return the communicator of each group number; that of all ranks under 0."""
        library = self._library
        mains: dict[int, int] = {}
        for group in self.groups:
            if group.rank >= 0:
                mains.setdefault(group.rank, group.main)
        if not mains:
            return {}
        ranks = sorted(mains)
        place = {rank: at for at, rank in enumerate(ranks)}
        sets: dict[frozenset[int], int] = {}
        found: dict[int, int] = {}
        self._group("MPI ranks", library.GROUP_TYPE_COMM_LOCATIONS, 0, [mains[rank] for rank in ranks])
        for number, members in [(_ALL_RANKS, set(ranks)), *self._members.items()]:
            known = frozenset(place[rank] for rank in members if rank in place)
            if known not in sets:
                sets[known] = comm = len(sets)
                name = "all ranks" if len(known) == len(ranks) else f"{len(known)} ranks"
                self._group(name, library.GROUP_TYPE_COMM_GROUP, comm + 1, sorted(known))
                library.GlobalDefWriter_WriteComm(
                    self._writer, comm, self.string(name), comm + 1, NONE_32, library.COMM_FLAG_NONE
                )
            found[number] = sets[known]
        return found

    def _group(self, name: str, kind: Any, number: int, members: list[int]) -> None:
        library = self._library
        library.GlobalDefWriter_WriteGroup(
            self._writer, number, self.string(name), kind, library.PARADIGM_MPI, library.GROUP_FLAG_NONE, members
        )

    def _write_handles(self, communicators: dict[int, int]) -> None:
        library = self._library
        for number in range(self.handle_count):
            name, file, layer, pre_created, group, parent = self._handles[number * 6 : number * 6 + 6]
            comm = communicators.get(group, NONE_32) if group or number in self.collective else NONE_32
            library.GlobalDefWriter_WriteIoHandle(
                self._writer, number, name, file, layer,
                library.IO_HANDLE_FLAG_PRE_CREATED if pre_created else library.IO_HANDLE_FLAG_NONE, comm, parent,
            )  # fmt: skip
        for number, state in self._states:
            library.GlobalDefWriter_WriteIoPreCreatedHandleState(
                self._writer, number, library.IoAccessMode(state.access), library.IoStatusFlag(state.status)
            )
