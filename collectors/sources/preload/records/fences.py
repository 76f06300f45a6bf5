"""The order of loads and stores, which processors other than x86-64 keep less of."""

from __future__ import annotations

import platform
import threading
from typing import Final

STRONG: Final = platform.machine() in ("x86_64", "i686")
"""Loads do not pass loads, nor stores what comes before them; so nothing need be done."""

_lock: Final = threading.Lock()


def fence() -> None:
    """Has all loads and stores before it happen before those that come after it, but for a store before a load."""
    if not STRONG:
        # A lock is given back by a store-release and taken by a load-acquire: nothing passes one after the other.
        with _lock:
            pass
        with _lock:
            pass
