"""Paths as parts of activity names: run-specific numbers are replaced, and the rest is shortened."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from ....events import ConfigError

MAX_SITES: Final = 1000

_INODE: Final = re.compile(r"([A-Za-z][\w-]*):\[(.*)\]")
_PROCESS: Final = re.compile(r"^/proc/\d+(?=/|$)")
_THREAD: Final = re.compile(r"(?<=/task/)\d+(?=/|$)")
_DESCRIPTOR: Final = re.compile(r"^(/(?:proc/[^/]+|dev)/fd)/\d+(?=/|$)")
_TERMINAL: Final = re.compile(r"^/dev/pts/\d+$")
_SLASHES: Final = re.compile(r"//+")
_DIGITS: Final = re.compile(r"\d+")
_ENDINGS: Final = (".h5", ".hdf5", ".h4", ".hdf4", ".nc4", ".bp4", ".bp5", ".bz2", ".f90")
_SITE_NAME: Final = re.compile(r"[A-Za-z_]\w{0,63}")


def normalise(path: str) -> str:
    """Replace kernel-assigned numbers in a path, so that equal runs give equal graphs.

    >>> normalise("pipe:[32661033]"), normalise("anon_inode:[eventfd]"), normalise("/proc/4711/status")
    ('pipe', 'anon_inode:eventfd', '/proc/PID/status')
    """
    path = path.removesuffix(" (deleted)")
    if not path.startswith("/"):
        if found := _INODE.fullmatch(path):
            return f"anon_inode:{found[2]}" if found[1] == "anon_inode" and not found[2].isdigit() else found[1]
        return path
    if "//" in path:
        path = _SLASHES.sub("/", path)
    if path.startswith("/proc/"):
        path = _THREAD.sub("TID", _PROCESS.sub("/proc/PID", path))
    if "/fd/" in path:
        path = _DESCRIPTOR.sub(r"\1/N", path)
    return _TERMINAL.sub("/dev/pts/N", path)


def top_levels(path: str, levels: int) -> str:
    """Shorten a path to its top levels; the file's own name counts as a level.

    Source: [DFG], Eq. 4.

    >>> top_levels("/usr/lib/x86_64-linux-gnu/libc.so.6", 2), top_levels("/etc/passwd", 2)
    ('/usr/lib', '/etc/passwd')
    """
    parts = [part for part in path.split("/") if part][:levels]
    return ("/" if path.startswith("/") else "") + "/".join(parts)


def extension(path: str) -> str:
    """Return the extension of a file's name as a pattern. All numeric extensions are equal, as are missing ones.

    >>> extension("/scratch/out.h5"), extension("/scratch/out.00017"), extension("/etc/passwd")
    ('*.h5', '*.#', '*')
    """
    name = path.rpartition("/")[2]
    stem, dot, ending = name.rpartition(".")
    if not dot or not stem or not ending:
        return "*"
    return "*.#" if ending.isdecimal() else f"*.{ending}"


def pattern(path: str) -> str:
    """Return a path with ``#`` for every number. The files of all ranks and steps are then equal.

    >>> pattern("/scratch/out.00017.rank3"), pattern("/scratch/step12.h5")
    ('/scratch/out.#.rank#', '/scratch/step#.h5')
    """
    ending = next((ending for ending in _ENDINGS if path.endswith(ending)), "")
    return _DIGITS.sub("#", path.removesuffix(ending)) + ending


class Sites:
    """Site variables for folders, such as $SCRATCH and $HOME. The longest matching prefix wins.

    Args:
        prefixes: folder by variable name. A ``*`` in a folder stands for one level: HOME=/home/*.

    Raises:
        ConfigError: a name is not a valid variable name, or a folder is not absolute.
    """

    def __init__(self, prefixes: Mapping[str, str]) -> None:
        if len(prefixes) > MAX_SITES:
            raise ConfigError(f"{len(prefixes)} site variables are too many; expected at most {MAX_SITES}")
        rows = []
        for name, folder in prefixes.items():
            parts = [part for part in folder.split("/") if part]
            if not _SITE_NAME.fullmatch(name):
                raise ConfigError(f"site variable {name!r}: expected a name such as SCRATCH")
            if not folder.startswith("/") or not parts:
                raise ConfigError(
                    f"site variable {name}={folder!r}: expected an absolute folder below / such as /scratch"
                )
            rows.append((parts, f"${name}"))
        # literal levels before wildcards, so that /home/ann matches before /home/*
        self._rows = sorted(rows, key=lambda row: (-len(row[0]), row[0].count("*"), row[1]))

    def split(self, path: str) -> tuple[str, list[str]]:
        """Return the variable that contains a path and the levels below it. Returns "" if there is none."""
        if not path.startswith("/"):
            return "", []
        parts = [part for part in path.split("/") if part]
        for prefix, name in self._rows:
            if len(parts) >= len(prefix) and all(a in (b, "*") for a, b in zip(prefix, parts, strict=False)):
                return name, parts[len(prefix) :]
        return "", []

    def name(self, path: str, levels: int) -> str:
        """Return the variable and some levels below it; the top two levels without a variable.

        >>> Sites({"SCRATCH": "/p/scratch/ann"}).name("/p/scratch/ann/ssf/out.h5", 1)
        '$SCRATCH/ssf'
        """
        variable, rest = self.split(path)
        return "/".join([variable, *rest[:levels]]) if variable else top_levels(path, 2)
