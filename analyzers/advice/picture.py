"""What a job did, as columns that rules of advice look at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from posixpath import dirname
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ...events import FileInfo, Kind, Layer
from ..common.state import Ints
from ..file_groups import DATA
from ..layers.state.registries import class_name
from .cells import Rows
from .extents import Extents, Shown
from .keys import Keys, split
from .settings import AdviceSettings
from .threads import Thread, label_of, lanes_of

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
LIBRARIES: Final = (int(Layer.HDF5), int(Layer.NETCDF), int(Layer.PNETCDF))
LOWEST: Final = (int(Layer.POSIX), int(Layer.KERNEL), int(Layer.STDIO))


@dataclass(frozen=True)
class Picture:
    """The state of an analyzer.

    Attributes:
        cells: sums of calls, ns and bytes by thread, file and kind.
        places: what the order of the first calls was, by thread, file and kind.
        extents: which bytes the first calls of each stream moved.
        shown: when streams flushed and closed files.
    """

    job: str
    events: int
    settings: AdviceSettings
    threads: Sequence[Thread]
    files: Sequence[FileInfo]
    cells: Rows
    places: Rows
    extents: Extents
    shown: Shown
    losses: dict[str, int]

    @cached_property
    def keys(self) -> Keys:
        """The keys of ``cells``."""
        return split(self.cells.key)

    @cached_property
    def first_ns(self) -> int:
        """When the first call began."""
        return int(self.cells.least.min(initial=2**62)) if len(self.cells.key) else 0

    @cached_property
    def last_ns(self) -> int:
        """When the last call ended."""
        return int(self.cells.most.max()) if len(self.cells.key) else 0

    @cached_property
    def lives(self) -> tuple[Ints, Ints]:
        """When each thread was first and last seen, ns; those never seen begin after they end."""
        first = np.full(len(self.threads), 2**62, np.int64)
        last = np.full(len(self.threads), -(2**62), np.int64)
        np.minimum.at(first, self.keys.thread, self.cells.least)
        np.maximum.at(last, self.keys.thread, self.cells.most)
        return first, last

    @cached_property
    def lanes(self) -> tuple[Ints, int]:
        """The lane of each thread, and how many there are."""
        first, last = self.lives
        seen = np.flatnonzero(last > -(2**62))
        lane = np.zeros(len(self.threads), np.int64)
        lane[seen], count = lanes_of(first[seen], last[seen])
        return lane, count

    def slowest(self, ns: npt.NDArray[Any], thread: Ints) -> float:
        """Returns what some rows cost: the sum of the lane with the most, s."""
        return float(self.of_lanes(ns, thread).max(initial=0.0)) / 1e9

    def of_lanes(self, ns: npt.NDArray[Any], thread: Ints) -> Floats:
        """Returns the sums of rows by lane, ns."""
        lane, count = self.lanes
        return np.bincount(lane[thread], ns.astype(np.float64), minlength=count).astype(np.float64)

    def top(self, group: int = DATA) -> Flags:
        """Tells which cells are calls that the program made itself on a group of files."""
        found: Flags = ~self.keys.deep & (self.keys.group == group)
        return found

    @cached_property
    def busiest(self) -> int:
        """The thread with the most time in calls on data."""
        rows = np.flatnonzero(self.top())
        if not len(rows):
            return 0
        ns = np.bincount(self.keys.thread[rows], self.cells.sums[rows, 1], minlength=len(self.threads))
        return int(np.argmax(ns))

    def label(self, thread: int) -> str:
        """Returns what a person calls a thread's process."""
        return label_of(self.threads[thread]) if thread else ""

    def path(self, file: int) -> str:
        """Returns the path of a file."""
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
        """The class of each file: paths that differ in numbers alone are of one."""
        return self._names[0]

    @property
    def class_names(self) -> list[str]:
        """The names of the classes."""
        return self._names[1]

    @property
    def folder_of(self) -> Ints:
        """The folder of each file."""
        return self._names[2]

    @property
    def folders(self) -> list[str]:
        """The names of the folders."""
        return self._names[3]

    @cached_property
    def place_of(self) -> Ints:
        """What of each file is told together: files of one class, and classes of one folder, int64[files]."""
        classes, _, folders, names = self._names
        first = np.full(int(classes.max(initial=-1)) + 1, len(names), np.int64)
        np.minimum.at(first, classes, folders)
        return first[classes]

    def crowds(self, count: Floats, least: int) -> tuple[Ints, list[str]]:
        """Finds where many of something are: in a folder, in folders that differ in numbers alone, or below one.

        Args:
            count: how many each file stands for, float64[files].
            least: how many are many.

        Returns:
            The place of each file, int64[files], and what each place is called.
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
        return at[folders], list(places)

    def rate(self, read: bool) -> float:
        """Returns what large requests of the job reach, bytes a second, or what a page cache does where it has none."""
        kind = int(Kind.READ if read else Kind.WRITE)
        rows = self.top() & (self.keys.kind == kind)
        calls, ns, size = (self.cells.sums[rows, at] for at in range(3))
        large = (size >= _LARGE * calls) & (size >= 16 * _LARGE)
        usual = _READ_RATE if read else _WRITE_RATE
        if not large.any():
            return usual
        return float(min(max(size[large].sum() / max(ns[large].sum(), 1) * 1e9, usual / 8), usual * 2))


_LARGE: Final = 262_144
_READ_RATE: Final = 4e9
_WRITE_RATE: Final = 1.5e9


@dataclass(frozen=True)
class Calls:
    """Cells of calls on data that the program itself made, as columns."""

    picture: Picture

    @cached_property
    def rows(self) -> Ints:
        """Which cells."""
        return np.flatnonzero(self.picture.top())

    def _key(self, name: str) -> Any:
        return getattr(self.picture.keys, name)[self.rows]

    @cached_property
    def thread(self) -> Ints:
        """Who called."""
        return self._key("thread")  # type: ignore[no-any-return]

    @cached_property
    def file(self) -> Ints:
        """On what."""
        return self._key("file")  # type: ignore[no-any-return]

    @cached_property
    def layer(self) -> Ints:
        """The layer of the calls."""
        return self._key("layer")  # type: ignore[no-any-return]

    @cached_property
    def kind(self) -> Ints:
        """The kind of the calls."""
        return self._key("kind")  # type: ignore[no-any-return]

    @cached_property
    def together(self) -> Flags:
        """Whether they are collective."""
        return self._key("together")  # type: ignore[no-any-return]

    @cached_property
    def sums(self) -> Ints:
        """Calls, ns and bytes, int64[n, 3]."""
        return self.picture.cells.sums[self.rows]

    @property
    def calls(self) -> Ints:
        """How many."""
        return self.sums[:, 0]

    @property
    def ns(self) -> Ints:
        """How long they took."""
        return self.sums[:, 1]

    @property
    def bytes(self) -> Ints:
        """What they moved."""
        return self.sums[:, 2]

    @cached_property
    def first(self) -> Ints:
        """When the first began, ns."""
        return self.picture.cells.least[self.rows]

    @cached_property
    def last(self) -> Ints:
        """When the last ended, ns."""
        return self.picture.cells.most[self.rows]

    @cached_property
    def reads(self) -> Flags:
        """Which read."""
        found: Flags = self.kind == int(Kind.READ)
        return found

    @cached_property
    def writes(self) -> Flags:
        """Which write."""
        found: Flags = self.kind == int(Kind.WRITE)
        return found

    @cached_property
    def opens(self) -> Flags:
        """Which open."""
        found: Flags = self.kind == int(Kind.CREATE)
        return found

    @cached_property
    def ideal_ns(self) -> Floats:
        """What the bytes would take in large requests."""
        read, write = self.picture.rate(True), self.picture.rate(False)
        per_byte = np.where(self.reads, 1e9 / read, np.where(self.writes, 1e9 / write, 0.0))
        return (self.bytes * per_byte).astype(np.float64)

    def by_file(self, values: npt.NDArray[Any], wanted: Flags) -> Floats:
        """Returns sums by file of the wanted rows, float64[files]."""
        sums = np.bincount(self.file[wanted], values[wanted].astype(np.float64), minlength=len(self.picture.files))
        return sums.astype(np.float64)

    @cached_property
    def users(self) -> Ints:
        """How many threads read or write each file, int64[files]."""
        moves = self.reads | self.writes
        pairs = np.unique(np.stack([self.file[moves], self.thread[moves]]), axis=1)
        return np.bincount(pairs[0], minlength=len(self.picture.files))
