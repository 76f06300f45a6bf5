"""Event logs ([DFG]): what happened in each case, for other tools, and to be read again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True)
class LogCase:
    """The events of one case in order of time, columns of equal length.

    Attributes:
        name: unique in the log; ``cid_host_rid`` where the case is a traced program.
        command: cid in [DFG], "" where it is not known.
        rank: rid in [DFG], -1 where it is not known.
        clock: whether ``start`` is Unix time; else its zero is not known.
        call: number into ``EventLog.calls``.
        start: ns.
        duration: ns.
        file: number into ``EventLog.files``.
        size: bytes that a read or write moved; -1 where there are none, as for calls that failed.
        activity: number into ``EventLog.activities``; -1 for an event that the mapping drops.
        depth: calls of other layers that each one lies in.
        more: further columns of ``schema.COLUMNS`` by name, and ``file_type``, which only HDF5 has.
        facts: what else is known of the case (job, user, step, pid), which only HDF5 has.
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
    """Cases, and what their numbers mean."""

    calls: Sequence[str]
    files: Sequence[str]
    activities: Sequence[str]
    cases: Sequence[LogCase]
