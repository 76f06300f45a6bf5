"""Event logs that are one table: rows of all cases, each with the name of its case."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ..source import SourceItem
from ._eventlog_cases import NUMBERS, CaseInfo, CaseStreams

NEEDED: Final = frozenset(("case:concept:name", "call", "start", "dur"))
EXPECTED_COLUMNS: Final = "columns case:concept:name, call, start and dur in nanoseconds (and pid, tid, rid, fp, size)"


class TableCases:
    """Hands the rows of a table to the streams of their cases."""

    def __init__(self, streams: CaseStreams) -> None:
        self._streams = streams

    def take(self, columns: dict[str, Any], first: int) -> list[SourceItem]:
        """Makes events of rows.

        Args:
            columns: int64 arrays start, dur, pid, tid, rid, size; lists of str case:concept:name, call, fp, cid, host,
                clock; those of NEEDED at least.
            first: number of the first row, for messages.
        """
        names: list[str] = columns["case:concept:name"]
        items: list[SourceItem] = []
        begin = 0
        changes = [row for row in range(1, len(names)) if names[row] != names[row - 1]]
        for end in [*changes, len(names)]:
            if end > begin:
                items += self._take_run(columns, slice(begin, end), first + begin)
            begin = end
        return items

    def _take_run(self, columns: dict[str, Any], rows: slice, first: int) -> list[SourceItem]:
        name: str = columns["case:concept:name"][rows.start]
        ranks = columns["rid"][rows] if "rid" in columns else None
        guessed = CaseInfo.of_name(name)
        rank = guessed.rank if ranks is None else int(ranks[0])
        info = CaseInfo(
            name,
            columns["cid"][rows.start] if "cid" in columns else guessed.command,
            columns["host"][rows.start] if "host" in columns else guessed.host,
            rank if -1 <= rank < 2**31 else -1,
            columns["clock"][rows.start] == "unix" if "clock" in columns else True,
        )
        numbers: dict[str, Any] = {key: columns[key][rows] for key in NUMBERS if key in columns}
        if ranks is not None:
            numbers["rank"] = np.asarray(ranks)
        calls = columns["call"][rows]
        files = columns["fp"][rows] if "fp" in columns else [""] * len(calls)
        return self._streams.take(info, numbers, calls, files, first)
