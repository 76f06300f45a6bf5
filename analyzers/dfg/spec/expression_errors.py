"""Errors with positions, shared by the declarations of mappings, cases and filters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NoReturn

from ....events import ConfigError

LONGEST_TEXT: Final = 2_000  # maximum length of a declaration, characters
_SHOWN: Final = 60  # number of characters shown in an error


class Piece(str):
    """Part of a declaration with its position.

    Attributes:
        at: 0-based position of its first character.
    """

    __slots__ = ("at",)
    at: int

    def __new__(cls, text: str, at: int) -> Piece:
        """Create a part at a position."""
        piece = super().__new__(cls, text)
        piece.at = at
        return piece

    def __getnewargs__(self) -> tuple[str, int]:  # type: ignore[override]
        """Support pickling."""
        return str(self), self.at


def split(text: str, separator: str) -> Iterator[Piece]:
    """Yield the stripped parts of a text between separators, each with its position."""
    at = 0
    for part in text.split(separator):
        bare = part.strip()
        yield Piece(bare, at + (part.index(bare) if bare else 0))
        at += len(part) + len(separator)


def raise_declaration_error(what: str, text: str, at: int, problem: str, expected: str) -> NoReturn:
    """Report an error in a declaration with its position.

    Raises:
        ConfigError: always.
    """
    begin = max(0, at - _SHOWN // 2)
    shown = ("..." if begin else "") + text[begin : begin + _SHOWN] + ("..." if len(text) > begin + _SHOWN else "")
    raise ConfigError(f"{what} {shown!r}, character {at + 1}: {problem}; expected {expected}")


def check_length(what: str, text: str) -> None:
    """Reject unreasonably long texts.

    Raises:
        ConfigError: the text is too long.
    """
    if len(text) > LONGEST_TEXT:
        raise_declaration_error(
            what, text, LONGEST_TEXT, f"{len(text)} characters are too many", f"at most {LONGEST_TEXT}"
        )
