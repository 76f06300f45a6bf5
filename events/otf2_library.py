"""OTF2's C library from the ``otf2`` package, and definitions shared by its writer and reader."""

from __future__ import annotations

import ctypes
import os
from typing import Any, Final

from .errors import UnavailableError

U8, U32, U64, I64 = ctypes.c_uint8, ctypes.c_uint32, ctypes.c_uint64, ctypes.c_int64
NONE_32: Final = 2**32 - 1
"""OTF2's "undefined" for 32-bit references."""
NONE_64: Final = 2**64 - 1
EVENTS: Final[dict[str, tuple[Any, ...]]] = {
    "Enter": (U32,),
    "Leave": (U32,),
    "IoCreateHandle": (U32, U8, U32, U32),
    "IoDestroyHandle": (U32,),
    "IoDuplicateHandle": (U32, U32, U32),
    "IoSeek": (U32, I64, U8, U64),
    "IoChangeStatusFlags": (U32, U32),
    "IoDeleteFile": (U8, U32),
    "IoOperationBegin": (U32, U8, U32, U64, U64),
    "IoOperationIssued": (U32, U64),
    "IoOperationComplete": (U32, U64, U64),
    "IoOperationCancelled": (U32, U64),
}
"""Event -> types of its own fields, after time and attributes."""


def load() -> Any:
    """Return the package's lower module. Its functions have the names of the C library without ``OTF2_``.

    Raises:
        UnavailableError: the package is missing or not usable here.
    """
    try:
        import _otf2
    except ImportError:
        raise UnavailableError("OTF2 traces need the otf2 package: pip install 'iotide[otf2]'") from None
    except OSError as error:
        raise UnavailableError(f"the otf2 package cannot be used: {error}") from None
    _suppress_output(_otf2)
    return _otf2


class LibraryPath(str):
    """A path for OTF2's functions. Their wrappers encode texts as UTF-8, which the names of files may not be."""

    __slots__ = ()

    def encode(self, encoding: str = "", errors: str = "") -> bytes:
        """Return the bytes of the path."""
        return os.fsencode(str(self))


def address(library: Any, name: str) -> int:
    """Return the address of a function of the C library, by its full name."""
    return ctypes.cast(getattr(library.Config.conf.lib, name), ctypes.c_void_p).value or 0


def _suppress_output(library: Any) -> None:
    """Keep OTF2 from printing on standard error: failures are raised."""
    if _kept:
        return
    place, text = ctypes.c_void_p, ctypes.c_char_p
    callback = ctypes.CFUNCTYPE(ctypes.c_int, place, text, U64, text, ctypes.c_int, text, place)(
        lambda *arguments: int(arguments[4])
    )
    _kept.append(callback)
    register = ctypes.CFUNCTYPE(place, place, place)(address(library, "OTF2_Error_RegisterCallback"))
    register(ctypes.cast(callback, place), None)


_kept: list[Any] = []
"""Kept alive, because OTF2 may call it until the process ends."""
