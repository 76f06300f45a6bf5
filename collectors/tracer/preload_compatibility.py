"""Determine from a program's file whether the preload library can trace it. No program is started."""

from __future__ import annotations

import os
import shlex
import shutil
import stat
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

_HEAD: Final = 64 << 10
"""Bytes read of a program. They have its ELF header, program headers and notes, or the first line of a script."""
_DEEPEST: Final = 5
"""Maximum nesting of scripts whose interpreters are scripts; the limit of the kernel."""
_SEGMENT: Final = struct.Struct("<IIQQQQ")
_INTERPRETER, _NOTE = 3, 4
_64_BIT, _LITTLE_ENDIAN = 2, 1
STATIC: Final = "is statically linked"
GO: Final = "is a Go program, which calls the kernel without the C library"
MUSL: Final = "uses musl for its C library, and the tracer glibc"
FOREIGN: Final = "is not a 64-bit program of this architecture, as the tracer is"
PRIVILEGED: Final = "gains privileges when it starts, so the dynamic linker keeps tracers out"


class PreloadObstacle(NamedTuple):
    """Reason why a program's own calls are not recorded."""

    program: str
    reason: str
    breaks: bool = False
    """With the libraries, the program would not start or would print errors. It must run without them."""


class _Segment(NamedTuple):
    kind: int
    content: bytes


def obstacle_to_tracing(command: str, environment: Mapping[str, str]) -> PreloadObstacle | None:
    """Return the obstacle to preloading in a program. Returns None if there is none or it cannot be determined.

    A script is traced if its interpreter is.

    Args:
        command: command to execute, looked up on the environment's PATH if it has no slash.
        environment: environment of the program.
    """
    for _ in range(_DEEPEST):
        found = shutil.which(command, path=environment.get("PATH"))
        if found is None:
            return None
        try:
            with open(found, "rb") as file:  # noqa: PTH123  (found is text that which() made)
                head = file.read(_HEAD)
        except OSError:
            return None
        if not head.startswith(b"#!"):
            return _obstacle_of(found, head)
        words = _interpreter_words(head)
        if not words:
            return None
        command = words[0]
    return None


def _interpreter_words(head: bytes) -> list[str]:
    """Return the program in a script's first line, without a preceding ``env``."""
    line = os.fsdecode(head[2:].split(b"\n", 1)[0]).strip()
    interpreter, _, rest = line.partition(" ")
    if Path(interpreter).name != "env":
        return [interpreter] if interpreter else []
    try:
        words = shlex.split(rest)
    except ValueError:
        return []
    return [word for word in words if not word.startswith("-") and "=" not in word][:1]


def _obstacle_of(path: str, head: bytes) -> PreloadObstacle | None:
    if head[:4] != b"\x7fELF" or len(head) < 64:
        return None
    if head[4] != _64_BIT or head[5] != _LITTLE_ENDIAN:
        return PreloadObstacle(path, FOREIGN, breaks=True)
    segments = list(_segments(head))
    interpreter = next((segment.content for segment in segments if segment.kind == _INTERPRETER), None)
    if any(segment.kind == _NOTE and b"\x04\0\0\0Go\0\0" in segment.content for segment in segments):
        return PreloadObstacle(path, GO)
    if interpreter is None:
        return PreloadObstacle(path, STATIC)
    if b"musl" in interpreter:
        return PreloadObstacle(path, MUSL, breaks=True)
    if _gains_privileges(path):
        return PreloadObstacle(path, PRIVILEGED)
    return None


def _segments(head: bytes) -> Iterator[_Segment]:
    (offset,) = struct.unpack_from("<Q", head, 32)
    size, count = struct.unpack_from("<HH", head, 54)
    for start in range(offset, offset + count * size, max(size, 1)):
        if start + _SEGMENT.size > len(head):  # beyond what was read
            return
        kind, _, at, _, _, length = _SEGMENT.unpack_from(head, start)
        yield _Segment(kind, head[at : at + length])


def _gains_privileges(path: str) -> bool:
    facts = os.stat(path)  # noqa: PTH116
    if os.statvfs(path).f_flag & os.ST_NOSUID:
        return False
    if facts.st_mode & stat.S_ISUID and facts.st_uid != os.getuid():
        return True
    if facts.st_mode & stat.S_ISGID and facts.st_gid != os.getgid():
        return True
    try:
        return os.getuid() != 0 and bool(os.getxattr(path, "security.capability"))
    except OSError:
        return False
