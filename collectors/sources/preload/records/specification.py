"""Specification of a call: its recorded parameters, and the location of each value.

``NAME(PARAMETER:CODE,PARAMETER:CODE...)=CODE``, as written by the wrapper generator. The codes:

===========  ======================================================================================
``d``        the record's descriptor
``n``        the record's requested bytes
``f o -``    the event's file, the event's offset, nothing: not shown
``i u x m``  a word: signed, unsigned, hexadecimal, octal
``O``        a word: flags of open(2)
``g``        a word: the bits of a double
``s p``      a word: number of a string, of a file
``h k``      a word: iotide's number of a handle, a group-wide number of one
``e=A/B/C``  a word: the value's name, from 0; an empty name means that the number is shown
``a``        a word n (bit 63: cut short), then as many words as n says, at most 16
===========  ======================================================================================
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from msgspec import Struct

from .....events import ProtocolError

NOT_SHOWN: Final = "fo-"
WITHOUT_WORD: Final = "dn"
WITH_WORD: Final = "iuxmOgsphke"
ARRAY: Final = "a"
_CODES: Final = NOT_SHOWN + WITHOUT_WORD + WITH_WORD + ARRAY

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.]{0,199}")
_CALL: Final = re.compile(rf"({_NAME.pattern})\(([^()]*)\)(?:=([^()]+))?", re.ASCII)
_CHOICES: Final = re.compile(r"[A-Za-z0-9_.+-]*(?:/[A-Za-z0-9_.+-]*)*", re.ASCII)
_LONGEST: Final = 65_535
_REMEMBERED: Final = 512


class Parameter(Struct, frozen=True):
    """A parameter, or the result (which has no name)."""

    name: str
    code: str
    choices: tuple[str, ...] = ()

    @property
    def shown(self) -> bool:
        """True if the value is part of the signature."""
        return self.code not in NOT_SHOWN


class Specification(Struct, frozen=True):
    """A call and its recorded parameters."""

    name: str
    parameters: tuple[Parameter, ...] = ()
    result: Parameter | None = None
    shown: tuple[Parameter, ...] = ()
    """Parameters and result whose values are shown."""

    def uses(self, code: str) -> bool:
        """Return whether a value of that code is part of the signature."""
        return any(each.code == code for each in self.parameters) or (
            self.result is not None and self.result.code == code
        )


def parse(text: str) -> Specification:
    """Parse a specification.

    Raises:
        ProtocolError: the text does not have the form above.
    """
    return _parsed_once(text) if len(text) <= _REMEMBERED else _parsed(text)


def _parsed(text: str) -> Specification:
    found = _CALL.fullmatch(text) if len(text) <= _LONGEST else None
    if found is None:
        raise ProtocolError(f"not the specification of a call: {text[:80]!r}")
    name, parameters, result = found.groups()
    items = parameters.split(",") if parameters else []
    parts = tuple(_parameter(item) for item in items)
    made = None if result is None else _coded("", result)
    shown = (each for each in (*parts, made) if each is not None and each.code not in NOT_SHOWN)
    return Specification(name, parts, made, tuple(shown))


_parsed_once = lru_cache(maxsize=4096)(_parsed)
"""Cached, because each process sends the same specifications. For short programs, parsing took a tenth of the time."""


def name_of(text: str) -> str:
    """Return the name at the beginning of a text, or "" if there is none."""
    found = _NAME.match(text)
    return found.group() if found else ""


def _parameter(item: str) -> Parameter:
    name, colon, code = item.partition(":")
    if not colon or not _NAME.fullmatch(name):
        raise ProtocolError(f"a parameter is NAME:CODE, not {item[:80]!r}")
    return _coded(name, code)


def _coded(name: str, text: str) -> Parameter:
    code, equals, choices = text.partition("=")
    if len(code) != 1 or code not in _CODES or bool(equals) != (code == "e") or not _CHOICES.fullmatch(choices):
        raise ProtocolError(f"not the code of a value: {text[:80]!r}")
    return Parameter(name, code, tuple(choices.split("/")) if equals else ())
