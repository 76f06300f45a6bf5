"""What of a call stays the same from call to call, and what is an integer that grows: groups and fields."""

from __future__ import annotations

from dataclasses import dataclass, field
from secrets import randbits
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ..batch import EventBatch, make_batch
from ..definitions import Interner
from ..schema import UNKNOWN_ID
from .templates import Templates, places_in, put_together

INTEGERS: Final = 6
"""Integers of a signature that are fields; further ones stay in its template."""
FIELDS: Final = ("handle", "parent", "file", *(f"integer{i}" for i in range(INTEGERS)), "offset", "requested", "bytes")
"""The fields of a call, in the order in which the coder has them; the last three are coded by handle."""
FIRST_OF_HANDLE: Final = FIELDS.index("offset")
STATIC: Final = ("call", "layer", "kind", "rank", "depth", "errno", "flags", "template", "thread")
"""The columns of a group."""


@dataclass(slots=True)
class Groups:
    """The groups of one stream, numbered as they come.

    Attributes:
        rows: the group's STATIC columns, int64[len, 9].
        threads: (pid, tid) by thread number.
    """

    rows: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, len(STATIC)), np.int64))
    threads: list[tuple[int, int]] = field(default_factory=list)
    templates: Templates = field(default_factory=lambda: Templates(INTEGERS))
    _hashes: npt.NDArray[np.uint64] = field(default_factory=lambda: np.zeros(0, np.uint64))
    _numbers: npt.NDArray[np.uint32] = field(default_factory=lambda: np.zeros(0, np.uint32))
    _thread_numbers: dict[tuple[int, int], int] = field(default_factory=dict)
    _seeds: npt.NDArray[np.uint64] = field(
        default_factory=lambda: np.array([randbits(63) * 2 + 1 for _ in STATIC], np.uint64)
    )
    """Of the hash; drawn, so that no trace can be made to collide."""

    def __len__(self) -> int:
        return len(self.rows)

    def split(self, batch: EventBatch, strings: list[str]) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]:
        """Returns the calls' groups, uint32[n], and fields, int64[n, 12].

        Args:
            batch: calls in the stream's numbers.
            strings: the stream's strings by number.
        """
        length = len(batch)
        template, integers = self.templates.of(batch.signature.astype(np.uint32, copy=False), strings)
        columns = [batch.call, batch.layer, batch.kind, batch.rank, batch.depth, batch.errno, batch.flags]
        static = [np.asarray(column, np.int64) for column in columns]
        static += [template, self._threads(batch.pid, batch.tid)]
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
        signatures: SignatureNumbers,
    ) -> EventBatch:
        """Puts calls together again: the inverse of ``split``, but signatures have the reader's numbers."""
        rows = self.rows[groups]
        columns: dict[str, Any] = {name: rows[:, place] for place, name in enumerate(STATIC[:-2])}
        columns.update({name: fields[:, i] for i, name in enumerate(FIELDS) if not name.startswith("integer")})
        threads = np.array(self.threads, np.int64).reshape(len(self.threads), 2)[rows[:, -1]]
        columns.update(pid=threads[:, 0], tid=threads[:, 1], start=start, duration=duration)
        columns["signature"] = signatures.numbers(rows[:, -2], fields[:, 3 : 3 + INTEGERS])
        return make_batch(len(groups), columns)

    def _threads(self, pid: npt.NDArray[Any], tid: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        both = pid.astype(np.int64) << 32 | tid.astype(np.int64) & 0xFFFFFFFF
        if not len(both):
            return both
        change = np.flatnonzero(np.diff(both)) + 1
        starts = np.concatenate([[0], change])
        numbers = []
        for at in starts.tolist():
            key = int(pid[at]), int(tid[at])
            number = self._thread_numbers.setdefault(key, len(self.threads))
            if number == len(self.threads):
                self.threads.append(key)
            numbers.append(number)
        return np.repeat(np.array(numbers, np.int64), np.diff(np.concatenate([starts, [len(both)]])))

    def _number(self, static: list[npt.NDArray[np.int64]], length: int) -> npt.NDArray[np.uint32]:
        hashed = np.zeros(length, np.uint64)
        for column, seed in zip(static, self._seeds, strict=True):
            hashed = (hashed ^ (column.view(np.uint64) * seed)) * np.uint64(0x9E3779B97F4A7C15)
            hashed ^= hashed >> np.uint64(31)
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


class SignatureNumbers:
    """For reading: string numbers of signatures from their templates and integers, given by the reader's interner."""

    def __init__(self, templates: list[str], interner: Interner) -> None:
        self._templates = templates
        self._places = [places_in(template) for template in templates]
        self._interner = interner
        self._seeds = np.array([randbits(63) * 2 + 1 for _ in range(1 + INTEGERS)], np.uint64)

    def numbers(self, template: npt.NDArray[np.int64], integers: npt.NDArray[np.int64]) -> npt.NDArray[np.uint32]:
        """Returns string numbers, uint32[n]."""
        rows = np.concatenate([template[:, None], integers], axis=1)
        hashed = (rows.view(np.uint64) * self._seeds).sum(axis=1, dtype=np.uint64)
        _, first, inverse = np.unique(hashed, return_index=True, return_inverse=True)
        found = [
            self._interner.string(put_together(self._templates[row[0]], row[1 : 1 + self._places[row[0]]]))
            if row[0]
            else UNKNOWN_ID
            for row in rows[first].tolist()
        ]
        return np.array(found, np.uint32)[inverse.reshape(-1)]
