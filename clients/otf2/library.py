"""OTF2's C library, as the ``otf2`` package brings it: what writes events, called without the package's checks a call.

The package looks each function up again for each call and makes an object of each event, which takes most of the time
of writing a trace.
"""

from __future__ import annotations

import ctypes
import errno
from collections.abc import Callable
from typing import Any, Final

from ...events import UnavailableError

NONE_32: Final = 2**32 - 1
"""OTF2's "undefined" for references of 32 bits."""
NONE_64: Final = 2**64 - 1
STRING: Final = 11
"""Types of attributes that are written here; see OTF2_Type."""
UINT64: Final = 4
IO_FILE: Final = 23
IO_HANDLE: Final = 24

_U8, _U32, _U64, _I64 = ctypes.c_uint8, ctypes.c_uint32, ctypes.c_uint64, ctypes.c_int64
_EVENTS: Final[dict[str, tuple[Any, ...]]] = {
    "Enter": (_U32,),
    "Leave": (_U32,),
    "IoCreateHandle": (_U32, _U8, _U32, _U32),
    "IoDestroyHandle": (_U32,),
    "IoDuplicateHandle": (_U32, _U32, _U32),
    "IoSeek": (_U32, _I64, _U8, _U64),
    "IoChangeStatusFlags": (_U32, _U32),
    "IoDeleteFile": (_U8, _U32),
    "IoOperationBegin": (_U32, _U8, _U32, _U64, _U64),
    "IoOperationIssued": (_U32, _U64),
    "IoOperationComplete": (_U32, _U64, _U64),
    "IoOperationCancelled": (_U32, _U64),
}
"""Event -> types of its fields after the time."""


def load() -> Any:
    """Returns the package's lower module, whose functions have the names of the C library without ``OTF2_``.

    Raises:
        UnavailableError: the package is missing, or not one that can be used here.
    """
    try:
        import _otf2
    except ImportError:
        raise UnavailableError("OTF2 needs the otf2 package: pip install 'iotide[otf2]'") from None
    except OSError as error:
        raise UnavailableError(f"the otf2 package cannot be used: {error}") from None
    return _otf2


class EventFunctions:
    """The functions that write events, by name: ``functions["Enter"](writer, attributes, time, region)``.

    Each returns 0, or the number of an error; see ``refused``.
    """

    def __init__(self, library: Any) -> None:
        self._library = library
        self.write: dict[str, Callable[..., int]] = {
            name: self._bound(f"OTF2_EvtWriter_{name}", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64, *types)
            for name, types in _EVENTS.items()
        }
        self.enter, self.leave = self.write["Enter"], self.write["Leave"]
        self.begin, self.complete = self.write["IoOperationBegin"], self.write["IoOperationComplete"]
        self.add = self._bound("OTF2_AttributeList_AddAttribute", ctypes.c_void_p, _U32, _U8, _U64)
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
        address = ctypes.cast(getattr(self._library.Config.conf.lib, name), ctypes.c_void_p).value
        return ctypes.CFUNCTYPE(ctypes.c_int, *types)(address or 0)
