"""Convert strace's notation of paths to paths."""

from __future__ import annotations

import os.path
import re
from functools import lru_cache

_ESCAPE = re.compile(rb"\\(?:x([0-9a-f]{2})|([0-7]{1,3})|(.))")
_CHARACTERS = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"v": b"\v", b"f": b"\f"}


def path_text(annotation: bytes) -> str:
    """Convert an annotation to a path: removes escapes, device numbers and ``(deleted)``."""
    if annotation.endswith(b">"):
        annotation = annotation[: annotation.rfind(b"<")]
    return _unescape(annotation).removesuffix(" (deleted)")


_folder_text = lru_cache(4096)(path_text)


def absolute(folder: bytes, name: bytes) -> str:
    """Return the path of an annotation and a name in that folder, or of one of the two. It is absolute if possible."""
    if not name:
        return path_text(folder)
    text = _unescape(name)
    if text[0] == "/" or not folder:
        return text
    whole = f"{_folder_text(folder)}/{text}"
    return os.path.normpath(whole) if "/." in whole or "//" in whole or whole[-1] == "/" else whole


def _unescape(text: bytes) -> str:
    if b"\\" in text:
        text = _ESCAPE.sub(_character, text)
    return text.decode(errors="backslashreplace")


def _character(escape: re.Match[bytes]) -> bytes:
    if escape[1]:
        return bytes([int(escape[1], 16)])
    if escape[2]:
        return bytes([int(escape[2], 8) & 0xFF])
    return _CHARACTERS.get(escape[3], escape[3])
