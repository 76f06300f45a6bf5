"""What of a call stays the same from call to call, and what is an integer that grows: groups and fields."""

from __future__ import annotations

from dataclasses import dataclass, field
from secrets import randbits
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ..batch import EventBatch, make_batch
from ..definitions import DefinitionTable, Interner
from ..schema import UNKNOWN_ID
from .templates import Templates, places_in, put_together

INTEGERS: Final = 6
"""Integers of a signature that are fields; further ones stay in its template."""
FIELDS: Final = ("handle", "parent", "file", *(f"integer{i}" for i in range(INTEGERS)), "offset", "requested", "bytes")
"""The fields of a call, in the order in which the coder has them; the last three are coded by handle."""
FIRST_OF_HANDLE: Final = FIELDS.index("offset")
STATIC: Final = ("call", "layer", "kind", "depth", "errno", "flags", "template", "thread")
"""The columns of a group."""


@dataclass(slots=True)
class Groups:
    """The groups of one stream, numbered as they come.

    Calls, templates and threads have numbers of their own here, in the order in which they are met, so that processes
    that do the same have equal groups.

    Attributes:
        rows: the group's STATIC columns, int64[len, 8].
        calls: names of calls by number; 0 is the call without a name.
        threads: (pid, tid, rank) by number.
    """

    rows: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, len(STATIC)), np.int64))
    calls: list[str] = field(default_factory=lambda: [""])
    threads: list[tuple[int, int, int]] = field(default_factory=list)
    templates: Templates = field(default_factory=lambda: Templates(INTEGERS))
    _hashes: npt.NDArray[np.uint64] = field(default_factory=lambda: np.zeros(0, np.uint64))
    _numbers: npt.NDArray[np.uint32] = field(default_factory=lambda: np.zeros(0, np.uint32))
    _thread_numbers: dict[tuple[int, int, int], int] = field(default_factory=dict)
    _call_numbers: dict[str, int] = field(default_factory=lambda: {"": 0})
    _call_of: npt.NDArray[np.int64] = field(default_factory=lambda: np.full(64, -1, np.int64))
    _seeds: npt.NDArray[np.uint64] = field(
        default_factory=lambda: np.array([randbits(63) * 2 + 1 for _ in STATIC], np.uint64)
    )
    """Of the hash; drawn, so that no trace can be made to collide."""

    def __len__(self) -> int:
        return len(self.rows)

    def split(self, batch: EventBatch, table: DefinitionTable) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]:
        """Returns the calls' groups, uint32[n], and fields, int64[n, 12].

        Args:
            batch: calls in the stream's numbers.
            table: what the stream has defined.
        """
        length = len(batch)
        template, integers = self.templates.of(_defined(batch.signature, table.signature_count), table.signature)
        columns = [batch.layer, batch.kind, batch.depth, batch.errno, batch.flags]
        static = [
            self._calls(_defined(batch.call, table.string_count), table),
            *(np.asarray(column, np.int64) for column in columns),
        ]
        static += [template, self._threads(batch)]
        fields = np.empty((length, len(FIELDS)), np.int64)
        for place, name in enumerate(FIELDS):
            if not name.startswith("integer"):
                fields[:, place] = getattr(batch, name)
        fields[:, 3 : 3 + INTEGERS] = integers
        return self._number(static, length), fields

    def join(
        self,
        groups: npt.NDArray[np.uint32],
        fields: npt.NDArray[np.int64],
        start: npt.NDArray[np.int64],
        duration: npt.NDArray[np.int64],
        texts: Texts,
    ) -> EventBatch:
        """Puts calls together again: the inverse of ``split``, in the reader's numbers."""
        rows = self.rows[groups]
        columns: dict[str, Any] = {name: rows[:, place] for place, name in enumerate(STATIC[:-2])}
        columns.update({name: fields[:, i] for i, name in enumerate(FIELDS) if not name.startswith("integer")})
        threads = np.array(self.threads, np.int64).reshape(len(self.threads), 3)[rows[:, -1]]
        columns.update(pid=threads[:, 0], tid=threads[:, 1], rank=threads[:, 2], start=start, duration=duration)
        columns["call"] = texts.calls(rows[:, 0])
        columns["signature"] = texts.signatures(rows[:, -2], fields[:, 3 : 3 + INTEGERS])
        return make_batch(len(groups), columns)

    def _calls(self, call: npt.NDArray[Any], table: DefinitionTable) -> npt.NDArray[np.int64]:
        top = int(call.max(initial=0))
        if top >= len(self._call_of):
            grown = np.full(max(top + 1, 2 * len(self._call_of)), -1, np.int64)
            grown[: len(self._call_of)] = self._call_of
            self._call_of = grown
        known = self._call_of[call]
        if (known < 0).any():
            for number in first_met(call[known < 0]).tolist():
                name = table.string(number)
                self._call_of[number] = place = self._call_numbers.setdefault(name, len(self.calls))
                if place == len(self.calls):
                    self.calls.append(name)
            known = self._call_of[call]
        return np.asarray(known, np.int64)

    def _threads(self, batch: EventBatch) -> npt.NDArray[np.int64]:
        if not len(batch):
            return np.zeros(0, np.int64)
        length = len(batch)
        pid, tid, rank = (np.asarray(column, np.int64) for column in (batch.pid, batch.tid, batch.rank))
        changed = (np.diff(pid) != 0) | (np.diff(tid) != 0) | (np.diff(rank) != 0)
        starts = np.concatenate([[0], np.flatnonzero(changed) + 1])
        pid, tid, rank = pid[starts], tid[starts], rank[starts]
        _, first, inverse = np.unique(
            _hashed([pid, tid, rank], self._seeds, len(starts)), return_index=True, return_inverse=True
        )
        numbers = np.empty(len(first), np.int64)
        for place in np.argsort(first).tolist():
            at = first[place]
            key = int(pid[at]), int(tid[at]), int(rank[at])
            numbers[place] = number = self._thread_numbers.setdefault(key, len(self.threads))
            if number == len(self.threads):
                self.threads.append(key)
        return np.repeat(numbers[inverse.reshape(-1)], np.diff(np.concatenate([starts, [length]])))

    def _number(self, static: list[npt.NDArray[np.int64]], length: int) -> npt.NDArray[np.uint32]:
        hashed = _hashed(static, self._seeds, length)
        if len(self._hashes):
            place = np.searchsorted(self._hashes, hashed)
            place[place == len(self._hashes)] = 0
            known = self._hashes[place] == hashed
        else:
            place, known = np.zeros(length, np.int64), np.zeros(length, bool)
        if not known.all():
            fresh, first = np.unique(hashed[~known], return_index=True)
            rows = np.flatnonzero(~known)[first]
            order = np.argsort(rows, kind="stable")  # numbered in the order in which they are met
            numbers = np.empty(len(fresh), np.uint32)
            numbers[order] = np.arange(len(self.rows), len(self.rows) + len(fresh), dtype=np.uint32)
            self.rows = np.concatenate([self.rows, np.stack([column[rows[order]] for column in static], axis=1)])
            everything = np.concatenate([self._hashes, fresh])
            sorting = np.argsort(everything, kind="stable")
            self._hashes = everything[sorting]
            self._numbers = np.concatenate([self._numbers, numbers])[sorting]
            place = np.searchsorted(self._hashes, hashed)
        return self._numbers[place]


