"""The processes of a Chrome trace: their facts, and the batches of their calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ....events import COLUMNS, EventBatch, FileInfo, FileType, Flag, Interner, Kind, StreamInfo, make_batch
from ....events.definitions import MAX_TEXT
from ...source import Input
from ...text_numbers import TextNumbers
from .._nesting import nesting_depths
from .calls import NO_ARGUMENTS, Arguments, Event, Meaning, is_unix, numbers, paths, times

_LATEST_NS: Final = 2**62
_LARGEST_ID: Final = 2**31 - 1
_TYPES: Final = {kind.name: kind for kind in FileType}


@dataclass(frozen=True, slots=True)
class Clock:
    """Origin of a trace's stamps."""

    zero_ns: int
    unix: bool
    by_iotide: bool
    """The trace was written by iotide."""

    @classmethod
    def of(cls, head: dict[str, Any], first: Event) -> Clock:
        """Determine the origin from the text before the events, otherwise from the first event."""
        other = head.get("otherData")
        begin = _stamp(other.get("begin_unix_ns") if isinstance(other, dict) else None)
        if begin is not None:
            return cls(begin, True, True)
        return cls(0, is_unix(first.ts), False)


@dataclass(slots=True)
class Process:
    """A process, and its stream once it has made a call."""

    pid: Any
    stream: str = ""
    own_arguments: Arguments = field(default_factory=Arguments)
    """Arguments of its ``process_name`` event."""
    interner: Interner = field(default_factory=Interner)
    _files: TextNumbers[str] = field(init=False)
    _signatures: TextNumbers[str] = field(init=False)

    def __post_init__(self) -> None:
        self._files = TextNumbers(self.interner.file)
        self._signatures = TextNumbers(lambda text: self.interner.new_signature(text) if text else 0)

    def info(self, about: Input, clock: Clock) -> StreamInfo:
        """Return the StreamInfo of its stream."""
        origin, says = about.origin, self.own_arguments
        return StreamInfo(
            job=_text(says.job) or origin.job,
            source="chrome",
            host=_text(says.host) or origin.host,
            user=_text(says.user) or origin.user,
            step=_text(says.step),
            command=_text(says.command) or ("" if clock.by_iotide else _text(says.name)),
            rank=_id(says.rank),
            pid=self._own_pid(clock),
            origin=about.name,
            clock_offset_ns=0 if clock.unix and says.clock != "own" else None,
        )

    def batch(
        self, events: Sequence[Event], meanings: Sequence[Meaning | None], clock: Clock
    ) -> tuple[EventBatch, npt.NDArray[np.bool_]]:
        """Return a batch of calls. The mask marks those with impossible numbers, which must be left out."""
        arguments = [event.args or NO_ARGUMENTS for event in events]
        call, layer, kind = self._called(meanings)
        start, duration = times([event.ts for event in events]), times([event.dur for event in events])
        own_zero = (
            _stamp(self.own_arguments.begin_ns) if clock.by_iotide and self.own_arguments.clock == "own" else None
        )
        zero_ns = clock.zero_ns if own_zero is None else own_zero
        bad = (start < 0) | (duration < 0) | (start > _LATEST_NS - zero_ns)
        columns: dict[str, npt.NDArray[Any]] = dict(numbers(arguments, kind, by_iotide=clock.by_iotide))
        columns |= self._process_columns(columns, _threads(events), clock)
        if not clock.by_iotide:
            if "depth" not in columns:
                columns["depth"] = nesting_depths(start, duration, columns["tid"], layer)
            columns |= _moved(columns, kind)
        for name, column in columns.items():
            limits = np.iinfo(COLUMNS[name][0])
            lowest, highest = (0, _LATEST_NS) if name == "bytes" else (limits.min, limits.max)
            bad |= (column < lowest) | (column > highest)
        columns = {name: np.where(bad, 0, column) for name, column in columns.items()}
        columns["start"], columns["duration"] = np.where(bad, 0, start + zero_ns), np.where(bad, 0, duration)
        columns["call"], columns["layer"], columns["kind"] = call, layer, kind
        columns["file"] = self._numbered_files(arguments, clock)
        signatures = [each.signature if type(each.signature) is str else "" for each in arguments]
        columns["signature"] = self._signatures.of(signatures)
        return make_batch(len(events), columns), bad

    def _numbered_files(self, arguments: Sequence[Arguments], clock: Clock) -> npt.NDArray[np.uint32]:
        named = paths(arguments, by_iotide=clock.by_iotide)
        for path, each in zip(named, arguments, strict=True):
            if type(each.file_type) is str and each.file_type in _TYPES:
                self.interner.file(path, FileInfo(path[:MAX_TEXT], _TYPES[each.file_type]))
        return self._files.of(named)

    def _called(self, meanings: Sequence[Meaning | None]) -> tuple[npt.NDArray[Any], ...]:
        """Return number, layer and kind of each call."""
        places: dict[Meaning | None, int] = {}
        codes = [places.setdefault(meaning, len(places)) for meaning in meanings]
        rows = [(self.interner.string(each.call), each.layer, each.kind) for each in places if each is not None]
        table = np.array(rows, np.int64)[codes]
        return table[:, 0], table[:, 1], table[:, 2]

    def _process_columns(
        self, columns: dict[str, npt.NDArray[Any]], tid: npt.NDArray[np.int64], clock: Clock
    ) -> dict[str, Any]:
        """Fill in pid, tid and rank for calls that do not have them."""
        unsaid = np.full(len(tid), -1)
        pid = columns.get("pid", unsaid)
        pid = np.where(pid < 0, self._own_pid(clock), pid)
        rank = columns.get("rank", unsaid)
        return {
            "pid": pid,
            "tid": np.where(tid < 0, pid, tid),
            "rank": np.where(rank < 0, _id(self.own_arguments.rank), rank),
        }

    def _own_pid(self, clock: Clock) -> int:
        return max(_id(self.own_arguments.pid if clock.by_iotide else self.pid), 0)


def _stamp(text: Any) -> int | None:
    """Return a time in ns that is written as text. Returns None if it is not a time."""
    if isinstance(text, str) and text.isascii() and text.isdigit() and int(text[:20]) < _LATEST_NS:
        return int(text[:20])
    return None


def hashable(value: Any) -> Any:
    """Return the name of a process or thread as a dictionary key."""
    return value if type(value) in (int, str) else str(value)


def _moved(columns: dict[str, npt.NDArray[Any]], kind: npt.NDArray[Any]) -> dict[str, npt.NDArray[Any]]:
    """Return the moved bytes of calls.

    The return value is a byte count only if the call moves data and did not fail.
    """
    if "bytes" not in columns:
        return {}
    failed = columns["bytes"] < 0
    moves = (kind == Kind.READ) | (kind == Kind.WRITE)
    return {
        "bytes": np.where(moves & ~failed, columns["bytes"], 0),
        "flags": np.where(failed, int(Flag.FAILED), 0),
    }


def _threads(events: Sequence[Event]) -> npt.NDArray[np.int64]:
    return np.array([tid if type(tid := event.tid) is int and 0 <= tid <= _LARGEST_ID else -1 for event in events])


def _text(value: Any) -> str:
    return value if type(value) is str else ""


def _id(value: Any) -> int:
    return value if type(value) is int and 0 <= value <= _LARGEST_ID else -1
