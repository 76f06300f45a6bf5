"""System calls with I/O in kernel traces: entries and exits become completed calls, descriptors become files."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from ....events import EventBatch, Flag, Interner, Kind, make_batch
from ...calls import CALLS, classify
from .rows import Rows, Step

MOST_PENDING: Final = 65_536
MOST_DESCRIPTORS: Final = 262_144
_MAX_ERRNO: Final = 4095
_FIELD: Final = re.compile(
    rb'\b(pid|fd|fildes|fd_in|oldfd|newfd|count|len|filename|pathname|ret)\s*[=:]\s*("(?:[^"\\]|\\.)*"|-?\w+)'
)
_LONE_RESULT: Final = re.compile(rb"\s*(-?(?:0x[0-9a-fA-F]+|\d+))\s*$")
_LARGEST: Final = 2**62


@dataclass(frozen=True, slots=True)
class Call:
    """One line of a system call: its name, "" at an exit that does not tell, and its fields."""

    name: str
    fields: dict[bytes, bytes]

    def number(self, *keys: bytes) -> int | None:
        """Returns the first of some fields that is a number."""
        for key in keys:
            if (text := self.fields.get(key)) is not None and (value := whole_number(text)) is not None:
                return value
        return None

    def text(self, *keys: bytes) -> str:
        """Returns the first of some fields that is a quoted text, "" where none is."""
        for key in keys:
            if (text := self.fields.get(key, b"")).startswith(b'"'):
                return text[1:-1].decode(errors="replace")
        return ""


@dataclass(frozen=True, slots=True)
class Done:
    """Completed calls, and the line of each one's end."""

    batch: EventBatch
    line: npt.NDArray[np.int64]


class _Ended(NamedTuple):
    line: int
    start: int
    duration: int
    process: int
    tid: int
    file: int
    result: int
    asked: int
    name: str


def is_io(name: str) -> bool:
    """Tells whether a system call is one of I/O."""
    return name in CALLS


def fields_of(payload: bytes) -> dict[bytes, bytes]:
    """Returns the fields of a system call's line; a lone number is its result."""
    lone = _LONE_RESULT.match(payload)
    return {b"ret": lone[1]} if lone else dict(_FIELD.findall(payload))


def whole_number(text: bytes) -> int | None:
    """Reads a number as tracers write it, decimal or 0x; as signed 64 bits. None for anything else."""
    try:
        value = int(text, 0) if text.lstrip(b"-")[:2] == b"0x" else int(text)
    except ValueError:
        return None
    if 2**63 <= value < 2**64:
        value -= 2**64
    return value if -_LARGEST < value < _LARGEST else None


class CallPairs:
    """Pairs entries and exits by thread and follows the descriptors of each process, within bounds."""

    def __init__(self, interner: Interner, counters: Counter[str]) -> None:
        self._interner = interner
        self._counters = counters
        self._pending: dict[int, tuple[Call, int]] = {}
        self._files: dict[tuple[int, int], str] = {}

    def pair(self, rows: Rows, processes: npt.NDArray[np.int64], calls: dict[int, Call]) -> Done:
        """Returns the calls that end in these rows.

        Args:
            rows: rows of all kinds, with who acts.
            processes: process of each row's thread, 0 where it is not known.
            calls: what rows of system calls say, by place.
        """
        done: list[_Ended] = []
        for at in sorted(calls):
            call, code, tid, now = calls[at], int(rows.code[at]), int(rows.tid[at]), int(rows.time[at])
            if code == Step.DESCRIPTOR:
                self._describe(call)
            elif code == Step.CALL_IN:
                if tid in self._pending:
                    self._counters["calls_without_end"] += 1
                elif len(self._pending) >= MOST_PENDING:
                    self._counters["calls_dropped:too_many_pending"] += 1
                    continue
                self._pending[tid] = call, now
            elif (begun := self._pending.pop(tid, None)) is not None:
                entry, start = begun
                process, result = int(processes[at]) or tid, call.number(b"ret")
                file = self._interner.file(self._path(entry, process, result))
                asked = entry.number(b"count", b"len") or 0
                done.append(
                    _Ended(int(rows.line[at]), start, now - start, process, tid, file, result or 0, asked, entry.name)
                )
        return self._done(done) if done else Done(make_batch(0, {}), np.zeros(0, np.int64))

    def _done(self, calls: list[_Ended]) -> Done:
        line, start, duration, process, tid, file, result, asked = np.array([call[:-1] for call in calls], np.int64).T
        known = [classify(call.name) for call in calls]
        kind = np.array([int(what) for _, what in known], np.uint8)
        failed = (result < 0) & (result >= -_MAX_ERRNO)
        moves = np.isin(kind, (Kind.READ, Kind.WRITE))
        batch = make_batch(
            len(calls),
            {
                "start": start,
                "duration": np.maximum(duration, 0),
                "call": np.array([self._interner.string(call.name) for call in calls], np.uint32),
                "layer": np.array([int(layer) for layer, _ in known], np.uint8),
                "kind": kind,
                "pid": process,
                "tid": tid,
                "file": file,
                "requested": np.maximum(asked, 0),
                "bytes": np.where(moves & ~failed, np.maximum(result, 0), 0),
                "errno": np.where(failed, -result, 0),
                "flags": np.where(failed, int(Flag.FAILED), int(Flag.BLOCKING)),
            },
        )
        return Done(batch, line)

    def _describe(self, call: Call) -> None:
        process, descriptor = call.number(b"pid"), call.number(b"fd")
        if process is not None and descriptor is not None:
            self._know(process, descriptor, call.text(b"filename"))

    def _path(self, entry: Call, process: int, result: int | None) -> str:
        """Returns the file that a call is about, and keeps what it does to the descriptors."""
        _, kind = classify(entry.name)
        descriptor = entry.number(b"fd", b"fildes", b"fd_in", b"oldfd")
        path = entry.text(b"filename", b"pathname")
        if kind is Kind.CREATE:
            if path and result is not None and result >= 0:
                self._know(process, result, path)
            elif result is not None and result >= 0:
                self._files.pop((process, result), None)
            return path
        known = "" if descriptor is None else self._files.get((process, descriptor), "")
        if kind is Kind.DESTROY and descriptor is not None:
            self._files.pop((process, descriptor), None)
        elif kind is Kind.DUPLICATE and result is not None and result >= 0:
            self._know(process, result, known)
        return path or known

    def _know(self, process: int, descriptor: int, path: str) -> None:
        if not path:
            self._files.pop((process, descriptor), None)
        elif (process, descriptor) in self._files or len(self._files) < MOST_DESCRIPTORS:
            self._files[process, descriptor] = path
        else:
            self._counters["descriptors_dropped"] += 1
