"""Standard streams of commands: failures cause no traceback and do not change the status of a traced command."""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_INPUT: Final = 0
_OUTPUT: Final = 1
_DIAGNOSTICS: Final = 2
_ERRORS: Final = "iotide"
"""Name of the rule for characters that an output's encoding lacks. It replaces those that fail for some names."""


class NoReaderError(Exception):
    """The reader of standard output has exited, such as ``head``.

    It is no OSError, because click and rich would end the command themselves, each with a status of its own.
    """


@contextlib.contextmanager
def standard_streams() -> Iterator[None]:
    """Replace the standard streams by ones with defined failures, and flush the output at the end.

    Closed streams become the null device. Later files therefore cannot get their numbers. The device is
    close-on-exec, so programs that iotide starts see the streams closed as before. Diagnostics that cannot be written
    are discarded.

    Raises:
        OutputError: standard output cannot be written. Later output is discarded.
        NoReaderError: the reader of standard output has exited. Later output is discarded.
    """
    _reserve_closed()
    codecs.register_error(_ERRORS, _replacement)
    if sys.stdin is None:
        sys.stdin = open(_INPUT, closefd=False, encoding="utf-8")  # noqa: SIM115 - until the process ends
    sys.stdout = _text(_OutputFile(_OUTPUT, "w", closefd=False), sys.stdout)
    sys.stderr = _text(_DiagnosticsFile(_DIAGNOSTICS, "w", closefd=False), sys.stderr)
    try:
        yield
    finally:
        sys.stdout.flush()


class _OutputFile(io.FileIO):
    """Standard output. Its first failure is an error of the command, and later output is discarded.

    Without the second rule, the flush at the interpreter's end would fail again and change the exit status.
    """

    _failed = False

    def write(self, data: ReadableBuffer, /) -> int:
        if self._failed:
            return memoryview(data).nbytes
        try:
            while (written := super().write(data)) is None:  # a full pipe that another program made non-blocking
                _wait_until_writable(self.fileno())
        except BrokenPipeError:
            self._failed = True
            raise NoReaderError from None
        except OSError as error:
            self._failed = True
            # Imported here, because events import NumPy, and --help must be instant.
            from ....events.errors import OutputError

            raise OutputError(f"cannot write to standard output: {error.strerror}") from error
        return written


class _DiagnosticsFile(io.FileIO):
    """Standard error. No failure is raised: it could not be reported, and must not change the exit status.

    A full pipe that another program made non-blocking counts as a failure, too.
    """

    def write(self, data: ReadableBuffer, /) -> int:
        written: int | None = None
        with contextlib.suppress(OSError):
            written = super().write(data)
        return memoryview(data).nbytes if written is None else written


def _text(file: io.FileIO, before: TextIO | None) -> io.TextIOWrapper:
    """Return a text stream on a file, with the settings of the stream that it replaces."""
    if not isinstance(before, io.TextIOWrapper):
        return io.TextIOWrapper(io.BufferedWriter(file), errors="backslashreplace", line_buffering=True)
    return io.TextIOWrapper(
        io.BufferedWriter(file),
        encoding=before.encoding,
        errors=_ERRORS if before.errors in ("strict", "surrogateescape") else before.errors,
        line_buffering=before.line_buffering or before.write_through,  # PYTHONUNBUFFERED: after each line
        write_through=before.write_through,
    )


def _replacement(error: UnicodeError) -> tuple[str | bytes, int]:
    """Return the bytes of a name that are not text as they are, and other characters escaped."""
    if isinstance(error, UnicodeEncodeError):
        with contextlib.suppress(UnicodeEncodeError):
            return error.object[error.start : error.end].encode("ascii", "surrogateescape"), error.end
    return codecs.backslashreplace_errors(error)


def _wait_until_writable(number: int) -> None:
    import select

    writable = select.poll()
    writable.register(number, select.POLLOUT)
    writable.poll()


def _reserve_closed() -> None:
    """Open the null device for each closed standard descriptor."""
    for number in (_INPUT, _OUTPUT, _DIAGNOSTICS):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free number
