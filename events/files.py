"""Open files that users name, without blocking on pipes and endless devices."""

from __future__ import annotations

import errno
import os
import select
import stat
from pathlib import Path
from typing import Any, BinaryIO, Final

from .errors import ConfigError

_WRITER_WAIT_S: Final = 2.0
"""Maximum time without a writer of a pipe, before the first or after the last one, s."""
MAX_TEXT_BYTES: Final = 16 * 2**20
"""Maximum size of settings, rules and signatures, which people write. Endless devices such as /dev/zero exceed it."""


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file for reading. Raises OSError for everything else, without waiting for a pipe's writer."""
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
    r"""Return the text of a file or pipe, UTF-8 without byte order mark, with "\n" for all line ends.

    Raises:
        OSError: it cannot be read, the pipe has no writer, or it has more than MOST_TEXT_BYTES.
        UnicodeDecodeError: it is not UTF-8.
    """
    return read_bytes(path, MAX_TEXT_BYTES).decode("utf-8-sig", errors).replace("\r\n", "\n").replace("\r", "\n")


def read_toml(path: Path) -> dict[str, Any]:
    """Return the values of a TOML file.

    Raises:
        ConfigError: it cannot be read, is no TOML, or is nested too deeply; the text names it.
    """
    import tomllib  # only needed for a file

    try:
        return tomllib.loads(read_text(path))
    except RecursionError:
        raise ConfigError(f"{path}: values are nested too deeply") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path}: {getattr(error, 'strerror', None) or error}") from None


def read_bytes(path: Path, most: int) -> bytes:
    """Return the content of a file or pipe.

    Raises:
        OSError: it cannot be read, the pipe has no writer, or it has more bytes than ``most``.
    """
    with open(path, "rb", opener=_opened_at_once) as file:
        if stat.S_ISFIFO(os.fstat(file.fileno()).st_mode):
            writer = select.poll()
            writer.register(file, select.POLLIN)
            if not writer.poll(_WRITER_WAIT_S * 1000):
                raise OSError(errno.ETIMEDOUT, "a pipe without a writer", str(path))
            os.set_blocking(file.fileno(), True)
        data = file.read(most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, f"more than {most >> 20} MiB", str(path))
    return data


def write_text(path: Path, text: str) -> None:
    """Write a text to a file, or to a pipe with a reader.

    Raises:
        OSError: it cannot be written, or the pipe has no reader.
    """
    with open(path, "w", encoding="utf-8", opener=_opened_at_once) as file:
        os.set_blocking(file.fileno(), True)
        file.write(text)


def readable(path: object) -> str:
    """Return a path or command line text as valid UTF-8, with other bytes as ``\\xNN``."""
    text = str(path)
    try:
        raw = os.fsencode(text)
    except UnicodeEncodeError:  # it has characters that the locale lacks, such as those of a trace
        return text.encode(errors="backslashreplace").decode()
    return raw.decode(errors="backslashreplace")


def system_text(text: str) -> str:
    """Return a readable text as an argument, variable or path: the system then has its UTF-8, in every locale."""
    return os.fsdecode(text.encode(errors="surrogateescape"))


def _opened_at_once(path: str, flags: int) -> int:
    """Open without waiting for the other end of a pipe."""
    return os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
