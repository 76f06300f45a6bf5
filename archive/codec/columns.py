"""Columns of a call. Groups are values that stay constant from call to call; fields are integers that grow."""

from __future__ import annotations

from secrets import randbits
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ...events.batch import EventBatch, make_batch
from ...events.definitions import Interner
from ...events.schema import UNKNOWN_ID
from ..integers.number_templates import insert_integers, integer_count

INTEGERS: Final = 6
"""Number of integers of a signature that become fields; further ones stay in its template."""
_INTEGERS: Final = tuple(f"integer{i}" for i in range(INTEGERS))
FIELDS: Final = ("handle", "parent", "file", *_INTEGERS, "offset", "requested", "missing")
"""The fields of a call in the order of the coder. The last three are coded by handle.

``missing`` is the number of requested bytes that were not moved, which usually stays constant when sizes vary.
"""
FIRST_OF_HANDLE: Final = FIELDS.index("offset")
STATIC: Final = ("call", "layer", "kind", "depth", "errno", "flags", "template", "thread")
"""The columns of a group."""


def join(
    rows: npt.NDArray[np.int64],
    threads: npt.NDArray[np.int64],
    fields: npt.NDArray[np.int64],
    start: npt.NDArray[np.int64],
    duration: npt.NDArray[np.int64],
    texts: Texts,
) -> EventBatch:
    """Reassemble n calls, in the reader's numbers: the inverse of ``splitter.Splitter.split``.

    Args:
        rows: the columns ``STATIC`` of each call's group, int64[n, 8].
        threads: (pid, tid, rank) by number of the thread, int64[threads, 3].
        fields: int64[n, 12].
        start: int64[n].
        duration: int64[n].
        texts: texts of the section.
    """
    columns: dict[str, Any] = {name: rows[:, place] for place, name in enumerate(STATIC[:-2])}
    columns.update({name: fields[:, i] for i, name in enumerate(FIELDS[:-1]) if name not in _INTEGERS})
    columns["bytes"] = fields[:, -2] - fields[:, -1]
    of_thread = threads[rows[:, -1]]
    columns.update(pid=of_thread[:, 0], tid=of_thread[:, 1], rank=of_thread[:, 2], start=start, duration=duration)
    columns["call"] = texts.calls(rows[:, 0])
    if texts.with_signatures:
        columns["signature"] = texts.signatures(rows[:, -2], fields[:, 3 : 3 + INTEGERS])
    return make_batch(len(rows), columns)


class Texts:
    """For reading: the numbers of calls and signatures in the reader's interner."""

    def __init__(
        self,
        calls: list[str],
        templates: list[str],
        interner: Interner,
        known: dict[str, int] | None = None,
        *,
        with_signatures: bool = True,
    ) -> None:
        self.with_signatures = with_signatures
        self._calls = np.array([interner.string(name) if name else UNKNOWN_ID for name in calls], np.uint32)
        self._templates = templates
        self._places = [integer_count(template) for template in templates]
        self._interner = interner
        self._known = {} if known is None else known
        self._known[""] = UNKNOWN_ID
        self._seeds = np.array([randbits(63) * 2 + 1 for _ in range(1 + INTEGERS)], np.uint64)

    def calls(self, calls: npt.NDArray[np.int64]) -> npt.NDArray[np.uint32]:
        """Return string numbers, uint32[n], of the section's calls."""
        return self._calls[calls]

    def signatures(self, template: npt.NDArray[np.int64], integers: npt.NDArray[np.int64]) -> npt.NDArray[np.uint32]:
        """Return signature numbers, uint32[n], of templates and their integers."""
        rows = np.concatenate([template[:, None], integers], axis=1)
        hashed = _hashed([template, *integers.T], self._seeds, len(rows))
        _, first, inverse = np.unique(hashed, return_index=True, return_inverse=True)
        found = [self._signature(row[0], row[1:]) for row in rows[first].tolist()]
        return np.array(found, np.uint32)[inverse.reshape(-1)]

    def _signature(self, template: int, integers: list[int]) -> int:
        text = insert_integers(self._templates[template], integers[: self._places[template]])
        number = self._known.get(text)
        if number is None:
            number = self._known[text] = self._interner.new_signature(text)
        return number


def _hashed(columns: list[npt.NDArray[np.int64]], seeds: npt.NDArray[np.uint64], length: int) -> npt.NDArray[np.uint64]:
    """Hash rows, uint64[length]; every bit of a value affects the hash, including the upper ones."""
    hashed = np.zeros(length, np.uint64)
    for column, seed in zip(columns, seeds, strict=False):  # one seed per column; there may be more seeds
        hashed = (hashed ^ (np.ascontiguousarray(column).view(np.uint64) * seed)) * np.uint64(0x9E3779B97F4A7C15)
        hashed ^= hashed >> np.uint64(31)
    return hashed
