"""Aggregated call statistics of a job, as columns for the rules of advice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from posixpath import dirname
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ...events import FileInfo, FileType, Kind, Layer
from ...events.programs import class_name, common_pattern
from ..common.sorting import distinct_pairs
from ..common.state import Ints
from ..file_groups import DATA
from .call_sums import NAME, RENAME, Keys, Rows, split
from .extents import Extents, Flushes
from .gaps import WAITS_NS, stretch_of
from .settings import AdviceSettings
from .threads import Thread, label_of, lanes_of

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
LIBRARIES: Final = (int(Layer.HDF5), int(Layer.NETCDF), int(Layer.PNETCDF))
LOWEST: Final = (int(Layer.POSIX), int(Layer.KERNEL), int(Layer.STDIO))


@dataclass(frozen=True)
class CallStatistics:
    """Frozen state of an advice analyzer.

    Attributes:
        cells: sums of calls, ns and bytes by thread, file and kind.
        gaps: first calls, and the time before them that may belong to them, by the same.
        places: access order of the first calls by thread, file and kind.
        datasets: sums of format libraries by handle.
        extents: byte ranges accessed by the first calls of each stream.
        flushes: times at which streams flushed and closed files.
    """

    job: str
    events: int
    settings: AdviceSettings
    threads: Sequence[Thread]
    files: Sequence[FileInfo]
    cells: Rows
    gaps: Rows
    places: Rows
    datasets: Rows
    extents: Extents
    flushes: Flushes
    losses: dict[str, int]

    @cached_property
    def keys(self) -> Keys:
        """Components of the keys of ``cells``."""
        return split(self.cells.key)

    @cached_property
    def first_ns(self) -> int:
        """Start of the first call, ns."""
        return int(self.cells.least.min(initial=2**62)) if len(self.cells.key) else 0

    @cached_property
    def last_ns(self) -> int:
        """End of the last call, ns."""
        return int(self.cells.most.max()) if len(self.cells.key) else 0

    @cached_property
    def thread_spans(self) -> tuple[Ints, Ints]:
        """First and last observation of each thread, ns. Threads without observations have first > last."""
        first = np.full(len(self.threads), 2**62, np.int64)
        last = np.full(len(self.threads), -(2**62), np.int64)
        np.minimum.at(first, self.keys.thread, self.cells.least)
        np.maximum.at(last, self.keys.thread, self.cells.most)
        return first, last

    @cached_property
    def lanes(self) -> tuple[Ints, int]:
        """Lane of each thread, and the number of lanes."""
        first, last = self.thread_spans
        seen = np.flatnonzero(last > -(2**62))
        lane = np.zeros(len(self.threads), np.int64)
        lane[seen], count = lanes_of(first[seen], last[seen])
        return lane, count

    def slowest(self, ns: npt.NDArray[Any], thread: Ints) -> float:
        """Return the largest sum of rows over all lanes, s."""
        return float(self.sums_by_lane(ns, thread).max(initial=0.0)) / 1e9

    def sums_by_lane(self, ns: npt.NDArray[Any], thread: Ints) -> Floats:
        """Return the sums of rows by lane, ns."""
        lane, count = self.lanes
        return np.bincount(lane[thread], ns.astype(np.float64), minlength=count).astype(np.float64)

    def top(self, group: int = DATA) -> Flags:
        """Return which cells are top-level calls (depth 0) on a group of files."""
        found: Flags = ~self.keys.deep & (self.keys.group == group)
        return found

    @cached_property
    def busiest_thread(self) -> int:
        """Thread with the most time in calls on data."""
        rows = np.flatnonzero(self.top())
        if not len(rows):
            return 0
        ns = np.bincount(self.keys.thread[rows], self.cells.sums[rows, 1], minlength=len(self.threads))
        return int(np.argmax(ns))

    def label(self, thread: int) -> str:
        """Return a readable name of a thread's process."""
        return label_of(self.threads[thread]) if thread else ""

    def path(self, file: int) -> str:
        """Return the path of a file."""
        return self.files[file].path

    @cached_property
    def _names(self) -> tuple[Ints, list[str], Ints, list[str]]:
        classes: dict[str, int] = {}
        folders: dict[str, int] = {}
        of_file = [
            (
                classes.setdefault(class_name(info.path), len(classes)),
                folders.setdefault(dirname(info.path), len(folders)),
            )
            for info in self.files
        ]
        both = np.array(of_file, np.int64).reshape(-1, 2)
        return both[:, 0], list(classes), both[:, 1], list(folders)

    @property
    def class_of(self) -> Ints:
        """Class of each file; paths that differ only in numbers have the same class."""
        return self._names[0]

    @property
    def class_names(self) -> list[str]:
        """Names of the classes."""
        return self._names[1]

    @property
    def folder_of(self) -> Ints:
        """Folder of each file."""
        return self._names[2]

    @property
    def folders(self) -> list[str]:
        """Names of the folders."""
        return self._names[3]

    @cached_property
    def is_folder(self) -> Flags:
        """Whether each file is a folder. Where a trace has no types, a path is a folder if another one is below it."""
        above = set()
        for folder in self.folders:
            while folder and folder not in above:
                above.add(folder)
                folder = dirname(folder)
        types = np.array([info.type for info in self.files])
        named = np.array([info.path in above or info.path.endswith("/") for info in self.files], np.bool_)
        found: Flags = (types == FileType.DIRECTORY) | (named & (types == FileType.UNKNOWN))
        return found

    @cached_property
    def place_of(self) -> Ints:
        """Place of each file for grouping findings, int64[files].

        Files of one class share a place, as do classes of one folder.
        """
        classes, _, folders, names = self._names
        first = np.full(int(classes.max(initial=-1)) + 1, len(names), np.int64)
        np.minimum.at(first, classes, folders)
        return first[classes]

    def crowded_places(self, count: Floats, least: int) -> tuple[Ints, list[str]]:
        """Find places with many files.

        A place is one folder, folders that differ only in numbers, or everything below one folder.

        Args:
            count: weight of each file, float64[files].
            least: minimum sum of weights for a place.

        Returns:
            The place of each file, int64[files], and the name of each place.
        """
        _, _, folders, names = self._names
        own = np.bincount(folders, count, minlength=len(names))
        alike = [class_name(name) for name in names]
        by_class: dict[str, float] = {}
        for name, times in zip(alike, own.tolist(), strict=True):
            by_class[name] = by_class.get(name, 0.0) + times
        places: dict[str, int] = {}
        at = np.zeros(len(names), np.int64)
        for number, name in enumerate(names):
            if own[number] >= least:
                where = name
            elif by_class[alike[number]] >= least:
                where = alike[number]
            else:
                where = f"{dirname(name).rstrip('/')}/*"
            at[number] = places.setdefault(where, len(places))
        seen: list[list[str]] = [[] for _ in places]
        for name, place in zip(names, at.tolist(), strict=True):
            if len(seen[place]) < _COMPARED:
                seen[place].append(name)
        patterns = {place: common_pattern(seen[number]) for place, number in places.items() if not place.endswith("/*")}
        return at[folders], [patterns.get(place, place) for place in places]

    def rate(self, read: bool) -> float:
        """Return the bandwidth of the job's large requests, bytes/s.

        Without large requests it is a page cache's typical rate.
        """
        kind = int(Kind.READ if read else Kind.WRITE)
        rows = self.top() & (self.keys.kind == kind)
        calls, ns, size = (self.cells.sums[rows, at] for at in range(3))
        large = (size >= _LARGE * calls) & (size >= 16 * _LARGE)
        usual = _READ_RATE if read else _WRITE_RATE
        if not large.any():
            return usual
        return float(min(max(size[large].sum() / max(ns[large].sum(), 1) * 1e9, usual / 8), usual * 2))


