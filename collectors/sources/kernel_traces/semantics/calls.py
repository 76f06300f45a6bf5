"""I/O system calls in kernel traces: pair entries and exits, and map descriptors to files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt

from .....events import EventBatch, Flag, Interner, Kind, make_batch
from .....events.forward_fill import ForwardFill
from ....call_classes import CALLS, classify
from ..lexing.numbers import Ints
from ..lexing.rows import Rows, Step
from .call_fields import HAS_COUNT, HAS_FD, HAS_PID, HAS_RESULT, CallFields

MAX_THREADS: Final = 65_536
MAX_DESCRIPTORS: Final = 262_144
_MAX_ERRNO: Final = 4095
_LARGEST_DESCRIPTOR: Final = 2**31 - 1
_NOBODY: Final = -1

_Scalar = TypeVar("_Scalar", bound=np.generic)


def is_io(name: str) -> bool:
    """Return whether a system call does I/O."""
    return name in CALLS


@dataclass(frozen=True, slots=True)
class CallRows:
    """Fields of rows of system calls, in the order of the file.

    Attributes:
        at: their indices among the rows.
        name: numbers of their names, assigned by the caller, from 1.
        fields: one ``CALL`` each.
        path: number of the file of their path, 0 for none.
    """

    at: npt.NDArray[np.intp]
    name: Ints
    fields: CallFields
    path: Ints

    def select(self, rows: npt.NDArray[np.bool_] | npt.NDArray[np.intp]) -> CallRows:
        """Return some of the rows."""
        return CallRows(self.at[rows], self.name[rows], self.fields[rows], self.path[rows])

    def moved(self, places: npt.NDArray[np.intp]) -> CallRows:
        """Return the same rows with new indices."""
        return CallRows(places[self.at], self.name, self.fields, self.path)


@dataclass(frozen=True, slots=True)
class Done:
    """Completed calls, and the line of each one's end."""

    batch: EventBatch
    line: Ints


