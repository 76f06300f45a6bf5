"""Opening files that users name: what is no file, or has no end, must not hold a program up."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO, Final

MOST_TEXT_BYTES: Final = 16 * 2**20
"""Of settings, rules and signatures, which people write; a device such as /dev/zero has more."""


def open_regular(path: Path) -> BinaryIO:
    """Opens a regular file for reading. Raises OSError for everything else, without waiting for a pipe's writer."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        return os.fdopen(descriptor, "rb")
    except OSError:
        os.close(descriptor)
        raise


def read_text(path: Path, errors: str = "strict") -> str:
    """Returns the text of a file or pipe, UTF-8, with "\\n" for all ends of lines.

    Raises:
        OSError: it cannot be read, or has more than MOST_TEXT_BYTES.
        UnicodeDecodeError: it is not UTF-8.
    """
    with path.open("rb") as file:
        data = file.read(MOST_TEXT_BYTES + 1)
    if len(data) > MOST_TEXT_BYTES:
        raise OSError(errno.EFBIG, f"more than {MOST_TEXT_BYTES >> 20} MiB", str(path))
    return data.decode(errors=errors).replace("\r\n", "\n").replace("\r", "\n")
