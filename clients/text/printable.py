"""Text for a terminal. Names of files and programs may contain any characters, also such that control a terminal."""

from __future__ import annotations

import re
from typing import Final

_UNPRINTABLE: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, also those of line ends and of the writing direction, and bytes that are not UTF-8."""


def printable(text: str) -> str:
    r"""Return one line of text, with a question mark for each control character and each byte that is not UTF-8.

    >>> printable("/scratch/a\nb\x1b[31m")
    '/scratch/a?b?[31m'
    """
    return _UNPRINTABLE.sub("?", text)
