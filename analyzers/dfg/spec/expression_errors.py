"""What the texts that declare mappings, cases and filters share: errors that show the place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NoReturn

from ....events import ConfigError

LONGEST_TEXT: Final = 2_000
_SHOWN: Final = 60


class Piece(str):
    """A part of a declaration that knows where it stood.

    Attributes:
        at: 0-based place of its first character.
    """

    __slots__ = ("at",)
    at: int

    def __new__(cls, text: str, at: int) -> Piece:
        """Makes a piece that stands at a place."""
        piece = super().__new__(cls, text)
        piece.at = at
        return piece

    def __getnewargs__(self) -> tuple[str, int]:  # type: ignore[override]
        """Lets what holds a piece be pickled."""
        return str(self), self.at


def split(text: str, separator: str) -> Iterator[Piece]:
    """Yields the parts of a text between separators, each with its place, white space around them removed."""
    at = 0
    for part in text.split(separator):
        bare = part.strip()
        yield Piece(bare, at + (part.index(bare) if bare else 0))
        at += len(part) + len(separator)


def wrong(what: str, text: str, at: int, problem: str, expected: str) -> NoReturn:
    """Says what is wrong with a declaration, and where.

    Raises:
        ConfigError: always.
    """
    begin = max(0, at - _SHOWN // 2)
    shown = ("..." if begin else "") + text[begin : begin + _SHOWN] + ("..." if len(text) > begin + _SHOWN else "")
    raise ConfigError(f"{what} {shown!r}, character {at + 1}: {problem}; expected {expected}")


def check_length(what: str, text: str) -> None:
    """Refuses texts that no person writes.

    Raises:
        ConfigError: it is too long.
    """
    if len(text) > LONGEST_TEXT:
        wrong(what, text, LONGEST_TEXT, f"{len(text)} characters are too many", f"at most {LONGEST_TEXT}")
