"""Open finished files for readers that need random access; gzip files are decompressed first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, BinaryIO, cast

from ...events import InputError
from ..files.tail import MAGIC, GzipTail
from ..source import Input


@contextmanager
def unpacked(path: Path, about: Input) -> Iterator[BinaryIO]:
    """Open a file, or a temporary file with its decompressed content. It is decompressed as far as possible.

    Raises:
        OSError: the file cannot be read, or there is no space for its content.
    """
    with path.open("rb") as file:
        packed = file.read(len(MAGIC)) == MAGIC
        file.seek(0)
        if not packed:
            yield file
            return
    with TemporaryFile() as made:
        _unpack(path, made, about)
        made.seek(0)
        yield cast("BinaryIO", made)


def _unpack(path: Path, to: IO[bytes], about: Input) -> None:
    tail = GzipTail(path, follow=False, counters=Counter())
    try:
        while not tail.ended:
            try:
                data = tail.read()
            except InputError as error:
                about.malformed(None, error.problem, error.expected)
                continue
            if isinstance(data, bytes):
                to.write(data)
    finally:
        tail.close()
