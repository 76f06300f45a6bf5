"""When the processes of a collective call come to it: how long those who came wait for the last."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from ...events import Layer
from ..dfg.state import Ints, State, distinct
from .calls import Calls

_LOW: Final = 2**32
_FILE_BITS: Final = 24
_NUMBER_BITS: Final = 36
_COUNT, _BASE, _SUM, _LAST, _WHO, _FIRST_END = range(6)
_FEWEST: Final = 64
_MOST_LAST: Final = 8


class Wait(NamedTuple):
    """What became known of the collective calls of one function on one file.

    ``ns``: time between each process's coming and that of the last, where nobody left before. ``rounds``: calls that at
    least two processes made together. ``last``: rounds by the row of the process that came last.
    """

    ns: int
    rounds: int
    last: dict[int, int]
    """The few that do so most often."""

    def with_(self, other: Wait) -> Wait:
        """Returns the sum of both."""
        last = dict(self.last)
        for row, rounds in other.last.items():
            last[row] = last.get(row, 0) + rounds
        most = dict(sorted(last.items(), key=lambda each: -each[1])[:_MOST_LAST])
        return Wait(self.ns + other.ns, self.rounds + other.rounds, most)


class Arrivals(State):
    """Puts the collective calls of MPI-IO together over the processes that make them.

    The n-th call of a function on a file by each process is one round. A round in which somebody leaves before the last
    has come is none in which one waits for the other. Rounds beyond the bound are summed up, the oldest first: whoever
    comes to one of those later is not seen to wait.

    Attributes:
        lost: calls that are of no round for want of room.
    """

    def __init__(self, bound: int) -> None:
        self.lost = 0
        self._bound = bound
        self._series: dict[int, int] = {}
        self._next: dict[int, int] = {}
        self._rows: dict[int, int] = {}
        self._rounds = np.zeros((_FEWEST, 6), np.int64)
        self._summed: dict[int, Wait] = {}

    def add(self, calls: Calls) -> None:
        """Adds calls of all kinds; those that are collective ones of MPI-IO on a known file count."""
        rows = np.flatnonzero(calls.collective & (calls.layer == Layer.MPIIO) & (calls.file != 0))
        if not len(rows):
            return
        rows = rows[np.argsort(calls.start[rows], kind="stable")]
        found, group = distinct((calls.call[rows] << _FILE_BITS) + calls.file[rows])
        series = np.array([self._series_of(each) for each in found.tolist()], np.int64)[group]
        number = self._numbers((calls.serial[rows] * _LOW) + series, calls.count[rows])
        single = (series >= 0) & (number >= 0) & ~calls.summed[rows]
        self.lost += int(calls.count[rows][~single].sum())
        rows, key = rows[single], (series[single] << _NUMBER_BITS) + number[single]
        start = calls.start[rows]
        ones, none = np.ones(len(rows), np.int64), np.zeros(len(rows), np.int64)
        self._put(key, np.stack([ones, start, none, start, calls.process[rows], calls.end[rows]], axis=1))

    def close(self, serials: Ints) -> None:
        """Takes in that processes have ended."""
        ended = set(serials.tolist())
        if ended:
            self._next = {key: number for key, number in self._next.items() if key // _LOW not in ended}

    def merge(self, other: Arrivals, calls: Ints, files: Ints, processes: Ints) -> None:
        """Adds the rounds of other processes, whose calls, files and processes have these numbers here."""
        self.lost += other.lost
        table = {}
        for key, series in other._series.items():
            call, file = divmod(key, 1 << _FILE_BITS)
            table[series] = self._series_of((int(calls[call]) << _FILE_BITS) + int(files[file]))
        for series, wait in other._summed.items():
            if table[series] < 0:
                continue
            last = {int(processes[row]): rounds for row, rounds in wait.last.items()}
            self._sum_up(table[series], Wait(wait.ns, wait.rounds, last))
        keys = np.array(list(other._rows), np.int64)
        rounds = other._rounds[list(other._rows.values())]
        rounds[:, _WHO] = processes[rounds[:, _WHO]]
        here = np.array([table[each] for each in (keys >> _NUMBER_BITS).tolist()], np.int64)
        known = here >= 0
        self._put(((here << _NUMBER_BITS) + (keys & ((1 << _NUMBER_BITS) - 1)))[known], rounds[known])

    @property
    def calls(self) -> list[int]:
        """The calls that are known."""
        return [key >> _FILE_BITS for key in self._series]

    def waits(self) -> dict[tuple[int, int], Wait]:
        """Returns what is known by call and file."""
        copy = Arrivals.restore(self.snapshot())
        copy._fold(0)
        names = {series: divmod(key, 1 << _FILE_BITS) for key, series in self._series.items()}
        return {names[series]: wait for series, wait in copy._summed.items()}

    def _series_of(self, key: int) -> int:
        """Returns the number of a call and a file; -1 where there is no room for one more."""
        number = self._series.get(key, -1)
        if number < 0 and len(self._series) < self._bound:
            number = self._series[key] = len(self._series)
        return number

    def _numbers(self, who: Ints, count: Ints) -> Ints:
        """Returns how many calls of its series each process has made before; -1 where there is no room to count."""
        found, group = distinct(who)
        order = np.argsort(group, kind="stable")
        before = np.cumsum(count[order]) - count[order]
        heads = np.searchsorted(group[order], np.arange(len(found)))
        total = np.bincount(group, count, minlength=len(found)).astype(np.int64)
        first = np.empty(len(found), np.int64)
        for at, key in enumerate(found.tolist()):
            made = self._next.get(key, 0 if len(self._next) < self._bound else -1)
            first[at] = made
            if made >= 0:
                self._next[key] = made + int(total[at])
        number = np.empty(len(who), np.int64)
        number[order] = before - before[heads][group[order]]
        return np.where(first[group] < 0, -1, number + first[group])

    def _put(self, key: Ints, rounds: Ints) -> None:
        """Adds rows of ``_rounds`` to the rounds of these keys."""
        if not len(key):
            return
        found, group = distinct(key)
        new = [each for each in found.tolist() if each not in self._rows]
        if len(self._rows) + len(new) > self._bound:
            self._fold(max(0, min(self._bound // 2, self._bound - len(new))))
        rows = np.array([self._row(each) for each in found.tolist()], np.int64)[group]
        mine = self._rounds
        fresh = mine[rows, _COUNT] == 0
        mine[rows[fresh], _BASE] = rounds[fresh, _BASE]  # any of those that come now
        np.add.at(mine[:, _SUM], rows, rounds[:, _SUM] + rounds[:, _COUNT] * (rounds[:, _BASE] - mine[rows, _BASE]))
        np.add.at(mine[:, _COUNT], rows, rounds[:, _COUNT])
        np.minimum.at(mine[:, _FIRST_END], rows, rounds[:, _FIRST_END])
        np.maximum.at(mine[:, _LAST], rows, rounds[:, _LAST])
        latest = rounds[:, _LAST] == mine[rows, _LAST]
        mine[rows[latest], _WHO] = rounds[latest, _WHO]

    def _row(self, key: int) -> int:
        row = self._rows.get(key)
        if row is None:
            row = self._rows[key] = len(self._rows)
            if row == len(self._rounds):
                self._rounds = np.concatenate([self._rounds, np.zeros_like(self._rounds)])
            self._rounds[row] = (0, 0, 0, -(2**62), 0, 2**62)
        return row

    def _fold(self, keep: int) -> None:
        """Sums rounds up but for the youngest."""
        keys = list(self._rows)
        old, young = keys[: len(keys) - keep], keys[len(keys) - keep :]
        at = np.array([self._rows[key] for key in old], np.int64)
        rounds = self._rounds[at]
        together = rounds[:, _COUNT] > 1
        synced = together & (rounds[:, _FIRST_END] >= rounds[:, _LAST])
        ns = np.where(synced, rounds[:, _COUNT] * (rounds[:, _LAST] - rounds[:, _BASE]) - rounds[:, _SUM], 0)
        series, group = np.unique(np.array(old, np.int64) >> _NUMBER_BITS, return_inverse=True)
        waited, count = np.zeros(len(series), np.int64), np.zeros(len(series), np.int64)
        np.add.at(waited, group, ns)
        np.add.at(count, group, together)
        waited_for = ns > 0
        pairs, times = np.unique(group[waited_for] * _LOW + rounds[waited_for, _WHO], return_counts=True)
        edges = np.searchsorted(pairs // _LOW, np.arange(len(series) + 1)).tolist()
        for which, each in enumerate(series.tolist()):
            mine = slice(edges[which], edges[which + 1])
            last = dict(zip((pairs[mine] % _LOW).tolist(), times[mine].tolist(), strict=True))
            self._sum_up(each, Wait(int(waited[which]), int(count[which]), last))
        kept = self._rounds[[self._rows[key] for key in young]]
        self._rows = {key: row for row, key in enumerate(young)}
        self._rounds = np.concatenate([kept, np.zeros((_FEWEST, 6), np.int64)])

    def _sum_up(self, series: int, wait: Wait) -> None:
        known = self._summed.get(series)
        self._summed[series] = wait if known is None else known.with_(wait)
