"""Convert the columns of an event log to streams and batches of its cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ....events import (
    EventBatch,
    FileInfo,
    FileType,
    Flag,
    Interner,
    Kind,
    Layer,
    StreamInfo,
    make_batch,
)
from ....events.definitions import MAX_TEXT
from ....events.network.wire import MAX_BATCH_EVENTS
from ...call_classes import classify
from ...source import Chunk, Closed, Input, Opened, SourceItem
from ...text_numbers import TextNumbers
from ..strace.parser import name_parts

LATEST_NS: Final = 2**62
MAX_STREAMS: Final = 100_000
NUMBERS: Final[tuple[str, ...]] = ("pid", "tid", "rank", "start", "dur", "size", "depth")
MORE: Final[tuple[str, ...]] = (
    "layer", "kind", "handle", "parent", "offset", "requested", "bytes", "errno", "flags", "signature", "file_type",
)  # fmt: skip
"""iotide's additional columns of HDF5 logs. Each replaces a value that would be derived from the other columns."""
_IDS: Final = ("pid", "tid", "rank")
_LARGEST_ID: Final = 2**31 - 1
_TYPES: Final = frozenset(map(int, FileType))
_LIMITS: Final = {
    "depth": (-1, 2**8 - 1), "layer": (0, int(max(Layer))), "kind": (0, int(max(Kind))), "handle": (0, 2**32 - 1),
    "parent": (0, 2**32 - 1), "errno": (0, 2**16 - 1), "flags": (0, 2**16 - 1),
}  # fmt: skip

Columns = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True, slots=True)
class CaseInfo:
    """Facts about a case."""

    name: str
    command: str = ""
    host: str = ""
    rank: int = -1
    clock: bool = True
    job: str = ""
    user: str = ""
    step: str = ""
    pid: int = 0

    @classmethod
    def of_name(cls, name: str) -> CaseInfo:
        """Derive the facts from a name ``cid_host_rid``, as for a trace file."""
        command, host, rank = name_parts(f"{name}.st")
        return cls(name, command, host, rank)


class _Case:
    """Numbers assigned in one stream, with layer and kind by number of the call."""

    def __init__(self, stream: str) -> None:
        self.stream = stream
        self.interner = Interner()
        self.layers = np.zeros(64, np.uint8)
        self.kinds = np.zeros(64, np.uint8)
        self.calls = TextNumbers[str](self._call)
        self.files = TextNumbers[str](self.interner.file)
        self.signatures = TextNumbers[str](lambda text: self.interner.new_signature(text) if text else 0)

    def _call(self, call: str) -> int:
        number = self.interner.string(call)
        if number >= len(self.kinds):
            self.layers = np.concatenate((self.layers, np.zeros_like(self.layers)))
            self.kinds = np.concatenate((self.kinds, np.zeros_like(self.kinds)))
        if number:
            self.layers[number], self.kinds[number] = classify(call)
        return number


