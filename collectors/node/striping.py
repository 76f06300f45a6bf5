"""Read how a file is striped over storage targets, from Lustre's extended attribute ``lustre.lov``.

The attribute holds a layout of version 1 or 3, or several of them for one range of the file each (composite).
"""

from __future__ import annotations

import os
import queue
import struct
import threading
from collections.abc import Callable
from typing import Final

from msgspec import Struct

ATTRIBUTE: Final = "lustre.lov"

_V1: Final = 0x0BD10BD0
_V3: Final = 0x0BD30BD0
_SPECIFIC: Final = 0x0BD50BD0
"""Version 3 with targets selected by the user."""
_COMPOSITE: Final = 0x0BD60BD0
_PLAIN: Final = struct.Struct("<II16sIHH")
"""magic, pattern, object, stripe size, stripe count, generation; version 3 appends the pool's name."""
_POOL_BYTES: Final = 16
_COMPONENTS: Final = struct.Struct("<IIIHHHB5xQ")
"""magic, size, generation, flags, number of components, mirrors, parity components."""
_COMPONENT: Final = struct.Struct("<IIQQIIIQ4x")
"""id, flags, start, end, offset and size of its layout, generation, time."""
_INSTANTIATED: Final = 0x10
_STALE: Final = 0x01
_ALL_TARGETS: Final = 0xFFFF
_MAX_COMPONENTS: Final = 1024
_MAX_WAITING: Final = 256


class Striping(Struct, frozen=True):
    """Layout of a file. For a file with several layouts, the one that covers its end."""

    stripes: int
    """Number of storage targets; 0 if the layout has none."""
    stripe_bytes: int
    pool: str = ""


def parse_layout(value: bytes) -> Striping | None:
    """Parse the attribute; None if the layout is unknown."""
    if len(value) < _PLAIN.size:
        return None
    if int.from_bytes(value[:4], "little") == _COMPOSITE:
        return _composite(value)
    return _plain(value)


def _plain(value: bytes) -> Striping | None:
    if len(value) < _PLAIN.size:
        return None
    magic, _, _, size, count, _ = _PLAIN.unpack_from(value)
    if magic not in (_V1, _V3, _SPECIFIC):
        return None
    pool = b""
    if magic != _V1:
        if len(value) < _PLAIN.size + _POOL_BYTES:
            return None
        pool = value[_PLAIN.size : _PLAIN.size + _POOL_BYTES].partition(b"\0")[0]
    return Striping(0 if count == _ALL_TARGETS else count, size, pool.decode(errors="backslashreplace"))


def _composite(value: bytes) -> Striping | None:
    if len(value) < _COMPONENTS.size:
        return None
    count = min(_COMPONENTS.unpack_from(value)[4], _MAX_COMPONENTS)
    best: tuple[bool, int, Striping] | None = None
    for number in range(count):
        at = _COMPONENTS.size + number * _COMPONENT.size
        if at + _COMPONENT.size > len(value):
            return None
        _, flags, start, _, offset, size, _, _ = _COMPONENT.unpack_from(value, at)
        found = _plain(value[offset : offset + size])
        if found is None or flags & _STALE:
            continue
        instantiated = bool(flags & _INSTANTIATED)
        # Among instantiated components the last one is used, otherwise the first one to be instantiated.
        if best is None or (instantiated, start if instantiated else -start) > best[:2]:
            best = instantiated, start if instantiated else -start, found
    return None if best is None else best[2]


class LayoutReader:
    """Reads layouts in a thread, because a metadata server may block its clients.

    Args:
        attribute: function that reads an extended attribute of a path; raises OSError if there is none.
    """

    def __init__(self, attribute: Callable[[str, str], bytes] = os.getxattr) -> None:
        self._attribute = attribute
        self._asked: queue.Queue[LayoutRequest | None] = queue.Queue(_MAX_WAITING)
        self._thread: threading.Thread | None = None

    def request_layout(self, path: str) -> LayoutRequest:
        """Request a file's layout; sets ``LayoutRequest.answer`` later, or immediately if too many requests wait."""
        question = LayoutRequest(path)
        if self._thread is None:
            self._thread = threading.Thread(target=self._read, name="iotide-layouts", daemon=True)
            self._thread.start()
        try:
            self._asked.put_nowait(question)
        except queue.Full:
            question.answered.set()
        return question

    def close(self) -> None:
        """End the thread after its current request, without waiting for it."""
        if self._thread is not None:
            try:
                while True:
                    self._asked.get_nowait()
            except queue.Empty:
                self._asked.put_nowait(None)

    def _read(self) -> None:
        while (question := self._asked.get()) is not None:
            try:
                question.answer = parse_layout(self._attribute(question.path, ATTRIBUTE))
            except (OSError, ValueError):
                question.answer = None
            question.answered.set()


class LayoutRequest:
    """A file whose layout is being read."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.answer: Striping | None = None
        self.answered = threading.Event()
