"""Descriptors that this process has open."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import select
from array import array
from collections.abc import Collection
from functools import cache
from typing import Final

_MAX_PROBED: Final = 65_536
_AT_ONCE: Final = 1024
_REQUEST: Final = 8
"""Size of ``struct pollfd``: a descriptor (32 bits), the events to wait for and the found ones (16 bits each)."""
_STANDARD_ERROR: Final = 2


def open_descriptors() -> list[int]:
    """Return the open descriptors, and that of the listing itself. Without /proc, those below 65,536.

    Raises:
        OSError: no descriptor is left for the listing.
    """
    try:
        return [int(name) for name in os.listdir("/proc/self/fd")]  # noqa: PTH208
    except FileNotFoundError:  # in a root folder without /proc
        return [number for number in range(_MAX_PROBED) if _is_open(number)]


def count_open_descriptors() -> int:
    """Return the number of open descriptors, with that of the listing. Without /proc, of those below 65,536.

    Raises:
        OSError: no descriptor is left for the listing.
    """
    try:
        return len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    except FileNotFoundError:
        return _count_by_polling() + 1


def close_all_but(kept: Collection[int]) -> None:
    """Close all descriptors except the standard ones and the given ones. It is for a forked child."""
    for number in open_descriptors():
        if number > _STANDARD_ERROR and number not in kept:
            with contextlib.suppress(OSError):  # that of the listing
                os.close(number)


def detach_from_all_but(kept: Collection[int]) -> None:
    """Close all but the given descriptors; the standard ones lead to nothing. A pipe ends when all have closed it."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in range(_STANDARD_ERROR + 1):
        os.dup2(nothing, standard)
    close_all_but(kept)


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


@cache
def _poll_requests() -> array[int]:
    requests = array("i", bytes(_MAX_PROBED * _REQUEST))
    requests[::2] = array("i", range(_MAX_PROBED))
    return requests


def _count_by_polling() -> int:
    """Count with few system calls, since this is done several times a second. Descriptors of paths are omitted."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    at_once = _AT_ONCE if limit == resource.RLIM_INFINITY else min(_AT_ONCE, limit)  # poll refuses more
    requests, poll = _poll_requests(), ctypes.CDLL(None).poll
    memory = (ctypes.c_char * (_MAX_PROBED * _REQUEST)).from_buffer(requests)
    for first in range(0, _MAX_PROBED, at_once):
        poll(ctypes.byref(memory, first * _REQUEST), ctypes.c_ulong(min(at_once, _MAX_PROBED - first)), 0)
    words = array("h")
    words.frombytes(memoryview(requests).cast("B"))
    return _MAX_PROBED - words[3::4].count(select.POLLNVAL)
