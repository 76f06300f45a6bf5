"""Granularity of a job's members. Members are processes or ranks, commands, or kinds of file.

Each of the three has steps from fine to coarse. A step is derived from the one before it, so that merged members stay
merged.
"""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

_NUMBER: Final = re.compile(r"\d+")
_LONGEST: Final = 256  # maximum length of a command or path, characters
_NO_PID, _NO_HOST = 1, 2
FILE_STEPS: Final = 2
"""Number of steps of ``files_at``; after one more step all files are equal."""
PROCESS_STEPS: Final = 34
"""Number of steps of ``process_at``, after which all ranks are equal."""
IDENTITY_STEPS: Final = 2
"""Number of steps of ``common_identity``."""


class Process(Struct, frozen=True):
    """A range of ranks, or a process without a rank.

    Attributes:
        rank: number of the range of ranks, -1 without.
        host: host of the process; "" once hosts are merged.
        pid: process id; 0 once the processes of a host are merged.
    """

    rank: int = -1
    host: str = ""
    pid: int = 0


class Key(Struct, frozen=True):
    """Identity of a member."""

    process: Process
    command: str
    files: str


def shift_at(step: int) -> int:
    """Return the number of bits by which ranks are shifted. Processes without ranks are merged first."""
    return max(step - 1, 0)


def process_at(process: Process, step: int) -> Process:
    """Return the process one step coarser, at ``step``."""
    if process.rank >= 0:
        return Process(rank=process.rank >> (shift_at(step) - shift_at(step - 1)))
    return Process(host=process.host if step < _NO_HOST else "", pid=process.pid if step < _NO_PID else 0)


def command_at(command: str, step: int) -> str:
    """Return a command at a step: unchanged, without numbers, two words, one word, nothing."""
    match step:
        case 0:
            return command[:_LONGEST]
        case 1:
            return _NUMBER.sub("*", command)
        case 2:
            return " ".join(command.split(" ", 2)[:2])
        case 3:
            return command.split(" ", 1)[0]
    return ""


def common_identity(key: Key, step: int) -> Key:
    """Return the common identity of successive processes: without process and command numbers, then without files."""
    process = Process(rank=key.process.rank, host=key.process.host)
    return Key(process, _NUMBER.sub("*", key.command), key.files if step == 0 else "")


def files_at(path: str, step: int) -> str:
    """Return a kind of file at a step. The steps are path without numbers, folder and extension, extension, nothing.

    >>> [files_at("/run7/dump.0100.chk", step) for step in range(1)], files_at("/run*/dump.*.chk", 1)
    (['/run*/dump.*.chk'], '/run*/*.chk')
    """
    folder, _, name = path.rpartition("/")
    ending = name.rpartition(".")[2] if "." in name[1:] else ""
    match step:
        case 0:
            return _NUMBER.sub("*", path[-_LONGEST:])
        case 1:
            return f"{folder}/*.{ending}" if ending else f"{folder}/*"
        case 2:
            return f"*.{ending}" if ending else "*"
    return ""
