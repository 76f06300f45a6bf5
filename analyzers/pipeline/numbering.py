"""Numbering per job. Streams number strings and files separately, and a job's analyzers see one common number.

Signatures have no number and handles keep those of their process, since no analyzer needs their meaning. With ten
thousand streams their texts would fill the memory. They remain in the stream's definitions for components that keep
those.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from ...events import Definitions, DefinitionTable, EventBatch, FileInfo, FileType, Flag, is_constant
from ...events.batch import IntArray, representatives
from ...events.schema import UNKNOWN_ID
from ..common.sorting import sorted_distinct
from ..file_groups import CountRule, as_copied, copies_files

_STARTS: Final = re.compile(
    r"io_submit|aio_(?:read|write)(?:64)?|lio_listio(?:64)?"
    r"|P?MPI_File_i(?:read|write)\w*|P?MPI_File_(?:read|write)\w*_begin"
    r"|ncmpi_(?:iput|iget|bput)_\w+"
)
"""Kernel AIO, POSIX AIO, MPI-IO (nonblocking and split collective calls) and PnetCDF."""
_OF_FOLDERS: Final = re.compile(
    r"(?:fd)?opendir|closedir|readdir(?:64)?(?:_r)?|(?:rewind|seek|tell)dir|scandir(?:at)?(?:64)?"
    r"|getdents(?:64)?|getdirentries(?:64)?|mkdir(?:at)?|rmdir"
)
"""Calls that succeed only for a folder."""
_ON_DISK: Final = (FileType.UNKNOWN, FileType.REGULAR, FileType.COPIED)


class JobNames:
    """Strings and files of a job, numbered from 1. 0 stands for unknown, or beyond the bound."""

    def __init__(self, max_calls: int, max_files: int, rule: CountRule = CountRule()) -> None:  # noqa: B008
        self.calls: list[str] = [""]
        self.files: list[FileInfo] = [FileInfo("")]
        self.beyond: Counter[str] = Counter()
        """Uses of calls and files beyond the bound, each once per stream."""
        self._max = {"calls": max_calls, "files": max_files}
        self._call_numbers: dict[str, int] = {"": 0}
        self._file_numbers: dict[str, int] = {"": 0}
        self._rule = rule
        self._starting: list[int] = []
        self._left_out = np.zeros(64, np.uint8)
        self._groups = np.zeros(64, np.uint8)

    @property
    def overflowed(self) -> int:
        """Total number of uses beyond the bounds."""
        return self.beyond.total()

    @property
    def left_out(self) -> npt.NDArray[np.uint8]:
        """Mask of directions that do not count, by file number, uint8; bits of ``CountRule.left_out``."""
        return self._left_out[: len(self.files)]

    @property
    def any_starts(self) -> bool:
        """Whether any call starts an asynchronous operation."""
        return bool(self._starting)

    @property
    def starts(self) -> npt.NDArray[np.bool_]:
        """Whether calls start an asynchronous operation, by number."""
        made = np.zeros(len(self.calls), np.bool_)
        made[self._starting] = True
        return made

    def mark_folders(self, batch: EventBatch) -> None:
        """Set the type of files with calls that succeed only for a folder.

        A folder that is removed before its name is looked up looks like a file.

        Args:
            batch: events in the job's numbers.
        """
        made = np.flatnonzero(np.bincount(representatives(batch.call))).tolist()
        of_folders = [number for number in made if _is_of_folders(self.calls[number])]
        if not of_folders:
            return
        found = np.isin(batch.call, of_folders)
        for number in sorted_distinct(batch.file[found & ((batch.flags & int(Flag.FAILED)) == 0)]).tolist():
            info = self.files[number]
            if number and info.type in _ON_DISK:
                self.files[number] = info = replace(info, type=FileType.DIRECTORY)
                self._left_out[number] = self._rule.left_out(info.path, int(info.type))

    @property
    def groups(self) -> npt.NDArray[np.uint8]:
        """Group of each file by number, uint8: DATA, CHANNEL or SYSTEM."""
        return self._groups[: len(self.files)]

    def call(self, name: str) -> int:
        """Return the job's number of a string."""
        number = self._call_numbers.get(name)
        if number is None:
            if len(self.calls) > self._max["calls"]:
                self.beyond["calls"] += 1
                return 0
            self._call_numbers[name] = number = len(self.calls)
            self.calls.append(name)
            if starts_operation(name):
                self._starting.append(number)
        return number

    def file(self, info: FileInfo) -> int:
        """Return the job's number of a file."""
        return self._file(info, info.path)

    def copied_file(self, info: FileInfo) -> int:
        """Return the job's number of a file that a copying program uses. Code has another number for such programs."""
        known = as_copied(info, self._rule)
        return self._file(known, info.path if known is info else f"{info.path}\0")

    def _file(self, info: FileInfo, key: str) -> int:
        number = self._file_numbers.get(key)
        if number is None:
            if len(self.files) > self._max["files"]:
                self.beyond["files"] += 1
                return 0
            self._file_numbers[key] = number = len(self.files)
            self.files.append(info)
            if number >= len(self._left_out):
                self._left_out = np.concatenate([self._left_out, np.zeros_like(self._left_out)])
                self._groups = np.concatenate([self._groups, np.zeros_like(self._groups)])
            self._groups[number] = self._rule.group(info.path, int(info.type))
            self._left_out[number] = self._rule.left_out(info.path, int(info.type))
        return number


