"""Compiled kernels, as ctypes sees them."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any


def load(path: str, functions: Mapping[str, tuple[Any, list[Any]]]) -> ctypes.CDLL | None:
    """Loads a kernel and declares its functions, each by its result and its arguments.

    Returns:
        None where it was not built, or one lies there that was built from other sources.
    """
    try:
        library = ctypes.CDLL(path)
        found = {name: getattr(library, name) for name in functions}
    except (OSError, AttributeError):
        return None
    for name, (result, arguments) in functions.items():
        found[name].restype, found[name].argtypes = result, arguments
    return library
