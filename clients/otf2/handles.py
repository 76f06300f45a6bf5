"""OTF2 definitions of one stream's I/O handles."""

from __future__ import annotations

from collections import Counter

from ...archive.file.reader import ArchivedStream
from ...events import FileInfo, Layer
from ...events.otf2_library import NONE_32
from .call_properties import Opened, group_of, inherited_mode, open_mode
from .definitions import TraceDefinitions

_NO_FILE = FileInfo("")
_UNKNOWN = Opened()


class Handles:
    """Numbers of a stream's handles, defined at first use, parents before children.

    Args:
        definitions: definitions of the trace.
        stream: stream with its files and inherited handles.
        lost: counter of handle information that cannot be converted.
    """

    def __init__(self, definitions: TraceDefinitions, stream: ArchivedStream, lost: Counter[str]) -> None:
        self._definitions, self._stream, self._lost = definitions, stream, lost
        self.numbers: dict[int, int] = {}
        """Handles in use: number in the stream -> number in the trace."""
        self.parents: dict[int, int] = {}
        """Their parents, in the trace's numbers; NONE_32 without a parent."""
        self.files: dict[int, int] = {}
        """Their files, by the stream's numbers."""
        self._assumed: dict[tuple[int, int], int] = {}

    def file(self, number: int) -> int:
        """Return the trace's number of a file; NONE_32 for a call without one."""
        info = self._stream.files.get(number, _NO_FILE)
        return self._definitions.file(info, self._stream.info.host) if info.path else NONE_32

    def create(self, handle: int, file: int, layer: Layer, parent: int, signature: str, rank: int) -> int:
        """Return the number of a handle that a call makes."""
        group = group_of(signature)
        if group and rank >= 0:
            self._definitions.add_member(group, rank)
        upper = self.enclosing(parent)
        self.numbers[handle] = made = self._definitions.handle(self.file(file), layer, upper, group=group)
        self.parents[made] = upper
        self.files[handle] = file
        if not open_mode(signature).known:
            self._lost["access modes of handles (the calls that make them do not tell; given as read and write)"] += 1
        return made

    def duplicate(self, handle: int, of: int, file: int, layer: Layer) -> tuple[int, int]:
        """Return the numbers of a handle and of its duplicate, which has the same parent."""
        old = self.of(of, file, layer)
        upper = self.parents.get(old, NONE_32)
        self.numbers[handle] = made = self._definitions.handle(self.file(file), layer, upper)
        self.parents[made] = upper
        self.files[handle] = file
        return old, made

    def of(self, handle: int, file: int, layer: Layer) -> int:
        """Return the number of the handle that a call uses.

        A handle whose creation is not in the trace is taken as inherited. In a trace without handles, one handle per
        stream, file and layer is assumed.
        """
        if handle:
            known = self.numbers.get(handle)
            return self._assume_inherited(handle, file, layer) if known is None else known
        key = file, int(layer)
        assumed = self._assumed.get(key)
        if assumed is None:
            assumed = self._definitions.handle(self.file(file), layer, NONE_32, state=_UNKNOWN)
            self._assumed[key] = assumed
        return assumed

    def enclosing(self, parent: int) -> int:
        """Return the number of the handle of an enclosing call; NONE_32 without one."""
        if not parent:
            return NONE_32
        known = self.numbers.get(parent)
        return self._assume_inherited(parent, 0, Layer.OTHER) if known is None else known

    def _assume_inherited(self, handle: int, file: int, layer: Layer, depth: int = 0) -> int:
        info = self._stream.handles.get(handle)
        if info is None:
            number = self._definitions.handle(self.file(file), layer, NONE_32, state=_UNKNOWN)
        else:
            upper = NONE_32
            if info.parent and depth < 8:
                known = self.numbers.get(info.parent)
                upper = self._assume_inherited(info.parent, 0, Layer.OTHER, depth + 1) if known is None else known
            number = self._definitions.handle(
                self.file(info.file or file), info.layer, upper, name=info.origin, state=inherited_mode(info.flags)
            )
            self.parents[number] = upper
            file = info.file or file
        self.numbers[handle] = number
        self.files[handle] = file
        return number
