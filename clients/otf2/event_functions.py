"""The functions of OTF2's C library that write events, called without the package's checks a call.

The package looks each function up again for each call and makes an object of each event, which takes most of the time
of writing a trace.
"""

from __future__ import annotations

import ctypes
import errno
from collections.abc import Callable
from typing import Any, Final

from ...events.otf2_library import EVENTS, U8, U32, U64, address

STRING: Final = 11
"""Types of attributes that are written here; see OTF2_Type."""
UINT64: Final = 4
IO_FILE: Final = 23
IO_HANDLE: Final = 24


class EventFunctions:
    """The functions that write events, by name: ``functions["Enter"](writer, attributes, time, region)``.

    Each returns 0, or the number of an error; see ``refused``.
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
        """Adds an attribute to a list: its number, type and value."""
        self.attributes = ctypes.cast(library.AttributeList_New(), ctypes.c_void_p)
        """A list of attributes; the next event empties it."""

    def refused(self, error: int) -> OSError:
        """Returns what to raise for the error that a function returned."""
        return OSError(errno.EIO, f"OTF2 cannot write an event ({self._library.Error(self._library.ErrorCode(error))})")

    def close(self) -> None:
        """Frees the list."""
        self._library.AttributeList_Delete(ctypes.cast(self.attributes, ctypes.POINTER(self._library.AttributeList)))

    def _bound(self, name: str, *types: Any) -> Callable[..., int]:
        return ctypes.CFUNCTYPE(ctypes.c_int, *types)(address(self._library, name))
