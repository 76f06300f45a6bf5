"""Event logs as CSV for pm4py: one event per line."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from .log import COLUMNS, EventLog, iso_times, lookup_texts, pieces

_ESCAPES: Final = str.maketrans({"\\": "\\\\", "\n": "\\n", "\r": "\\r"})


def write_csv(target: Path, log: EventLog) -> None:
    """Write the events with an activity, one line each. Line breaks within a path become ``\\n``.

    Raises:
        OSError: the file cannot be written.
    """
    calls, files, activities = (_lines(table) for table in (log.calls, log.files, log.activities))
    with target.open("w", newline="", encoding="utf-8", errors="backslashreplace") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(COLUMNS)
        for case, rows in pieces(log):
            same = itertools.repeat
            name, command, host = _lines([case.name, case.command, case.host])
            writer.writerows(
                zip(
                    same(name),
                    lookup_texts(case.activity[rows], activities),
                    iso_times(case.start[rows]),
                    same(command),
                    same(host),
                    case.ranks[rows].tolist(),
                    case.pid[rows].tolist(),
                    case.tid[rows].tolist(),
                    lookup_texts(case.call[rows], calls),
                    case.start[rows].tolist(),
                    case.duration[rows].tolist(),
                    lookup_texts(case.file[rows], files),
                    case.size[rows].tolist(),
                    same("unix" if case.clock else "unknown"),
                    case.depth[rows].tolist(),
                    strict=False,
                )
            )


def _lines(table: Sequence[str]) -> list[str]:
    return [text.translate(_ESCAPES) for text in table]