_COMPARED: Final = 1000  # maximum number of folders that are compared for a pattern
_LARGE: Final = 262_144  # mean size from which requests count as large, bytes
_READ_RATE: Final = 4e9  # typical read bandwidth of a page cache, bytes/s
_WRITE_RATE: Final = 1.5e9  # typical write bandwidth of a page cache, bytes/s


@dataclass(frozen=True)
class Calls:
    """Columns of the cells of top-level calls on data."""

    statistics: CallStatistics

    @cached_property
    def rows(self) -> Ints:
        """Row numbers in the cells."""
        return np.flatnonzero(self.statistics.top())

    def _key(self, name: str) -> Any:
        return getattr(self.statistics.keys, name)[self.rows]

    @cached_property
    def thread(self) -> Ints:
        """Thread of each row."""
        return self._key("thread")  # type: ignore[no-any-return]

    @cached_property
    def file(self) -> Ints:
        """File of each row."""
        return self._key("file")  # type: ignore[no-any-return]

    @cached_property
    def layer(self) -> Ints:
        """Layer of each row."""
        return self._key("layer")  # type: ignore[no-any-return]

    @cached_property
    def kind(self) -> Ints:
        """Kind of each row."""
        return self._key("kind")  # type: ignore[no-any-return]

    @cached_property
    def together(self) -> Flags:
        """Whether the calls are collective."""
        return self._key("together")  # type: ignore[no-any-return]

    @cached_property
    def through(self) -> Flags:
        """Which are calls of the C library that made system calls."""
        return self._key("through")  # type: ignore[no-any-return]

    @cached_property
    def sums(self) -> Ints:
        """Calls, ns and bytes, int64[n, 3]."""
        return self.statistics.cells.sums[self.rows]

    @property
    def calls(self) -> Ints:
        """Number of calls of each row."""
        return self.sums[:, 0]

    @property
    def ns(self) -> Ints:
        """Duration of the calls of each row, ns."""
        return self.sums[:, 1]

    @cached_property
    def _gaps(self) -> tuple[Floats, Floats, Floats, Flags]:
        gaps = self.statistics.gaps
        if not len(gaps.key):
            none = np.zeros(len(self.rows))
            return none, none, none + 1.0, self.ns >= WAITS_NS * self.calls
        order = np.argsort(gaps.key)
        known, sums = gaps.key[order], gaps.sums[order]
        stretch, waits = stretch_of(known, sums)
        key = self.statistics.cells.key[self.rows]
        at = np.minimum(np.searchsorted(known, key), len(known) - 1)
        found = known[at] == key
        scale = np.where(found, stretch[at] / np.maximum(sums[at, 0], 1), 0.0) * self.calls
        waits = np.where(found, waits[at], self.ns >= WAITS_NS * self.calls)
        return sums[at, 1] * scale, sums[at, 4] * scale, np.where(found, stretch[at], 1.0), waits

    @property
    def gap_ns(self) -> Floats:
        """Time between the calls of each row that may go if they go, ns. It is that of the first calls, scaled."""
        return self._gaps[0]

    @property
    def sure_gap_ns(self) -> Floats:
        """Part of it that surely goes, ns: the least time of an interpreter or a library."""
        return self._gaps[1]

    @property
    def stretch(self) -> Floats:
        """Factor by which other processes lengthen the calls of each row; 1 if unknown."""
        return self._gaps[2]

    @property
    def waits(self) -> Flags:
        """Rows whose calls typically wait for storage, and do not only copy from or to memory."""
        return self._gaps[3]

    @property
    def bytes(self) -> Ints:
        """Bytes moved by each row."""
        return self.sums[:, 2]

    @cached_property
    def first(self) -> Ints:
        """Start of the first call of each row, ns."""
        return self.statistics.cells.least[self.rows]

    @cached_property
    def last(self) -> Ints:
        """End of the last call of each row, ns."""
        return self.statistics.cells.most[self.rows]

    @cached_property
    def reads(self) -> Flags:
        """Rows that are reads."""
        found: Flags = self.kind == int(Kind.READ)
        return found

    @cached_property
    def writes(self) -> Flags:
        """Rows that are writes."""
        found: Flags = self.kind == int(Kind.WRITE)
        return found

    @cached_property
    def opens(self) -> Flags:
        """Rows that are opens of files. Folders are opened to be listed."""
        found: Flags = (self.kind == int(Kind.CREATE)) & ~self.of_folders
        return found

    @cached_property
    def of_folders(self) -> Flags:
        """Rows of calls on folders."""
        return self.statistics.is_folder[self.file]

    @cached_property
    def lookups(self) -> Flags:
        """Rows that look up names and their attributes, or list folders."""
        listed = (self.kind == int(Kind.CREATE)) | (self.kind == int(Kind.DESTROY))
        found: Flags = (self.kind == int(Kind.OTHER)) | (listed & self.of_folders)
        return found

    @cached_property
    def name_changes(self) -> Flags:
        """Rows that make folders and links, and rename or remove names."""
        found: Flags = np.isin(self.kind, (int(Kind.DELETE), RENAME, NAME))
        return found

    @cached_property
    def ideal_ns(self) -> Floats:
        """Time that the bytes would take in large requests, ns."""
        read, write = self.statistics.rate(True), self.statistics.rate(False)
        per_byte = np.where(self.reads, 1e9 / read, np.where(self.writes, 1e9 / write, 0.0))
        return (self.bytes * per_byte).astype(np.float64)

    def by_file(self, values: npt.NDArray[Any], wanted: Flags) -> Floats:
        """Return sums of the wanted rows by file, float64[files]."""
        sums = np.bincount(self.file[wanted], values[wanted].astype(np.float64), minlength=len(self.statistics.files))
        return sums.astype(np.float64)

    @cached_property
    def users(self) -> Ints:
        """Number of threads that read or write each file, int64[files]."""
        moves = self.reads | self.writes
        pairs = distinct_pairs(self.file[moves], self.thread[moves])
        return np.bincount(pairs[0], minlength=len(self.statistics.files))
