"""ctypes interface of the compiled helper of the archive."""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import Any, Final

from ..events.compiled import load

_PATH: Final = __file__.rpartition("/")[0] + "/native/libiotide_archive.so"
_POINTER: Final = ctypes.c_void_p
_U32: Final = ctypes.c_uint32
_U64: Final = ctypes.c_uint64
_BOOL: Final = ctypes.c_bool

_FUNCTIONS: Final[dict[str, tuple[Any, list[Any]]]] = {
    "grammar_new": (_POINTER, []),
    "grammar_free": (None, [_POINTER]),
    "grammar_bytes": (_U64, [_POINTER]),
    "grammar_feed": (_BOOL, [_POINTER, _POINTER, _U64]),
    "grammar_close_run": (_BOOL, [_POINTER]),
    "grammar_symbols": (_U32, [_POINTER]),
    "grammar_rules": (_U32, [_POINTER]),
    "grammar_write": (_BOOL, [_POINTER, _POINTER, _POINTER, _POINTER]),
    "huffman_block": (_U64, [_POINTER, _U64, _POINTER]),
    "integers_bits": (_U64, [_POINTER, _U64]),
    "integers_planes": (None, [_POINTER, _U64, _U64, _POINTER]),
    "varints_encode": (_U64, [_POINTER, _U64, ctypes.c_int, _POINTER]),
    "splitter_new": (_POINTER, []),
    "splitter_free": (None, [_POINTER]),
    "splitter_bytes": (_U64, [_POINTER]),
    "splitter_feed": (_U64, [_POINTER, _POINTER, _U64, _POINTER, _POINTER, _POINTER]),
    "splitter_code": (_U64, [_POINTER, _POINTER, _POINTER, _U64, _POINTER, _POINTER, _POINTER]),
    "splitter_groups": (_U32, [_POINTER]),
    "splitter_write": (None, [_POINTER, _POINTER]),
    "coder_new": (_POINTER, [_U32, _U32]),
    "coder_free": (None, [_POINTER]),
    "coder_bytes": (_U64, [_POINTER]),
    "coder_feed": (_U64, [_POINTER, _POINTER, _POINTER, _U64, _POINTER]),
    "coder_failed": (_BOOL, [_POINTER]),
    "coder_terminals": (_U32, [_POINTER]),
    "coder_write": (None, [_POINTER, _U32, _POINTER, _POINTER, _POINTER]),
    "coder_all_literals": (_U64, [_POINTER]),
    "coder_literals": (_U64, [_POINTER, _U32]),
    "coder_take_literals": (None, [_POINTER, _U32, _POINTER]),
    "coder_define": (_BOOL, [_POINTER, _U32, _POINTER, _POINTER, _POINTER]),
    "coder_give_literals": (_BOOL, [_POINTER, _U32, _POINTER, _U64]),
    "coder_decode": (_U64, [_POINTER, _POINTER, _U64, _POINTER, _POINTER]),
}


@lru_cache(maxsize=1)
def native() -> ctypes.CDLL | None:
    """Return the helper, or None if it cannot be used. It was not built, or was built from other sources."""
    return load(_PATH, _FUNCTIONS)
