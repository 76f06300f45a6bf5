"""Columns of single-table event logs: those of [DFG], and those that process mining tools need."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from .log import EventLog, LogCase

COLUMNS: Final = (
    "case:concept:name", "concept:name", "time:timestamp", "cid", "host", "rid", "pid", "tid", "call", "start", "dur",
    "fp", "size", "clock", "depth",
)  # fmt: skip
"""Start and dur are nanoseconds."""

PIECE: Final = 65_536


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
