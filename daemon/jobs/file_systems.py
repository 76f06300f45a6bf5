"""File systems of a job's I/O: those of the files in its signal."""

from __future__ import annotations

from typing import Final

import numpy as np

from ...analyzers.pipeline.numbering import JobNames
from ...analyzers.signal.selection import FEW, counted, counted_of_few
from ...events import EventBatch
from ...events.batch import representatives
from ...results.prediction import FileSystem

_MAX_FILE_SYSTEMS: Final = 16


class FileSystems:
    """The file systems that a job read or wrote, in order of first use. At most 16.

    Each file is examined once.
    """

    def __init__(self, names: JobNames) -> None:
        self.used: list[FileSystem] = []
        self._names = names
        self._seen = bytearray(b"\1")  # whether examined, by file number; 0 is no file

    def _unexamined(self, batch: EventBatch) -> set[int]:
        """Return the files of counted events that were not yet examined."""
        if len(batch) <= FEW:
            files: list[int] = batch.file.tolist()
            if not any(unseen := [not self._seen[file] for file in files]):
                return set()
            return {files[row] for row in counted_of_few(batch, self._names.left_out) if unseen[row]}
        fresh = np.frombuffer(self._seen, np.uint8)[representatives(batch.file)] == 0
        if not fresh.any():
            return set()
        return set(batch.file[counted(batch, self._names.left_out, "both") & fresh].tolist())

    def add(self, batch: EventBatch) -> None:
        """Add events in the job's numbers."""
        if len(self.used) >= _MAX_FILE_SYSTEMS:
            return
        if len(self._seen) < len(self._names.files):
            self._seen += bytes(2 * len(self._names.files) - len(self._seen))
        for number in sorted(self._unexamined(batch)):
            self._seen[number] = 1
            file = self._names.files[number]
            place = FileSystem(mount_point=file.mount_point, type=file.filesystem, shared=file.shared)
            if (place.mount_point or place.type) and place not in self.used and len(self.used) < _MAX_FILE_SYSTEMS:
                self.used.append(place)
