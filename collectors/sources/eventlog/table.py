"""Event logs that are one table. It has the rows of all cases, each with the name of its case."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ...source import SourceItem
from .cases import NUMBERS, CaseInfo, CaseStreams

NEEDED: Final = frozenset(("case:concept:name", "call", "start", "dur"))
EXPECTED_COLUMNS: Final = "columns case:concept:name, call, start and dur in nanoseconds (and pid, tid, rid, fp, size)"


class TableCases:
    """Assigns the rows of a table to the streams of their cases."""

    def __init__(self, streams: CaseStreams) -> None:
        self._streams = streams

    def take(self, columns: dict[str, Any], first: int) -> list[SourceItem]:
        """Convert rows to events.

        Args:
            columns: int64 arrays start, dur, pid, tid, rid, size; lists of str case:concept:name, call, fp, cid, host,
                clock; at least those of NEEDED.
            first: number of the first row, for messages.
        """
        names: list[str] = columns["case:concept:name"]
        numbers: dict[str, int] = {}
        codes = np.fromiter((numbers.setdefault(name, len(numbers)) for name in names), np.int64, len(names))
        if len(numbers) == 1:
            return self._take_case(columns, np.arange(first, first + len(names)))
        order = np.argsort(codes, kind="stable")
        edges = np.cumsum(np.bincount(codes, minlength=len(numbers)))[:-1]
        items: list[SourceItem] = []
        for rows in np.split(order, edges):
            items += self._take_case({name: _rows(column, rows) for name, column in columns.items()}, rows + first)
        return items

    def _take_case(self, columns: dict[str, Any], rows: npt.NDArray[np.int64]) -> list[SourceItem]:
        name: str = columns["case:concept:name"][0]
        ranks = columns.get("rid")
        guessed = CaseInfo.of_name(name)
        rank = guessed.rank if ranks is None else int(ranks[0])
        info = CaseInfo(
            name,
            columns["cid"][0] if "cid" in columns else guessed.command,
            columns["host"][0] if "host" in columns else guessed.host,
            rank if -1 <= rank < 2**31 else -1,
            columns["clock"][0] == "unix" if "clock" in columns else True,
        )
        numbers: dict[str, Any] = {key: columns[key] for key in NUMBERS if key in columns}
        if ranks is not None:
            numbers["rank"] = ranks
        calls = columns["call"]
        files = columns["fp"] if "fp" in columns else [""] * len(calls)
        return self._streams.take(info, numbers, calls, files, rows)


def _rows(column: Any, rows: npt.NDArray[np.int64]) -> Any:
    return column[rows] if isinstance(column, np.ndarray) else [column[row] for row in rows.tolist()]
