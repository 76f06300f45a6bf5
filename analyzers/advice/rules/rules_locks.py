"""Rules for locks and control calls on open files, and for databases that are locked for each query."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from ....events import Kind
from ....events.counted_text import counted
from ...common.texts import duration_text
from ..call_statistics import LIBRARIES, Calls
from ..keys import CONTROL
from .claims import Claim, FindingText, Group
from .rules_metadata import FEW, LOG_ENDINGS, LOOKS

_QUERIES: Final = 1.02  # factor on gains that makes these claims win over look-ups of names in general


def locks(calls: Calls) -> Iterator[Claim]:
    """Report files with many locks or control calls.

    Databases that are locked for each query have a separate text.
    """
    control = (calls.kind == CONTROL) & ~np.isin(calls.layer, LIBRARIES) & (calls.file > 0)
    yield from _of_databases(calls, control)
    times = calls.by_file(calls.calls, control)
    rows = np.flatnonzero(control & (times[calls.file] >= LOOKS))
    if not len(rows):
        return

    def words(group: Group) -> FindingText:
        each = int(calls.ns[group.rows].sum()) / max(group.calls_made, 1) / 1e9
        return FindingText(
            title=f"{counted(group.calls_made, 'calls')} that lock or control a file and move no data (fcntl, flock, "
            f"ioctl): {group.where}",
            why=f"Each takes {duration_text(each)}, on a parallel file system a lock is a request to a server.",
            change="Lock a file once for many accesses; request the state of a file once and remember it.",
            short="lock once for many accesses",
        )

    yield Claim(
        "metadata", rows, calls.ns[rows] * FEW, calls.statistics.place_of[calls.file[rows]], words, ends_calls=True
    )


def _of_databases(calls: Calls, control: np.typing.NDArray[np.bool_]) -> Iterator[Claim]:
    files = calls.statistics.files
    numbers = {info.path: at for at, info in enumerate(files)}
    of = np.zeros(len(files), np.int64)
    for at, info in enumerate(files):
        for ending in LOG_ENDINGS:
            base = numbers.get(info.path.removesuffix(ending), 0) if info.path.endswith(ending) else 0
            if base:
                of[at] = of[base] = base
    if not of.any():
        return
    looks = ((calls.kind == int(Kind.OTHER)) & ~np.isin(calls.layer, LIBRARIES) & (calls.file > 0)) | control
    locked = np.bincount(of, calls.by_file(calls.calls, control))
    rows = np.flatnonzero(looks & (of[calls.file] > 0))
    rows = rows[locked[of[calls.file[rows]]] >= LOOKS]
    if not len(rows):
        return

    def words(group: Group) -> FindingText:
        base = files[int(of[group.calls.file[group.rows][0]])].path
        each = int(calls.ns[group.rows].sum()) / max(group.calls_made, 1) / 1e9
        return FindingText(
            title=f"{group.calls_made:,} locks and look-ups of the database {base}",
            why="Outside of a transaction, SQLite locks the database and looks for its log at each query: "
            f"{duration_text(each)} per call, on a network file system a round trip.",
            change="Put many queries and changes into one transaction (BEGIN ... COMMIT). For a database that one "
            "process uses alone, PRAGMA locking_mode=EXCLUSIVE.",
            short="put many queries into one transaction",
        )

    yield Claim("metadata", rows, calls.ns[rows] * FEW * _QUERIES, of[calls.file[rows]], words, ends_calls=True)