class StreamNames:
    """Translates one stream's numbers to the job's, by columns."""

    def __init__(self, job: JobNames, command: str = "") -> None:
        self.undefined = 0
        """Number of uses of undefined numbers, which count as unknown."""
        self._job = job
        self._copies = copies_files(command)
        self._table = DefinitionTable(calls=False)
        self._calls = np.zeros(64, np.uint32)
        self._files = np.zeros(64, np.uint32)

    def define(self, fresh: Definitions) -> None:
        """Add definitions.

        Raises:
            ProtocolError: they contradict earlier ones.
        """
        calls, files = self._table.string_count, self._table.file_count
        self._table.apply(fresh)
        if self._table.string_count > calls:
            self._calls = _extended(self._calls, calls, list(map(self._job.call, self._table.strings_from(calls))))
        if self._table.file_count > files:
            number_of = self._job.copied_file if self._copies else self._job.file
            self._files = _extended(self._files, files, list(map(number_of, self._table.files_from(files))))

    def translate(self, batch: EventBatch) -> EventBatch:
        """Return the batch in the job's numbering, without signatures, which no analyzer needs."""
        translated = batch.replace(
            call=self._known(self._calls, batch.call, self._table.string_count),
            file=self._known(self._files, batch.file, self._table.file_count),
            signature=UNKNOWN_ID,
        )
        self._job.mark_folders(translated)
        return mark_started(translated, self._job.starts) if self._job.any_starts else translated

    def _known(self, table: npt.NDArray[np.uint32], numbers: IntArray, count: int) -> npt.ArrayLike:
        """Return the job's numbers for a stream's; those from ``count`` on count as unknown."""
        if is_constant(numbers):
            one = int(numbers[0])
            if one >= count:
                self.undefined += len(numbers)
            return int(table[one]) if one < count else 0
        if int(numbers.max(initial=0)) >= count:
            known = numbers < count
            self.undefined += len(numbers) - int(np.count_nonzero(known))
            numbers = np.where(known, numbers, 0)
        return table.take(numbers)


def _extended(table: npt.NDArray[Any], first: int, values: list[int]) -> npt.NDArray[Any]:
    """Return a table with values from ``first`` on, extended if necessary."""
    end = first + len(values)
    if end > len(table):
        grown = np.zeros(max(end, 2 * len(table)), table.dtype)
        grown[: len(table)] = table
        table = grown
    table[first:end] = values
    return table


@lru_cache(1024)
def _is_of_folders(call: str) -> bool:
    return _OF_FOLDERS.fullmatch(call) is not None


def starts_operation(call: str) -> bool:
    """Return whether calls of this name start an asynchronous operation.

    >>> starts_operation("io_submit"), starts_operation("MPI_File_iwrite_at"), starts_operation("pwrite")
    (True, True, False)
    """
    return _STARTS.fullmatch(call) is not None


def mark_started(batch: EventBatch, starts: npt.NDArray[np.bool_]) -> EventBatch:
    """Set ``Flag.BEGUN`` for calls that start an operation and have no bytes themselves.

    Formats without completions (Darshan, Recorder) have the bytes with the call that starts the operation. These calls
    are operations and stay as they are.

    Args:
        batch: events in the job's numbers.
        starts: whether calls start operations, bool by call number.
    """
    found = starts.take(representatives(batch.call))
    if not found.any():
        return batch
    begun = found & (batch.bytes == 0) & (batch.requested == 0) & ((batch.flags & int(Flag.FAILED)) == 0)
    return batch.replace(flags=np.where(begun, batch.flags | int(Flag.BEGUN), batch.flags)) if begun.any() else batch
