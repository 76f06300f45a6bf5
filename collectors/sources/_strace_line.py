"""The grammar of strace's lines: one regular expression for whole lines, small ones for their parts."""

from __future__ import annotations

import os.path
import re
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
    rb"(0x[0-9a-f]{1,16}+|-?\d{1,20}+|\?)(?: <(\d{1,9}+\.\d{1,9}+)>(?=\n))?+([^\n]*+)\n"
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
    duration: bytes
    """Where it directly follows the result, else it stands in the tail."""
    tail: bytes
    """What else follows the result: path of a new descriptor, error, flags."""
    event: bytes
    """The line after its stamp, where it is not a whole call: a half, an exit, a signal."""
    unstamped: bytes
    """The line, where it has no stamp."""

    def whole_event(self) -> bytes:
        """Returns what stood after the stamp of a line that only looked like a call."""
        annotation = b"0<" + self.annotation + b">" if self.annotation else b""
        took = b" <" + self.duration + b">" if self.duration else b""
        return b"".join((self.call, b"(", annotation, self.arguments, b") = ", self.result, took, self.tail))


TAIL: Final = re.compile(
    rb"(?:<" + _ANNOTATION + _ANNOTATION_END + rb")? *(E[A-Z0-9_]+)?(?: ?\([^\n]*\))?(?: <(?:unavailable|(\d+\.\d+))>)?"
)
"""What may follow a result: path of the new descriptor, name of the error, remarks, duration."""

UNFINISHED: Final = b" <unfinished ...>"

_STRING = re.compile(
    rb"(?:(?:AT_FDCWD|\d+)(?:<" + _ANNOTATION + rb'>(?:\(deleted\))?)?, )?"([^"\\]*+(?:\\.[^"\\]*+)*+)"'
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


def path_argument(annotation: bytes, arguments: bytes) -> str:
    """Returns the path that a call such as openat or unlink is given, made absolute where strace says from where."""
    found = _STRING.match(arguments.removeprefix(b", "))
    if found is None:
        return path_text(annotation)
    folder, name = annotation or found[1] or b"", _unescape(found[2])
    if not name:
        return path_text(folder)
    return os.path.normpath(f"{path_text(folder)}/{name}") if folder and name[0] != "/" else name


def returned_path(tail: bytes) -> str:
    """Returns the path of the descriptor that a call returned, "" where there is none."""
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
