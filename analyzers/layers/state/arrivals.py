"""Sites of collective calls, and arrival times of processes there. Each process waits for the last one."""

from __future__ import annotations

from copy import copy
from itertools import islice
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from ....events import Layer
from ...common.state import Ints, State, distinct
from ..calls import Calls
from .call_tables import MAX_SITES

_CLASS_BITS: Final = 24  # bits of the file class in a key
NO_SITE: Final = -1  # calls other than MPI-IO collectives
_LOW: Final = 2**32  # factor of the group in a pair of group and process
_FILE_BITS: Final = 24  # bits of a file, or class, in a key
_NUMBER_BITS: Final = 31  # bits of the call's number in the key of a round
_SERIES_BITS: Final = 31  # bits of a series in a key
_COUNTERS: Final = 4  # factor of the bound, since a process calls several functions on a file
_COUNT, _BASE, _SUM, _LAST, _WHO, _FIRST_END, _IDLE = range(7)
_COLUMNS: Final = 7
_MIN_CAPACITY: Final = 64  # minimum capacity, rounds
_MAX_LAST_PROCESSES: Final = 8  # maximum number of last processes kept per site


class Sites(State):
    """Numbers pairs of an MPI-IO collective and a class of files from 1. 0 stands for pairs beyond the bound.

    Attributes:
        calls, classes: call and class of each site.
    """

    def __init__(self) -> None:
        self.calls = [0]
        self.classes = [0]
        self._numbers: dict[int, int] = {}

    def of(self, calls: Calls, file_class: Ints) -> Ints:
        """Return the site of each call, int64[n]; ``NO_SITE`` for calls other than MPI-IO collectives."""
        site = np.full(len(calls), NO_SITE, np.int64)
        rows = np.flatnonzero(calls.collective & (calls.layer == Layer.MPIIO))
        if len(rows):
            found, inverse = np.unique((calls.call[rows] << _CLASS_BITS) + file_class[rows], return_inverse=True)
            site[rows] = np.array([self._number(key) for key in found.tolist()], np.int64)[inverse]
        return site

    def merge(self, other: Sites, calls: Ints, classes: Ints) -> Ints:
        """Add another object's sites, with its calls and classes mapped to numbers here.

        Returns the number here of each.
        """
        pairs = zip(other.calls[1:], other.classes[1:], strict=True)
        numbers = [self._number((int(calls[call]) << _CLASS_BITS) + int(classes[kind])) for call, kind in pairs]
        return np.array([0, *numbers], np.int64)

    def _number(self, key: int) -> int:
        number = self._numbers.get(key)
        if number is None:
            if len(self.calls) > MAX_SITES:
                return 0
            number = self._numbers[key] = len(self.calls)
            self.calls.append(key >> _CLASS_BITS)
            self.classes.append(key & ((1 << _CLASS_BITS) - 1))
        return number


class Wait(NamedTuple):
    """Results for the collective calls of one function on files of one class.

    ``ns``: total time between the arrival of each process and of the last one, if no process left before. It is bounded
    by the time spent outside the lowest layers. ``rounds``: number of calls made by at least two processes together.
    ``last``: number of rounds by row of the process that arrived last.
    """

    ns: int
    rounds: int
    last: dict[int, int]
    """Only the processes with the most rounds."""

    def with_(self, other: Wait) -> Wait:
        """Return the sum of both."""
        last = dict(self.last)
        for row, rounds in other.last.items():
            last[row] = last.get(row, 0) + rounds
        most = dict(sorted(last.items(), key=lambda each: -each[1])[:_MAX_LAST_PROCESSES])
        return Wait(self.ns + other.ns, self.rounds + other.rounds, most)


