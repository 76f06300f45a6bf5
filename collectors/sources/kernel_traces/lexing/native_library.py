"""ctypes interface of the compiled helper that parses lines of kernel traces."""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import Any, Final

from .....events.compiled import load

_PATH: Final = __file__.rpartition("/")[0] + "/native/libiotide_traces.so"
_BYTES: Final = ctypes.c_char_p
_POINTER: Final = ctypes.c_void_p
_U64: Final = ctypes.c_uint64

_FUNCTIONS: Final[dict[str, tuple[Any, list[Any]]]] = {
    "trace_lines": (_U64, [ctypes.c_int, _BYTES, _U64, _POINTER, _U64]),
    "trace_payloads": (
        None,
        [_BYTES, _POINTER, _U64, _BYTES, _POINTER, _U64, _POINTER, _POINTER, _U64, _POINTER],
    ),
    "trace_calls": (None, [_BYTES, _POINTER, _U64, _POINTER]),
}


@lru_cache(maxsize=1)
def native() -> ctypes.CDLL | None:
    """Return the helper, or None if it was not built."""
    return load(_PATH, _FUNCTIONS)
