"""Descriptors from Unix sockets: messages that carry them, and mappings of the shared memory."""

from __future__ import annotations

import array
import ctypes
import mmap
import os
import socket
import weakref
from typing import Final

_FAILED: Final = ctypes.c_void_p(-1).value
_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
_libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]


def receive_with_descriptors(channel: socket.socket, most_bytes: int, most_descriptors: int) -> tuple[bytes, list[int]]:
    """Return the next message of a socket, and the descriptors in it (SCM_RIGHTS). They are closed in new programs.

    Unlike by ``socket.recv_fds``, programs that another thread starts meanwhile do not inherit them.

    Raises:
        OSError: as by ``recvmsg``.
    """
    numbers = array.array("i")
    space = socket.CMSG_SPACE(most_descriptors * numbers.itemsize)
    message, ancillary, _, _ = channel.recvmsg(most_bytes, space, socket.MSG_CMSG_CLOEXEC)
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            numbers.frombytes(data[: len(data) - len(data) % numbers.itemsize])
    return message, numbers.tolist()


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
