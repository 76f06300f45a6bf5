"""Descriptors that this process has open."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection
from typing import Final

_MAX_PROBED: Final = 65_536
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
