"""The grammar of strace's lines: one regular expression for whole lines, small ones for their parts."""

from __future__ import annotations

import os.path
import re
from functools import lru_cache
from typing import Final, NamedTuple

_ANNOTATION: Final = rb"([^<>\n]*(?:(?:->|<[^<>\n]*>)[^<>\n]*)*)"
_ANNOTATION_END: Final = rb">(?=[,)( \n]|$)(?:\(deleted\))?"
_LEADER: Final = (
    rb"(?:\[pid ++)?+(?:(\d{1,7}+)(?:<[^>\n]*+>)?+\]?+ ++)?+ *+"
    rb"(\d\d:\d\d:\d\d(?:\.\d{1,9}+)?+|\d{1,10}+\.\d{1,9}+)(?: \(\+ ++[\d.]++\))?+ ++"
    rb"(?:\[ *+[\da-f?]{1,16}+\] ++)*+"  # number of the call (-n), instruction pointer (-i)
)
_CALL: Final = (
    rb"([\w?]{1,64}+)\((?:\d++<([^<>\n]*+)>(?=[,)(])(?:\(deleted\))?+)?+([^\n]*)\) ++= "
    rb"(0x[0-9a-f]{1,16}+|-?\d{1,20}+|\?)(?:<([^<>\n]*+)>(?=[ \n]))?+(?: (E(?!RESTART)[A-Z0-9_]++ \([^()\n]*+\)))?+"
    rb"(?: <(\d{1,9}+\.\d{1,9}+)>(?=\n))?+([^\n]*+)\n"
)

LINES: Final = re.compile(rb"(?:" + _LEADER + rb"(?:" + _CALL + rb"|([^\n]*+)\n)|([^\n]*+)\n)")
"""Matches every line; its groups are the fields of ``Line``. Linear in the length of a line: what may fail stands
before the arguments, and the result is the first ``) = value`` from the right."""

_BEGINNING: Final = re.compile(_LEADER + rb"(?:[\w?]{1,64}\(|<\.\.\. |\+\+\+ |--- )")


class Line(NamedTuple):
    """The parts of one line; b"" for those that it does not have."""

    pid: bytes
    stamp: bytes
    call: bytes
    annotation: bytes
    """Path of the descriptor that is the first argument, if it is a plain one."""
    arguments: bytes
    """Those after the annotation, or all of them."""
    result: bytes
    returned: bytes
    """Path of the descriptor that was returned, if it is a plain one."""
    error: bytes
    """Name of the error and what it means, in brackets."""
    duration: bytes
    """Where nothing else stands before it; else it is in the tail."""
    tail: bytes
    """What else follows the result, from the first thing on that is not as usual."""
    event: bytes
    """The line after its stamp, where it is not a whole call: a half, an exit, a signal."""
    unstamped: bytes
    """The line, where it has no stamp."""

    def whole_event(self) -> bytes:
        """Returns what stood after the stamp of a line that only looked like a call."""
        annotation = b"0<" + self.annotation + b">" if self.annotation else b""
        returned = b"<" + self.returned + b">" if self.returned else b""
        error = b" " + self.error if self.error else b""
        took = b" <" + self.duration + b">" if self.duration else b""
        return b"".join(
            (self.call, b"(", annotation, self.arguments, b") = ", self.result, returned, error, took, self.tail)
        )


TAIL: Final = re.compile(
    rb"(?:<" + _ANNOTATION + _ANNOTATION_END + rb")? *(E[A-Z0-9_]+)?(?: ?\([^\n]*\))?(?: <(?:unavailable|(\d+\.\d+))>)?"
)
"""What may follow a result: path of the new descriptor, name of the error, remarks, duration."""

UNFINISHED: Final = b" <unfinished ...>"

_STRING = re.compile(
    rb"(?:, )?+(?:(?:AT_FDCWD|\d+)(?:<" + _ANNOTATION + rb'>(?:\(deleted\))?)?, )?"([^"\\]*+(?:\\.[^"\\]*+)*+)"'
)
_DESCRIPTOR = re.compile(rb"\d+<" + _ANNOTATION + _ANNOTATION_END)
_ANY_ANNOTATION = re.compile(rb"\b\d+<" + _ANNOTATION + _ANNOTATION_END)
_ESCAPE = re.compile(rb"\\(?:x([0-9a-f]{2})|([0-7]{1,3})|(.))")
_CHARACTERS = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"v": b"\v", b"f": b"\f"}


def looks_like_strace(head: bytes) -> bool:
    """Tells whether one of the first lines is stamped as strace does, and a call, half of one, signal or exit."""
    return any(_BEGINNING.match(line) for line in head.split(b"\n", 50)[:50])


def path_text(annotation: bytes) -> str:
    """Makes a path of strace's spelling of it: escapes undone, device numbers and ``(deleted)`` removed."""
    if annotation.endswith(b">"):
        annotation = annotation[: annotation.rfind(b"<")]
    return _unescape(annotation).removesuffix(" (deleted)")


def path_argument(annotation: bytes, arguments: bytes) -> tuple[bytes, bytes | None]:
    """Returns folder and name of the path that a call such as openat or unlink is given; None for one without it."""
    found = _STRING.match(arguments)
    if found is None:
        return annotation, None
    return annotation or found[1] or b"", found[2]


_folder_text = lru_cache(4096)(path_text)


def absolute(folder: bytes, name: bytes | None) -> str:
    """Makes a path of the parts that ``path_argument`` returned, absolute where strace says from where."""
    text = _unescape(name) if name else ""
    if not text:
        return path_text(folder)
    if text[0] == "/" or not folder:
        return text
    whole = f"{_folder_text(folder)}/{text}"
    return os.path.normpath(whole) if "/." in whole or "//" in whole or whole[-1] == "/" else whole


def returned_path(tail: bytes) -> str:
    """Returns the path of the descriptor that a call returned, "" where there is none; of what is no plain path."""
    found = TAIL.fullmatch(tail)
    return path_text(found[1]) if found and found[1] else ""


def first_annotation(arguments: bytes) -> str:
    """Returns the path of a descriptor that is the first argument, "" where there is none."""
    found = _DESCRIPTOR.match(arguments)
    return path_text(found[1]) if found else ""


def last_annotation(arguments: bytes) -> str:
    """Returns the path of the last annotated descriptor among the arguments, "" where there is none."""
    paths = _ANY_ANNOTATION.findall(arguments)
    return path_text(paths[-1]) if paths else ""


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
