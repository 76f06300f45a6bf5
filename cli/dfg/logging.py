"""Construction of an event log from the events that a filter selects."""

from __future__ import annotations

from pathlib import PurePath

import numpy as np
import numpy.typing as npt

from ...clients.eventlog.log import EventLog, LogCase
from ...events import concatenate
from ...events.summaries import sizes_of
from ..common.job_names import safe_name, unique_name
from .building import Part, Selection, numbered_activities


def log_of(selection: Selection) -> EventLog:
    """Return the events of each case, in order of time. Cases ordered by their first event."""
    gathered: dict[int, list[tuple[Part, npt.NDArray[np.intp], npt.NDArray[np.int32]]]] = {}
    for part, activity in numbered_activities(selection):
        order = np.argsort(part.case, kind="stable")
        found, begins = np.unique(part.case[order], return_index=True)
        for case, rows in zip(found.tolist(), np.split(order, begins[1:]), strict=True):
            gathered.setdefault(case, []).append((part, rows, activity))
    taken: set[str] = set()
    cases = [_case(selection, case, pieces, taken) for case, pieces in gathered.items()]
    cases.sort(key=lambda case: int(case.start[0]))
    files = [info.path for info in selection.names.files]
    return EventLog(selection.names.calls, files, selection.mapper.names, cases)


def _case(
    selection: Selection,
    number: int,
    pieces: list[tuple[Part, npt.NDArray[np.intp], npt.NDArray[np.int32]]],
    taken: set[str],
) -> LogCase:
    batch = concatenate([part.batch.select(rows) for part, rows, _ in pieces])
    activity = np.concatenate([activity[rows] for _, rows, activity in pieces])
    order = np.argsort(batch.start, kind="stable")
    batch, activity = batch.select(order), activity[order]
    infos = [part.stream.info for part, _, _ in pieces]
    known = {(info.command, info.host) for info in infos}
    command, host = known.pop() if len(known) == 1 else ("", "")
    rank = int(batch.rank[0]) if (batch.rank == batch.rank[0]).all() else -1
    if rank < 0 and len({info.rank for info in infos}) == 1:
        rank = infos[0].rank
    label = selection.cases.label(number, selection.names)
    if selection.cases.case == "stream":
        label = f"{command}_{host}_{rank}" if command and host and rank >= 0 else PurePath(label).name
    return LogCase(
        name=unique_name(safe_name(label), taken),
        command=command,
        host=host,
        rank=rank,
        clock=all(info.clock_offset_ns is not None for info in infos),
        pid=batch.pid,
        tid=batch.tid,
        ranks=np.where(batch.rank < 0, rank, batch.rank),
        call=batch.call,
        start=batch.start,
        duration=batch.duration,
        file=batch.file,
        size=sizes_of(batch),
        activity=activity,
        depth=batch.depth,
    )
