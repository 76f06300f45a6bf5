"""Up to where a journal was put on disk, in a file of its own: a damaged end of the journal looks like none otherwise.

The number is written before what it covers is acknowledged, and not synced itself: it outlives a daemon that is killed.
After a machine that failed it may be an earlier one, which says less and nothing wrong.
"""

from __future__ import annotations

import contextlib
import os
import struct
import zlib
from pathlib import Path
from typing import Final

from .contract import Position

NAME: Final = "synced"
_MARK: Final = struct.Struct("<8sQQ")
_MAGIC: Final = b"iotsync1"
_SUM: Final = struct.Struct("<I")


class SyncedMark:
    """The file, as its writer has it.

    Args:
        folder: of the journal.
        epoch: of the writer.

    Raises:
        OSError: the file cannot be made.
    """

    def __init__(self, folder: Path, epoch: int) -> None:
        self._epoch = epoch
        self._descriptor = os.open(folder / NAME, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def write(self, number: int) -> None:
        """Notes that all up to a record is on disk; where that fails, the number of before stays."""
        fields = _MARK.pack(_MAGIC, self._epoch, number)
        with contextlib.suppress(OSError):
            os.pwrite(self._descriptor, fields + _SUM.pack(zlib.crc32(fields)), 0)

    def close(self) -> None:
        """Releases the descriptor."""
        os.close(self._descriptor)


def read_mark(folder: Path) -> Position | None:
    """Returns what was noted last; None where nothing was, or it cannot be read."""
    try:
        content = (folder / NAME).read_bytes()
    except OSError:
        return None
    if len(content) != _MARK.size + _SUM.size or zlib.crc32(content[: _MARK.size]) != _SUM.unpack(content[-4:])[0]:
        return None
    magic, epoch, number = _MARK.unpack_from(content)
    return Position(epoch, number) if magic == _MAGIC else None
