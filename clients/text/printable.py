"""Text for a terminal. Names of files and programs may contain any characters, also such that control a terminal."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_UNPRINTABLE: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, also those of line ends and of the writing direction, and bytes that are not UTF-8."""


def printable(text: str) -> str:
    r"""Return one line of text, with a question mark for each control character and each byte that is not UTF-8.

    >>> printable("/scratch/a\nb\x1b[31m")
    '/scratch/a?b?[31m'
    """
    return _UNPRINTABLE.sub("?", text)


def width_of(text: str) -> int:
    """Return the columns that a text takes: two for East Asian letters and emoji, none for combining marks.

    >>> width_of("a"), width_of("日本"), width_of("e" + chr(0x301))
    (1, 4, 1)
    """
    return len(text) if text.isascii() else sum(map(_columns, text))


def padded(text: str, width: int) -> str:
    """Return the beginning of a text that fits into some columns, filled with blanks.

    >>> padded("日本", 3), padded("ab", 3)
    ('日 ', 'ab ')
    """
    if not text.isascii():
        used, end = 0, 0
        for letter in text:
            used += _columns(letter)
            if used > width:
                break
            end += 1
        text = text[:end]
        return text + " " * (width - width_of(text))
    return text[:width].ljust(width)


def _columns(letter: str) -> int:
    if unicodedata.east_asian_width(letter) in "WF":
        return 2
    return 0 if unicodedata.category(letter) in ("Mn", "Me") else 1
