"""Programs that read code as data.

Programs such as tar, cp and git copy a Python module, and only an interpreter imports it.
"""

from __future__ import annotations

import re
from typing import Final

from msgspec.structs import replace

from ..events import FileInfo, FileType
from .file_groups import CountRule

_COPIERS: Final = re.compile(
    r"(?:bsd|g|s)?tar|cpio|pax|ar|cp|mv|install|dd|cat|tee|split|rsync|scp|sftp(?:-server)?|rclone|lftp|curl|wget"
    r"|git(?:-[\w-]+)?|(?:un)?zip|7z[arz]?|gzip|gunzip|pigz|p?bzip2|xz|zstd|lz4|(?:mk|un)squashfs|restic"
    r"|pftool|pfcp|dcp|dsync|dtar|[ef]?grep|rg|ag|wc|diff|cmp|sort|uniq|head|tail|sed|[gm]?awk"
    r"|(?:md5|sha\d+|b2|xxh)sum|cksum|sum"
)
"""Programs that never execute the files that they read."""
_MULTICALL: Final = frozenset({"busybox", "toybox", "coreutils"})
"""Programs that contain others. The first argument is the program's name."""
_ON_DISK: Final = (FileType.UNKNOWN, FileType.REGULAR)


def copies_files(command: str) -> bool:
    """Return whether a command line is of a program that reads all files as data.

    >>> copies_files("/usr/bin/tar -cf a.tar src"), copies_files("python3 tar.py"), copies_files("busybox cp a b")
    (True, False, True)
    """
    words = [word.rpartition("/")[2] for word in command.split(maxsplit=2)[:2]]
    if words and words[0] in _MULTICALL:
        words = words[1:]
    return bool(words) and _COPIERS.fullmatch(words[0]) is not None


def as_copied(info: FileInfo, rule: CountRule) -> FileInfo:
    """Return a file as a copying program reads it. Code outside the machine's folders has the type COPIED.

    Args:
        info: a file of a stream for which ``copies_files`` holds.
        rule: defines which files are code.
    """
    if info.type in _ON_DISK and rule.is_code(info.path):
        return replace(info, type=FileType.COPIED)
    return info
