"""Memory fences, needed on processors with a weaker memory order than x86-64."""

from __future__ import annotations

import platform
import threading
from typing import Final

STRONG: Final = platform.machine() in ("x86_64", "i686")
"""Loads are not reordered with loads, nor stores with earlier accesses; no fence is needed."""

_lock: Final = threading.Lock()


def fence() -> None:
    """Orders all earlier loads and stores before later ones, except a store before a load."""
    if not STRONG:
        # A lock is released by a store-release and taken by a load-acquire; in sequence, nothing is reordered across
        # both.
        with _lock:
            pass
        with _lock:
            pass
