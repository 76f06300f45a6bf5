"""Map shared memory without an open descriptor, which Python's ``mmap`` would keep."""

from __future__ import annotations

import ctypes
import mmap
import os
import weakref
from typing import Final

_FAILED: Final = ctypes.c_void_p(-1).value
_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
_libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]


def mapped(descriptor: int, size: int) -> memoryview:
    """Map the first ``size`` bytes of a file for reading and writing. Unmapped when no view of it remains.

    Raises:
        OSError: the file cannot be mapped.
    """
    address = _libc.mmap(None, size, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED, descriptor, 0)
    if address == _FAILED:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    memory = (ctypes.c_ubyte * size).from_address(address)
    weakref.finalize(memory, _libc.munmap, address, size).atexit = False  # views may outlive the interpreter's end
    return memoryview(memory).cast("B")
