"""On which file systems a job's I/O is: of the files that its signal has bytes of."""

from __future__ import annotations

from typing import Final

import numpy as np

from ..analyzers.signal.selection import counted
from ..events import EventBatch
from ..events.batch import occurring
from ..events.models import FileSystem
from .numbering import JobNames

_MOST: Final = 16


class FileSystems:
    """The file systems that a job read or wrote, in the order in which it first did; at most sixteen.

    Each file is looked at once.
    """

    def __init__(self, names: JobNames) -> None:
        self.used: list[FileSystem] = []
        self._names = names
        self._seen = np.ones(1, np.bool_)  # by file number; 0 is no file

    def add(self, batch: EventBatch) -> None:
        """Takes in events in the job's numbers."""
        if len(self.used) >= _MOST:
            return
        if len(self._seen) < len(self._names.files):
            room = 2 * len(self._names.files) - len(self._seen)
            self._seen = np.append(self._seen, np.zeros(room, np.bool_))
        fresh = ~self._seen[occurring(batch.file)]
        if not fresh.any():
            return
        files = batch.file[counted(batch, self._names.left_out, "both") & fresh]
        for number in sorted(set(files.tolist())):
            self._seen[number] = True
            file = self._names.files[number]
            place = FileSystem(mount_point=file.mount_point, type=file.filesystem, shared=file.shared)
            if (place.mount_point or place.type) and place not in self.used and len(self.used) < _MOST:
                self.used.append(place)
