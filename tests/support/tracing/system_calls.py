"""Counts of a program's system calls by file, from strace and from the preload library."""

from __future__ import annotations

import posixpath
import re
import subprocess
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from support.system.commands import plain_environment
from support.tracing.programs import need
from support.tracing.tracing import Row

_GROUPS = {
    "open": "open openat creat",
    "close": "close",
    "stat": "stat lstat fstat fstatat newfstatat statx",
    "read": "read",
    "write": "write",
    "pread64": "pread64",
    "pwrite64": "pwrite64",
    "lseek": "lseek",
    "copy_file_range": "copy_file_range",
    "sync": "fsync fdatasync",
    "truncate": "truncate ftruncate",
    "allocate": "fallocate posix_fallocate",
    "advise": "fadvise64 posix_fadvise",
    "rename": "rename renameat renameat2",
    "unlink": "unlink unlinkat remove rmdir",
    "link": "link linkat",
    "chmod": "chmod fchmod fchmodat",
    "chown": "chown lchown fchown fchownat",
    "times": "utimensat futimens utimes utime",
    "access": "access faccessat faccessat2 eaccess",
    "map": "mmap",
    "duplicate": "dup dup2 dup3",
    "control": "ioctl isatty",
    "flags": "fcntl",
    "attributes": "getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr setxattr fsetxattr",
}
_GROUP_OF = {name: group for group, names in _GROUPS.items() for name in names.split()}
_LINE = re.compile(r"\d+ +(\w+)\((.*)")
_DESCRIPTOR = re.compile(r"-?\d+<([^>]*)>")
_AT = re.compile(r'(?:AT_FDCWD|-?\d+)<([^>]*)>, (?:"([^"]*)"|)')

Counts = Counter[tuple[str, str]]
"""Calls by group and path below the working directory."""


def seen_by_strace(command: Sequence[str | Path], folder: Path, log: Path) -> Counts:
    """Run a command in a folder under strace, and count its calls on the regular files in it."""
    words = [need("strace"), "-f", "-y", "-qq", "-o", log, *command]
    subprocess.run(
        [str(word) for word in words],
        cwd=folder,
        env=plain_environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )
    counted: Counts = Counter()
    for line in log.read_text(errors="replace").splitlines():
        found = _LINE.match(line)
        if found and found[1] in _GROUP_OF:
            for path in _paths(found[1], found[2], folder):
                counted[_GROUP_OF[found[1]], path] += 1
    return _below(counted, folder)


def seen_by_us(rows: Iterable[Row], folder: Path) -> Counts:
    """Count the same calls in a tracer's events."""
    return _below(Counter((_GROUP_OF[row.call], row.path) for row in rows if row.call in _GROUP_OF), folder)


def _paths(call: str, rest: str, folder: Path) -> list[str]:
    """The files of a call; both files if it takes two."""
    if call == "copy_file_range":
        return _DESCRIPTOR.findall(rest)[:2]
    if call == "mmap":
        return _DESCRIPTOR.findall(rest)[:1]
    if rest.startswith('"'):
        return [posixpath.join(folder, rest[1:].split('"')[0])]
    at = _AT.match(rest) if call.endswith(("at", "at2", "statx")) else None
    if at:
        return [posixpath.join(at[1], at[2]) if at[2] else at[1]]
    number = _DESCRIPTOR.match(rest)
    return [number[1]] if number else []


def _below(counted: Counts, folder: Path) -> Counts:
    """The paths below the folder; libc opens and stats directories in its own ways, so they are left out."""
    kept: Counts = Counter()
    for (group, path), count in counted.items():
        path = path.removesuffix(" (deleted)").removesuffix("(deleted)")
        if path.startswith(f"{folder}/") and not Path(path).is_dir() and not path.endswith("/."):
            kept[group, path[len(str(folder)) + 1 :]] += count
    return kept
