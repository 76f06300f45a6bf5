"""Format the text of a call with its parameters: ``open(flags=O_WRONLY|O_CREAT, mode=0644) = 3``."""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Final, TypeAlias

from .specification import ARRAY, Parameter, Specification

MAX_ELEMENTS: Final = 16
"""Maximum number of recorded elements of an array."""
UNKNOWN: Final = "?"
"""Replaces an undefined string or file."""

_CUT_SHORT: Final = 1 << 63
_PLAIN: Final = re.compile(r"[^\s\"'(),=\\\x00-\x1f\x7f]+")
_LARGE_FILE: Final = 0o100000
_ACCESS: Final = ("O_RDONLY", "O_WRONLY", "O_RDWR")
# Flags of several bits precede flags that are part of them.
_OPEN_FLAGS: Final = tuple(
    (name, getattr(os, name))
    for name in (
        "O_CREAT", "O_EXCL", "O_NOCTTY", "O_TRUNC", "O_APPEND", "O_NONBLOCK", "O_SYNC", "O_DSYNC", "O_ASYNC",
        "O_DIRECT", "O_TMPFILE", "O_DIRECTORY", "O_NOFOLLOW", "O_NOATIME", "O_CLOEXEC", "O_PATH",
    )
    if hasattr(os, name)
)  # fmt: skip

TextLookup: TypeAlias = Callable[[int], str | None]


class CallTextWriter:
    """Formats the texts of one process's calls.

    Args:
        string: function that returns a string by the process's number, None if undefined.
        path: the same for a file.
    """

    def __init__(self, string: TextLookup, path: TextLookup) -> None:
        self._string = string
        self._path = path

    def text(
        self, call: Specification, descriptor: int, requested: int, words: Sequence[int], *, sized: bool = True
    ) -> str | None:
        """Return the text of a call. It is None if the words do not match the call's specification.

        Args:
            call: specification of the call.
            descriptor: descriptor of the record.
            requested: requested bytes of the record.
            words: words of the record, unsigned.
            sized: include parameters that are the requested bytes.
        """
        shown: list[str] = []
        at, count = 0, len(words)
        for each in call.shown:
            code = each.code
            if code == "d":
                value = str(descriptor)
            elif code == "n":
                if not sized:
                    continue
                value = str(requested)
            elif at >= count:
                return None
            elif code != ARRAY:
                value = self._value(each, words[at])
                at += 1
            else:
                elements = words[at + 1 : at + 1 + min(words[at] & ~_CUT_SHORT, MAX_ELEMENTS)]
                value = _array(words[at], elements)
                at += 1 + min(words[at] & ~_CUT_SHORT, MAX_ELEMENTS)
            shown.append(f"{each.name}={value}" if each.name else f") = {value}")
        if at != count:  # also if an array is incomplete
            return None
        if not shown or shown[-1][0] != ")":
            return f"{call.name}({', '.join(shown)})"
        return f"{call.name}({', '.join(shown[:-1])}{shown[-1]}"

    def _value(self, parameter: Parameter, word: int) -> str:
        """Return the text of a value with a word of its own."""
        code = parameter.code
        if code == "p":
            return _quoted(self._path(word))
        if code == "s":
            return _quoted(self._string(word))
        if code == "e":
            return (parameter.choices[word] if word < len(parameter.choices) else "") or str(_signed(word))
        return _FORMATS.get(code, str)(word)


@lru_cache(maxsize=1024)
def open_flags(word: int) -> str:
    """Format the flags of open(2) by this machine's numbers.

    >>> open_flags(os.O_WRONLY | os.O_CREAT | os.O_SYNC)
    'O_WRONLY|O_CREAT|O_SYNC'
    """
    flags = word & 0xFFFFFFFF
    access = flags & os.O_ACCMODE
    names = [_ACCESS[access] if access < len(_ACCESS) else str(access)]
    left = flags & ~os.O_ACCMODE & ~_LARGE_FILE
    for name, bits in _OPEN_FLAGS:
        if bits and left & bits == bits:
            names.append(name)
            left &= ~bits
    if left:
        names.append(hex(left))
    return "|".join(names)


def _array(head: int, elements: Sequence[int]) -> str:
    cut = bool(head & _CUT_SHORT) or head > MAX_ELEMENTS
    return f"[{', '.join([*(str(_signed(each)) for each in elements), *(['...'] if cut else [])])}]"


def _signed(word: int) -> int:
    return word - (1 << 64) if word >> 63 else word


@lru_cache(maxsize=4096)
def _quoted(text: str | None) -> str:
    """Return a string or path as it is shown. Cached, because processes of a build open the same files."""
    if text is None:
        return UNKNOWN
    if _PLAIN.fullmatch(text):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(each if each.isprintable() else f"\\x{ord(each):02x}" for each in escaped) + '"'


_FORMATS: Final[Mapping[str, Callable[[int], str]]] = {
    "i": lambda word: str(_signed(word)),
    "x": hex,
    "m": lambda word: f"0{word:o}" if word else "0",
    "O": open_flags,
    "g": lambda word: repr(struct.unpack("<d", word.to_bytes(8, "little"))[0]),
    "h": lambda word: f"#{word}",
    "k": lambda word: f"@{word:x}",
}
"""Formats of single words by code; others are unsigned integers."""