class Arrivals(State):
    """Matches the collective calls of MPI-IO over the processes that make them.

    The n-th call of a function on a file by each process forms one round. A round counts as synchronizing only if no
    process leaves before the last one arrives. If there are too many rounds, the longest unused ones are summed and
    forgotten; processes that join these rounds later have no measured waiting time.

    Attributes:
        lost: number of calls without a round: sums of several calls, or calls beyond the bound on functions and files.
    """

    def __init__(self, bound: int) -> None:
        self.lost = 0
        self._bound = bound
        self._series: dict[int, int] = {}  # series by call and file
        self._sites: dict[int, int] = {}  # call and file class by series
        self._made = 0
        self._next: dict[int, int] = {}  # number of calls so far, by process and series
        self._rows: dict[int, int] = {}
        self._rounds = np.zeros((_MIN_CAPACITY, _COLUMNS), np.int64)
        self._summed: dict[int, Wait] = {}  # by call and class

    @property
    def calls(self) -> list[int]:
        """Numbers of the known calls."""
        return [site >> _FILE_BITS for site in (*self._sites.values(), *self._summed)]

    def add(self, calls: Calls, file_class: Ints) -> None:
        """Add calls; only MPI-IO collectives on a known file count.

        Args:
            calls: calls whose enclosing calls are known.
            file_class: class of each call's file.
        """
        rows = np.flatnonzero(calls.collective & (calls.layer == Layer.MPIIO) & (calls.file != 0))
        if not len(rows):
            return
        rows = rows[np.argsort(calls.start[rows], kind="stable")]
        sites = (calls.call[rows] << _FILE_BITS) + file_class[rows]
        found, first, group = np.unique(
            (calls.call[rows] << _FILE_BITS) + calls.file[rows], return_index=True, return_inverse=True
        )
        pairs = zip(found.tolist(), sites[first].tolist(), strict=True)
        made = [self._series_of(each, site) for each, site in pairs]
        series = np.array(made, np.int64)[group]
        number = self._numbers((calls.serial[rows] << _SERIES_BITS) + series, calls.count[rows])
        single = ~calls.summed[rows] & self._known(made)[group]
        self.lost += int(calls.count[rows][~single].sum())
        rows, key = rows[single], (series[single] << _NUMBER_BITS) + number[single]
        start = calls.start[rows]
        ones, none = np.ones(len(rows), np.int64), np.zeros(len(rows), np.int64)
        idle = calls.ns[rows] - calls.system_ns[rows]
        self._put(key, np.stack([ones, start, none, start, calls.process[rows], calls.end[rows], idle], axis=1))

    def close(self, serials: Ints) -> None:
        """Forget processes that have ended."""
        ended = set(serials.tolist())
        if ended:
            self._next = {key: number for key, number in self._next.items() if key >> _SERIES_BITS not in ended}

    def merge(self, other: Arrivals, calls: Ints, files: Ints, classes: Ints, processes: Ints) -> None:
        """Add the rounds of other processes.

        The arrays map their calls, files, classes and processes to numbers here.
        """

        def site_here(site: int) -> int:
            call, kind = divmod(site, 1 << _FILE_BITS)
            return (int(calls[call]) << _FILE_BITS) + int(classes[kind])

        self.lost += other.lost
        for site, wait in other._summed.items():
            last = {int(processes[row]): rounds for row, rounds in wait.last.items()}
            self._sum_up(site_here(site), Wait(wait.ns, wait.rounds, last))
        here = {}
        for key, series in other._series.items():
            call, file = divmod(key, 1 << _FILE_BITS)
            mine = (int(calls[call]) << _FILE_BITS) + int(files[file])
            here[series] = self._series_of(mine, site_here(other._sites[series]))
        keys = np.array(list(other._rows), np.int64)
        rounds = other._rounds[list(other._rows.values())]
        rounds[:, _WHO] = processes[rounds[:, _WHO]]
        made = [here[each] for each in (keys >> _NUMBER_BITS).tolist()]
        numbers, known = np.array(made, np.int64), self._known(made)
        self.lost += int(rounds[~known, _COUNT].sum())
        self._put(((numbers << _NUMBER_BITS) + (keys & ((1 << _NUMBER_BITS) - 1)))[known], rounds[known])

    def waits(self) -> dict[tuple[int, int], Wait]:
        """Return the results by call and class of files."""
        whole = copy(self)  # a shallow copy suffices: folding replaces the many rounds and changes none
        whole._summed = dict(self._summed)
        whole._fold(0)
        return {divmod(site, 1 << _FILE_BITS): wait for site, wait in whole._summed.items()}

    def _series_of(self, key: int, site: int) -> int:
        """Return the number of a call and a file; numbers are never reused."""
        number = self._series.pop(key, -1)
        if number < 0:
            if len(self._series) >= self._bound:
                self._fold(0)
                for old in list(self._series)[: len(self._series) // 2]:
                    del self._sites[self._series.pop(old)]
            number, self._made = self._made, (self._made + 1) % (1 << _SERIES_BITS)
            self._sites[number] = site
        self._series[key] = number  # most recently used last
        return number

    def _known(self, series: list[int]) -> npt.NDArray[np.bool_]:
        """Return which series are still known after all of them have been requested."""
        return np.array([each in self._sites for each in series], np.bool_)

    def _numbers(self, callers: Ints, count: Ints) -> Ints:
        """Return the number of earlier calls of its series by each process."""
        found, group = distinct(callers)
        order = np.argsort(group, kind="stable")
        before = np.cumsum(count[order]) - count[order]
        heads = np.searchsorted(group[order], np.arange(len(found)))
        total = np.bincount(group, count, minlength=len(found)).astype(np.int64)
        made = [self._next.pop(key, 0) for key in found.tolist()]
        self._next.update(zip(found.tolist(), (np.array(made, np.int64) + total).tolist(), strict=True))
        if len(self._next) > _COUNTERS * self._bound:
            self._next = dict(list(self._next.items())[-_COUNTERS * self._bound // 2 :])
        number = np.empty(len(callers), np.int64)
        number[order] = before - before[heads][group[order]]
        return number + np.array(made, np.int64)[group]

    def _put(self, key: Ints, rounds: Ints) -> None:
        """Add rows of ``_rounds`` to the rounds of these keys."""
        if not len(key):
            return
        found, group = distinct(key)
        new = [each for each in found.tolist() if each not in self._rows]
        if len(self._rows) + len(new) > self._bound:
            self._fold(max(0, min(self._bound // 2, self._bound - len(new))))
        rows = np.array([self._row(each) for each in found.tolist()], np.int64)[group]
        mine = self._rounds
        fresh = mine[rows, _COUNT] == 0
        mine[rows[fresh], _BASE] = rounds[fresh, _BASE]  # any of the new rows
        np.add.at(mine[:, _SUM], rows, rounds[:, _SUM] + rounds[:, _COUNT] * (rounds[:, _BASE] - mine[rows, _BASE]))
        for column in (_COUNT, _IDLE):
            np.add.at(mine[:, column], rows, rounds[:, column])
        np.minimum.at(mine[:, _FIRST_END], rows, rounds[:, _FIRST_END])
        np.maximum.at(mine[:, _LAST], rows, rounds[:, _LAST])
        latest = rounds[:, _LAST] == mine[rows, _LAST]
        mine[rows[latest], _WHO] = rounds[latest, _WHO]

    def _row(self, key: int) -> int:
        row = self._rows.get(key)
        if row is None:
            row = self._rows[key] = len(self._rows)
            if row == len(self._rounds):
                grown = np.zeros((2 * row, _COLUMNS), np.int64)  # the second half takes no memory yet
                grown[:row] = self._rounds
                self._rounds = grown
            self._rounds[row] = (0, 0, 0, -(2**62), 0, 2**62, 0)
        return row

    def _fold(self, keep: int) -> None:
        """Sum all rounds except the most recent ones."""
        many = max(0, len(self._rows) - keep)
        if not many:
            return
        young = list(islice(self._rows, many, None))
        site = np.fromiter((self._sites[key >> _NUMBER_BITS] for key in islice(self._rows, many)), np.int64, many)
        rounds = self._rounds[:many]  # keys are in the order of their rows
        together = rounds[:, _COUNT] > 1
        synced = together & (rounds[:, _FIRST_END] >= rounds[:, _LAST])
        before = rounds[:, _COUNT] * (rounds[:, _LAST] - rounds[:, _BASE]) - rounds[:, _SUM]
        ns = np.where(synced, np.minimum(before, rounds[:, _IDLE]), 0)
        found, group = distinct(site)
        waited, count = np.zeros(len(found), np.int64), np.zeros(len(found), np.int64)
        np.add.at(waited, group, ns)
        np.add.at(count, group, together)
        waited_for = ns > 0
        pairs, times = np.unique(group[waited_for] * _LOW + rounds[waited_for, _WHO], return_counts=True)
        edges = np.searchsorted(pairs // _LOW, np.arange(len(found) + 1)).tolist()
        for which, each in enumerate(found.tolist()):
            mine = slice(edges[which], edges[which + 1])
            last = dict(zip((pairs[mine] % _LOW).tolist(), times[mine].tolist(), strict=True))
            self._sum_up(each, Wait(int(waited[which]), int(count[which]), last))
        kept = self._rounds[many : len(self._rows)]
        self._rows = {key: row for row, key in enumerate(young)}
        self._rounds = np.concatenate([kept, np.zeros((_MIN_CAPACITY, _COLUMNS), np.int64)])

    def _sum_up(self, site: int, wait: Wait) -> None:
        known = self._summed.get(site)
        if known is None and len(self._summed) > MAX_SITES:
            self.lost += wait.rounds
        else:
            self._summed[site] = wait if known is None else known.with_(wait)
