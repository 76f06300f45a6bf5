"""One process of a dftracer trace: its facts, and the batches of its calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import PurePath
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ....events import EventBatch, Flag, Interner, Kind, Layer, StreamInfo, make_batch
from ...source import Input, UnsupportedData
from ...text_numbers import TextNumbers
from .._nesting import bytes_with_nested, nesting_depths
from .records import AGGREGATED, LARGEST_ID, LATEST_NS, NOTHING, Arguments, Record, integers, moved, nanoseconds

_UNITS_NS: Final = {"NS": 1, "US": 1000, "MS": 10**6, "SEC": 10**9}
_SINCE_2000_NS: Final = 946_684_800 * 10**9
_INTERVAL_NS: Final = 10**9
"""Default interval of aggregated records, ns; the trace states another interval only at its end."""
_UPPER: Final = (int(Layer.MPIIO), int(Layer.HDF5))


Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


class Process:
    """Numbers, clock and facts of one process.

    Args:
        pid: process id.
        named: function that returns the text of a hash, or "".
    """

    def __init__(self, pid: int, named: Callable[[Any], str]) -> None:
        self.pid = pid
        self.stream = ""
        self.interner = Interner()
        self._named = named
        self._files_without_name = 0
        self._unit_ns = _UNITS_NS["US"]
        self._unix = True
        self._rank = -1
        self._command = ""
        self._parent_pid = 0
        self._calls = TextNumbers[str](self.interner.string)
        self._paths = TextNumbers[str](self.interner.file)
        self._hashes = TextNumbers[str | int](self._number)
        self._signatures: dict[str, int] = {}

    def learn(self, name: str, value: Any) -> None:
        """Store a fact of a metadata record: the unit of times, or the rank."""
        if name == "time_metric":
            self._unit_ns = _UNITS_NS.get(str(value), _UNITS_NS["US"])
        elif str(value).isdecimal() and int(str(value)[:12]) <= LARGEST_ID:
            self._rank = int(str(value)[:12])

    def started(self, program: str, command: str, parent_pid: Any) -> None:
        """Process the record of the process's start; words of the command are separated by semicolons."""
        self._command = PurePath(command.split(";")[0] if program in ("", "DEFAULT") else program).name
        self._parent_pid = parent_pid if type(parent_pid) is int and 0 <= parent_pid <= LARGEST_ID else 0

    def begin(self, stream: str, first: Record) -> None:
        """Set the name of its stream, and derive its clock from its first call."""
        self.stream = stream
        self._unix = bool(first.ts >= _SINCE_2000_NS // self._unit_ns)

    def info(self, about: Input, host: str) -> StreamInfo:
        """Return the StreamInfo of its stream."""
        return StreamInfo(
            job=about.origin.job,
            source="dftracer",
            host=host or about.origin.host,
            user=about.origin.user,
            command=self._command,
            rank=self._rank,
            pid=self.pid,
            parent_pid=self._parent_pid,
            origin=about.name,
            clock_offset_ns=0 if self._unix else None,
        )

    def batch(
        self,
        records: Sequence[Record],
        table: npt.NDArray[np.int64],
        unsupported: UnsupportedData,
    ) -> tuple[EventBatch, list[int]]:
        """Return a batch of its calls. It also returns the rows with impossible times, which are left out.

        Args:
            records: the calls.
            table: their meanings.
            unsupported: receives what cannot be represented.
        """
        arguments = [record.args or NOTHING for record in records]
        unsupported.add(
            "calls without arguments: dftracer records them with DFTRACER_INC_METADATA=1", _without(records)
        )
        start = nanoseconds([record.ts for record in records], self._unit_ns)
        duration = nanoseconds([record.dur for record in records], self._unit_ns)
        volume, requested, failed = moved(arguments, table)
        summed = table[:, 0] == AGGREGATED
        offset = np.clip(integers([each.offset for each in arguments], -1), -1, LATEST_NS)
        flags = np.where(failed, int(Flag.FAILED), 0)
        if summed.any():
            offset, requested, flags = self._spread(arguments, summed, offset, requested, flags)
            duration = np.where(summed, _INTERVAL_NS, duration)
            calls = integers([each.dft_cnt for each in arguments], 1)[summed]
            unsupported.add(
                "calls within aggregated records, of which only the sums are known", int(calls.clip(0).sum())
            )
        tid = integers([record.tid for record in records], self.pid)
        tid = np.where((tid >= 0) & (tid <= LARGEST_ID), tid, self.pid)
        columns: dict[str, npt.ArrayLike] = {
            "start": start,
            "duration": duration,
            "call": self._calls.of([record.name for record in records]),
            "layer": table[:, 2],
            "kind": table[:, 3],
            "rank": self._rank,
            "pid": self.pid,
            "tid": tid,
            "file": self._numbered(arguments, unsupported),
            "offset": offset,
            "requested": requested,
            "bytes": volume,
            "flags": flags,
            "signature": self._signed(records, arguments),
        }
        # dftracer does not record calls that libc makes within its own functions
        if np.isin(table[:, 2], _UPPER).any():
            depth = np.minimum(nesting_depths(start, duration, tid, table[:, 2]), 255)
            columns["depth"] = depth
            moves = (table[:, 3] == Kind.READ) | (table[:, 3] == Kind.WRITE)
            unmeasured = np.isin(table[:, 2], _UPPER) & moves & (volume == 0) & ~summed
            order = np.lexsort((depth, -duration, start, tid))
            volume[order] = bytes_with_nested(depth[order], table[order, 3], volume[order], unmeasured[order])
            omission = "sizes of calls of HDF5 and MPI-IO: bytes are those of calls within them"
            unsupported.add(omission, int(np.count_nonzero(unmeasured)))
        batch = make_batch(len(records), columns)
        good = (start >= 0) & (duration >= 0) & (start <= LATEST_NS - np.maximum(duration, 0))
        return (batch, []) if good.all() else (batch.select(good), np.flatnonzero(~good).tolist())

    def _spread(
        self, arguments: Sequence[Arguments], summed: Mask, offset: Ints, requested: Ints, flags: Ints
    ) -> tuple[Ints, Ints, Ints]:
        """Return the three columns with those of aggregated records.

        Such records have a number of calls and their total duration.
        """
        calls = np.clip(integers([each.dft_cnt for each in arguments], 1), 1, 2**31)
        most = LATEST_NS // self._unit_ns
        alone, whole = (
            np.clip(integers([getattr(each, name) for each in arguments], 0), 0, most) * self._unit_ns
            for name in ("dur", "dur_sum")
        )
        busy = np.maximum(np.where(whole > 0, whole, np.where(alone <= LATEST_NS // calls, alone, 0) * calls), 0)
        both = int(Flag.AGGREGATE | Flag.SPREAD)
        return np.where(summed, busy, offset), np.where(summed, calls, requested), np.where(summed, both, flags)

    def _numbered(self, arguments: Sequence[Arguments], unsupported: UnsupportedData) -> npt.NDArray[np.uint32]:
        """Numbers the files by their hashes, or by their names in early versions without hashes."""
        hashes = [each.fhash for each in arguments]
        if hashes.count(None) == len(hashes):
            return self._paths.of([each.fname if type(each.fname) is str else "" for each in arguments])
        numbers = self._hashes.of(["" if type(each) not in (str, int) else each for each in hashes])
        unsupported.add("files whose names are not in the trace, only their hashes", self._files_without_name)
        self._files_without_name = 0
        return numbers

    def _number(self, file: str | int) -> int:
        path = self._named(file)
        if not path and file != "":
            self._files_without_name += 1
            path = f"fhash:{str(file)[:64]}"
        return self.interner.file(path)

    def _signed(self, records: Sequence[Record], arguments: Sequence[Arguments]) -> npt.NDArray[np.uint32]:
        """Numbers the texts of calls with parameters that have no column of their own."""
        numbers = np.zeros(len(records), np.uint32)
        flags, modes = [each.flags for each in arguments], [each.mode for each in arguments]
        whences = [each.whence for each in arguments]
        for row in sorted(
            {row for many in (flags, modes, whences) for row, each in enumerate(many) if each is not None}
        ):
            named = zip(("flags", "mode", "whence"), (flags[row], modes[row], whences[row]), strict=True)
            shown = ", ".join(f"{name}={str(value)[:40]}" for name, value in named if value is not None)
            text = f"{records[row].name}({shown})"
            number = self._signatures.get(text)
            if number is None:
                number = self.interner.new_signature(text)
                if number:
                    self._signatures[text] = number
            numbers[row] = number
        return numbers


def _without(records: Sequence[Record]) -> int:
    return sum(1 for record in records if record.args is None)
