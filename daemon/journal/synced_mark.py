"""The last synced position of a journal, in a separate file. Otherwise a damaged end of the journal is not detectable.

The number is written before the acknowledgement of what it covers, but not synced: it survives a killed daemon. After a
failure of the machine it may be an older number, which is weaker but not wrong.
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
    """The file, for its writer.

    Args:
        folder: folder of the journal.
        epoch: epoch of the writer.

    Raises:
        OSError: the file cannot be created.
    """

    def __init__(self, folder: Path, epoch: int) -> None:
        self._epoch = epoch
        self._descriptor = os.open(folder / NAME, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def write(self, number: int) -> None:
        """Store the number of the last synced record; on failure the previous number stays."""
        fields = _MARK.pack(_MAGIC, self._epoch, number)
        with contextlib.suppress(OSError):
            os.pwrite(self._descriptor, fields + _SUM.pack(zlib.crc32(fields)), 0)

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)


def read_mark(folder: Path) -> Position | None:
    """Return the stored position; None if there is none, or it cannot be read."""
    try:
        content = (folder / NAME).read_bytes()
    except OSError:
        return None
    if len(content) != _MARK.size + _SUM.size or zlib.crc32(content[: _MARK.size]) != _SUM.unpack(content[-4:])[0]:
        return None
    magic, epoch, number = _MARK.unpack_from(content)
    return Position(epoch, number) if magic == _MAGIC else None
