"""Direct calls of the event functions of OTF2's C library. They avoid the package's overhead per call.

The package looks up each function at each call and creates an object per event, which takes most of the time of writing
a trace.
"""

from __future__ import annotations

import ctypes
import errno
from collections.abc import Callable
from typing import Any, Final

from ...events.otf2_library import EVENTS, U8, U32, U64, address

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
