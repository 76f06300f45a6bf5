"""Store batches in unnamed files, which vanish with the collector.

They are bounded in bytes, and freed as they are read.
"""

from __future__ import annotations

import contextlib
import logging
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ...events import EventBatch
from ...events.network.wire import Frame
from .packed_batches import packed, size_of_pieces, unpacked

_log = logging.getLogger(__name__)
_FILE_BYTES: Final = 16 << 20
"""File size above which a new file is begun."""


@dataclass(slots=True)
class _File:
    descriptor: int
    size: int = 0
    held: int = 0
    """Number of batches still in the file."""


@dataclass(frozen=True, slots=True)
class Place:
    """Location of a batch."""

    file: _File
    at: int
    size: int


class SpoolFiles:
    """Writes and reads batches.

    Args:
        most_bytes: bound on the size of all files.
        folder: folder of the files; by default the system's folder for temporary files.

    Attributes:
        bytes: size of all files.
        failures: number of batches that could not be written or read.
    """

    def __init__(self, most_bytes: int, folder: Path | None = None) -> None:
        self.bytes = 0
        self.failures = 0
        self._most_bytes = most_bytes
        self._folder = folder
        self._last: _File | None = None
        self._files: set[int] = set()

    def append(self, batch: EventBatch) -> Place | None:
        """Append a batch; None if there is no room or the disk rejects the write."""
        pieces = packed(batch)
        size = size_of_pieces(pieces)
        if self.bytes + size > self._most_bytes:
            return None
        try:
            file = self._file_for_more()
            _write(file.descriptor, pieces, file.size)
        except OSError as error:
            if not self.failures:
                _log.warning("calls that wait for the aggregator cannot be spooled to disk: %s", error)
            self.failures += 1
            return None
        place = Place(file, file.size, size)
        file.size += size
        file.held += 1
        self.bytes += size
        return place

    def read(self, place: Place) -> EventBatch | None:
        """Return a batch; None if it cannot be read or is corrupt."""
        data = b""
        with contextlib.suppress(OSError):
            data = os.pread(place.file.descriptor, place.size, place.at)
        batch = unpacked(data) if len(data) == place.size else None
        self.failures += batch is None
        return batch

    def release(self, place: Place) -> None:
        """Releases a batch; a file without batches is removed."""
        file = place.file
        file.held -= 1
        if file.held:
            return
        self.bytes -= file.size
        file.size = 0
        if file is self._last:
            os.ftruncate(file.descriptor, 0)
        else:
            self._close(file.descriptor)

    def close(self) -> None:
        """Remove all files."""
        for descriptor in list(self._files):
            self._close(descriptor)
        self._last = None

    def _file_for_more(self) -> _File:
        if self._last is None or self._last.size >= _FILE_BYTES:
            descriptor, name = tempfile.mkstemp(prefix="iotide-spool-", dir=self._folder)
            Path(name).unlink()
            self._files.add(descriptor)
            self._last = _File(descriptor)
        return self._last

    def _close(self, descriptor: int) -> None:
        self._files.discard(descriptor)
        with contextlib.suppress(OSError):
            os.close(descriptor)


def _write(descriptor: int, pieces: list[Frame], at: int) -> None:
    for piece in pieces:
        rest = memoryview(piece).cast("B")
        while rest:
            written = os.pwrite(descriptor, rest, at)
            rest, at = rest[written:], at + written