class Texts:
    """For reading: the numbers that calls and signatures have in the reader's interner."""

    def __init__(
        self, calls: list[str], templates: list[str], interner: Interner, known: dict[str, int] | None = None
    ) -> None:
        self._calls = np.array([interner.string(name) if name else UNKNOWN_ID for name in calls], np.uint32)
        self._templates = templates
        self._places = [places_in(template) for template in templates]
        self._interner = interner
        self._known = {} if known is None else known
        self._known[""] = UNKNOWN_ID
        self._seeds = np.array([randbits(63) * 2 + 1 for _ in range(1 + INTEGERS)], np.uint64)

    def calls(self, calls: npt.NDArray[np.int64]) -> npt.NDArray[np.uint32]:
        """Returns string numbers, uint32[n], of the section's calls."""
        return self._calls[calls]

    def signatures(self, template: npt.NDArray[np.int64], integers: npt.NDArray[np.int64]) -> npt.NDArray[np.uint32]:
        """Returns signature numbers, uint32[n], of templates and their integers."""
        rows = np.concatenate([template[:, None], integers], axis=1)
        hashed = _hashed([template, *integers.T], self._seeds, len(rows))
        _, first, inverse = np.unique(hashed, return_index=True, return_inverse=True)
        found = [self._signature(row[0], row[1:]) for row in rows[first].tolist()]
        return np.array(found, np.uint32)[inverse.reshape(-1)]

    def _signature(self, template: int, integers: list[int]) -> int:
        text = put_together(self._templates[template], integers[: self._places[template]])
        number = self._known.get(text)
        if number is None:
            number = self._known[text] = self._interner.new_signature(text)
        return number


def _hashed(columns: list[npt.NDArray[np.int64]], seeds: npt.NDArray[np.uint64], length: int) -> npt.NDArray[np.uint64]:
    """Hashes rows, uint64[length]; all bits of a value count, also where only the upper ones differ."""
    hashed = np.zeros(length, np.uint64)
    for column, seed in zip(columns, seeds, strict=False):  # one seed a column; there may be more
        hashed = (hashed ^ (np.ascontiguousarray(column).view(np.uint64) * seed)) * np.uint64(0x9E3779B97F4A7C15)
        hashed ^= hashed >> np.uint64(31)
    return hashed


def _defined(numbers: npt.NDArray[Any], count: int) -> npt.NDArray[np.int64]:
    """Numbers with 0 for those that were never defined: tables are as long as the highest."""
    wide = numbers.astype(np.int64)
    return np.where(wide < count, wide, UNKNOWN_ID) if len(wide) and int(wide.max()) >= count else wide


def first_met(numbers: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Returns the distinct numbers in the order in which they are first met."""
    distinct, first = np.unique(numbers.astype(np.int64), return_index=True)
    return distinct[np.argsort(first, kind="stable")]