class CaseStreams:
    """One stream for each case of a log."""

    def __init__(self, about: Input, source: str) -> None:
        self._about = about
        self._source = source
        self._cases: dict[str, _Case] = {}

    def take(
        self,
        info: CaseInfo,
        numbers: Columns,
        calls: Sequence[str],
        files: Sequence[str],
        places: npt.NDArray[np.int64],
        signatures: Sequence[str] = (),
    ) -> list[SourceItem]:
        """Convert rows of one case to events.

        Args:
            info: the case.
            numbers: columns by name: start and dur (ns), and any others of NUMBERS and MORE.
            calls: call name of each row.
            files: path of each row's file, "" if there is none.
            places: number of each row in the log, for messages.
            signatures: texts of the column ``signature``, from number 1.
        """
        items: list[SourceItem] = []
        case = self._cases.get(info.name)
        if case is None:
            if len(self._cases) >= MAX_STREAMS:
                self._about.left_out(len(calls), "cases", MAX_STREAMS)
                return items
            self._cases[info.name] = case = _Case(self._about.stream(self._source, info.name))
            items.append(Opened(case.stream, self._info(info)))
        keep = self._sane(numbers, calls, places)
        batch = _batch(case, info, numbers, calls, files, signatures)
        if not keep.all():
            batch = batch.select(keep)
        self._about.counters["events"] += len(batch)
        for begin in range(0, len(batch), MAX_BATCH_EVENTS):
            part = batch.select(slice(begin, begin + MAX_BATCH_EVENTS))
            items.append(Chunk(case.stream, part, case.interner.take_fresh()))
        return items

    def close(self) -> list[SourceItem]:
        """Close all streams."""
        items: list[SourceItem] = [Closed(case.stream) for case in self._cases.values()]
        self._cases.clear()
        return items

    def _info(self, info: CaseInfo) -> StreamInfo:
        origin = self._about.origin
        return StreamInfo(
            job=info.job or origin.job,
            source=self._source,
            host=info.host or origin.host,
            user=info.user or origin.user,
            step=info.step,
            pid=info.pid,
            command=info.command,
            rank=info.rank,
            origin=self._about.name,
            clock_offset_ns=0 if info.clock else None,
        )

    def _sane(self, numbers: Columns, calls: Sequence[str], places: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        start, duration = numbers["start"], numbers["dur"]
        keep: npt.NDArray[np.bool_] = (
            (start >= 0) & (start <= LATEST_NS) & (duration >= 0) & (duration <= LATEST_NS) & np.array(calls, np.bool_)
        )
        if "size" in numbers:
            keep &= numbers["size"] <= LATEST_NS
        for name in ("depth", *MORE):
            if name in numbers:
                lowest, most = _LIMITS.get(name, (-1, LATEST_NS))
                keep &= (numbers[name] >= lowest) & (numbers[name] <= most)
        for name in _IDS:
            if name in numbers:
                keep &= (numbers[name] >= -1) & (numbers[name] <= _LARGEST_ID)
        for row in np.flatnonzero(~keep).tolist():
            values = ", ".join(f"{name} {column[row]}" for name, column in numbers.items())
            self._about.malformed(
                int(places[row]), f"call {calls[row][:40]!r}, {values}", "a call, and times from 0 on in nanoseconds"
            )
        return keep


def _batch(
    case: _Case, info: CaseInfo, numbers: Columns, calls: Sequence[str], files: Sequence[str], signatures: Sequence[str]
) -> EventBatch:
    call = case.calls.of(calls)
    kind = case.kinds[call]
    moves = (kind == Kind.READ) | (kind == Kind.WRITE)
    size = np.asarray(numbers.get("size", np.zeros(len(calls), np.int64)))
    pid = numbers.get("pid", np.zeros(len(calls), np.int64))
    if "file_type" in numbers:
        for path, stated_type in set(zip(files, numbers["file_type"].tolist(), strict=True)):
            if stated_type in _TYPES:
                case.interner.file(path, FileInfo(path[:MAX_TEXT], FileType(stated_type)))
    columns: dict[str, npt.NDArray[Any]] = {
        "start": numbers["start"],
        "duration": numbers["dur"],
        "call": call,
        "layer": case.layers[call],
        "kind": kind,
        "pid": pid,
        "tid": numbers.get("tid", pid),
        "rank": numbers.get("rank", np.full(len(calls), info.rank)),
        "file": case.files.of(files),
        "bytes": np.where(moves, np.maximum(size, 0), 0),
        "flags": np.where(moves & (size < 0), int(Flag.FAILED), 0),
        "depth": np.maximum(numbers.get("depth", np.zeros(len(calls), np.int64)), 0),
    }
    columns |= {name: numbers[name] for name in MORE if name in numbers and name not in ("signature", "file_type")}
    if "signature" in numbers and signatures:
        texts = ["", *signatures]
        known = np.where(numbers["signature"] < len(texts), np.maximum(numbers["signature"], 0), 0)
        columns["signature"] = case.signatures.of([texts[number] for number in known.tolist()])
    return make_batch(len(calls), columns)
