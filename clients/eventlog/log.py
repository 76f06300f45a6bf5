"""Event logs ([DFG]): the events of each case, for other tools and for reading back, and as columns of one table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

COLUMNS: Final = (
    "case:concept:name", "concept:name", "time:timestamp", "cid", "host", "rid", "pid", "tid", "call", "start", "dur",
    "fp", "size", "clock", "depth",
)  # fmt: skip
"""Start and dur are nanoseconds."""

PIECE: Final = 65_536
Ints = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True)
class LogCase:
    """The events of one case in order of time, columns of equal length.

    Attributes:
        name: unique in the log; ``cid_host_rid`` for a traced program.
        command: cid in [DFG], "" where unknown.
        rank: rid in [DFG], -1 where unknown.
        clock: whether ``start`` is Unix time; otherwise its zero is unknown.
        call: index into ``EventLog.calls``.
        start: ns.
        duration: ns.
        file: index into ``EventLog.files``.
        size: bytes moved by a read or write; -1 for others, such as failed calls.
        activity: index into ``EventLog.activities``; -1 for an event that the mapping drops.
        depth: number of enclosing calls of other layers.
        more: further columns of ``schema.COLUMNS`` by name, and ``file_type``; only in HDF5.
        facts: further data of the case (job, user, step, pid); only in HDF5.
    """

    name: str
    command: str
    host: str
    rank: int
    clock: bool
    pid: Ints
    tid: Ints
    ranks: Ints
    call: Ints
    start: Ints
    duration: Ints
    file: Ints
    size: Ints
    activity: Ints
    depth: Ints
    more: Mapping[str, Ints] = field(default_factory=dict)
    facts: Mapping[str, str | int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EventLog:
    """Cases, and the texts of their numbers."""

    calls: Sequence[str]
    files: Sequence[str]
    activities: Sequence[str]
    cases: Sequence[LogCase]


def pieces(log: EventLog) -> Iterator[tuple[LogCase, npt.NDArray[np.intp]]]:
    """Yield cases and the rows of their events with an activity, in pieces."""
    for case in log.cases:
        rows = np.flatnonzero(case.activity >= 0)
        for begin in range(0, len(rows), PIECE):
            yield case, rows[begin : begin + PIECE]


def iso_times(start: npt.NDArray[Any]) -> list[str]:
    """Return times as ISO 8601 text with nanoseconds."""
    stamps: list[str] = np.datetime_as_string(start.astype("datetime64[ns]"), unit="ns").tolist()
    return [f"{text}+00:00" for text in stamps]


def lookup_texts(numbers: npt.NDArray[Any], table: Sequence[str]) -> list[str]:
    """Return the text of each number."""
    return [table[number] for number in numbers.tolist()]