class CallPairs:
    """Pairs entries and exits by thread and follows the descriptors of each process, within bounds.

    Args:
        interner: assigns numbers to the names of calls.
        counters: receives calls without an entry or exit, and evicted threads and descriptors.
    """

    def __init__(self, interner: Interner, counters: Counter[str]) -> None:
        self._interner = interner
        self._counters = counters
        self._entered = ForwardFill(5, MAX_THREADS)
        self._files = ForwardFill(1, MAX_DESCRIPTORS)

    def pair(self, rows: Rows, processes: Ints, calls: CallRows, name_of: Callable[[int], str]) -> Done:
        """Return the calls that end in these rows.

        Args:
            rows: rows of all kinds, with acting threads.
            processes: process of each row's thread, 0 if unknown.
            calls: fields of the system calls among the rows.
            name_of: function that returns the name for a number of CallRows.
        """
        if not len(calls.at):
            return Done(make_batch(0, {}), np.zeros(0, np.int64))
        code, tid = rows.code[calls.at], rows.tid[calls.at]
        states_descriptor = code == int(Step.DESCRIPTOR)
        halves = ~states_descriptor & (tid > 0)
        start, name, descriptor, asked, path = self._begun(rows, calls, halves)
        leaves = halves & (code == int(Step.CALL_OUT))
        of_io = np.array([bool(name_of(number)) for number in range(int(calls.name.max()) + 1)])[calls.name]
        self._count("calls_without_thread", ~states_descriptor & (tid <= 0))
        self._count("calls_without_end", halves & ~leaves & (name > 0))
        self._count("calls_without_begin", leaves & (name == 0) & of_io)
        ends = leaves & (name > 0)
        kinds = {number: classify(name_of(number)) for number in np.flatnonzero(np.bincount(name[ends])).tolist()}
        kind = _looked_up(name, {number: int(kind) for number, (_, kind) in kinds.items()})
        process = np.where(processes[calls.at] > 0, processes[calls.at], tid)
        result = np.where(calls.fields["has"] & HAS_RESULT > 0, calls.fields["result"], _NOBODY)
        files = self._followed(calls, ends, states_descriptor, kind, process, descriptor, path, result)
        done = np.flatnonzero(ends)
        if not len(done):
            return Done(make_batch(0, {}), np.zeros(0, np.int64))
        failed = (result < 0) & (result >= -_MAX_ERRNO) & (calls.fields["has"] & HAS_RESULT > 0)
        moves = np.isin(kind, (Kind.READ, Kind.WRITE)) & ~failed
        columns = {
            "start": start,
            "duration": np.maximum(rows.time[calls.at] - start, 0),
            "call": _looked_up(name, {number: self._interner.string(name_of(number)) for number in kinds}),
            "layer": _looked_up(name, {number: int(layer) for number, (layer, _) in kinds.items()}),
            "kind": kind,
            "pid": process,
            "tid": tid,
            "file": files,
            "requested": np.maximum(asked, 0),
            "bytes": np.where(moves, np.maximum(result, 0), 0),
            "errno": np.where(failed, -result, 0),
            "flags": np.where(failed, int(Flag.FAILED), int(Flag.BLOCKING)),
        }
        batch = make_batch(len(done), {column: values[done] for column, values in columns.items()})
        return Done(batch, rows.line[calls.at[done]])

    def _count(self, what: str, which: npt.NDArray[np.bool_] | int) -> None:
        if many := int(np.sum(which)):
            self._counters[what] += many

    def _begun(self, rows: Rows, calls: CallRows, halves: npt.NDArray[np.bool_]) -> Ints:
        """Return the call that each row's thread is in. It has start, name, descriptor, requested bytes and path."""
        at = np.flatnonzero(halves)
        enters = rows.code[calls.at[at]] == int(Step.CALL_IN)
        fields = calls.fields[at]
        forgotten = self._entered.forgotten
        begun = self._entered.before(
            rows.tid[calls.at[at]],
            np.ones(len(at), np.bool_),
            rows.time[calls.at[at]],
            np.where(enters, calls.name[at], 0),
            np.where(fields["has"] & HAS_FD > 0, fields["fd"], _NOBODY),
            np.where(fields["has"] & HAS_COUNT > 0, fields["count"], 0),
            calls.path[at],
        )
        self._count("threads_forgotten", self._entered.forgotten - forgotten)
        every = np.zeros((5, len(halves)), np.int64)
        every[:, at] = begun
        return every

    def _followed(
        self,
        calls: CallRows,
        ends: npt.NDArray[np.bool_],
        states_descriptor: npt.NDArray[np.bool_],
        kind: Ints,
        process: Ints,
        descriptor: Ints,
        path: Ints,
        result: Ints,
    ) -> Ints:
        """Return the file of each completed call, and update the descriptors that it changes."""
        fields = calls.fields
        states_descriptor = states_descriptor & (fields["has"] & HAS_PID > 0) & (fields["has"] & HAS_FD > 0)
        makes, copies = ends & (kind == int(Kind.CREATE)), ends & (kind == int(Kind.DUPLICATE))
        closes = ends & (kind == int(Kind.DESTROY))
        looks = _key(process, np.where(ends & ~makes, descriptor, _NOBODY))
        keys = np.where(
            states_descriptor, _key(fields["pid"], fields["fd"]), np.where(closes, looks, _key(process, result))
        )
        sets = (states_descriptor | makes | copies | closes) & (keys >= 0)
        made = np.where(states_descriptor, calls.path, np.where(makes, path, 0))
        # each row first looks up and then sets
        groups, setting, value = np.stack((looks, keys), 1).ravel(), _second(sets), _second(made)
        forgotten = self._files.forgotten
        if copies.any():
            # a copy sets the file that it finds, which another copy may have set: its index is used as a placeholder
            trial = ForwardFill.restore(self._files.snapshot())
            (found,) = trial.before(groups, setting, np.where(_second(copies), -1 - np.arange(len(value)) // 2, value))
            value = np.where(_second(copies), _second(_resolved(found[::2])), value)
        (found,) = self._files.before(groups, setting, value)
        self._count("descriptors_forgotten", self._files.forgotten - forgotten)
        return np.where(makes | (path > 0), path, found[::2])


def _second(values: npt.NDArray[_Scalar]) -> npt.NDArray[_Scalar]:
    """Insert a zero before each value."""
    return np.stack((np.zeros_like(values), values), 1).ravel()


def _key(process: Ints, descriptor: Ints) -> Ints:
    """Return one number for a descriptor of a process, -1 for none."""
    known = (descriptor >= 0) & (descriptor <= _LARGEST_DESCRIPTOR) & (process > 0) & (process <= _LARGEST_DESCRIPTOR)
    return np.where(known, (process << 32) | np.maximum(descriptor, 0), _NOBODY)


def _resolved(found: Ints) -> Ints:
    """Replace each -1 - index by the value found at that index. The index is always earlier."""
    while (open_ := np.flatnonzero(found < 0)).size:
        found = found.copy()
        found[open_] = found[-1 - found[open_]]
    return found


def _looked_up(numbers: Ints, table: dict[int, int]) -> Ints:
    lookup = np.zeros(int(numbers.max(initial=0)) + 1, np.int64)
    for number, value in table.items():
        lookup[number] = value
    return lookup[numbers]
