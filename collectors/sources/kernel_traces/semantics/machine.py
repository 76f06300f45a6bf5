"""Convert the rows of one traced machine to events. Tracks running threads and interrupts per processor."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Final

import numpy as np
import numpy.typing as npt

from .....events import EventBatch, Flag, Interner, Layer, concatenate, make_batch
from .....events.forward_fill import ForwardFill
from .....events.kernel import COMM, KernelEvent, text_about
from ..lexing.dialect import INTERRUPT_KINDS
from ..lexing.numbers import Numbers
from ..lexing.rows import UNKNOWN_TID, Rows, Step
from .calls import CallPairs, CallRows

WAKES: Final = (KernelEvent.SCHED_WAKING, KernelEvent.SCHED_WAKEUP, KernelEvent.SCHED_WAKEUP_NEW)
_NOBODY_ACTS: Final = (Step.INTERRUPT_IN, Step.INTERRUPT_OUT, Step.DESCRIPTOR)
_MAX_OF_COMM: Final = 15  # TASK_COMM_LEN without the terminating NUL
_ESCAPE: Final = re.compile(rb"\\(.)", re.DOTALL)
_ESCAPED: Final = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}
_ABOUT_OTHER: Final = (
    *WAKES,
    KernelEvent.SCHED_SWITCH,
    KernelEvent.SCHED_PROCESS_FORK,
)


class Machine:
    """Converts the rows of one machine to events.

    A wake-up that is issued in an interrupt, a soft interrupt or a timer is attributed to the device and not to the
    interrupted thread: its tid is 0.

    Args:
        escaped: whether quotes and similar characters in command names are escaped by a backslash.
        counters: receives the numbers of events and of context lines.
    """

    def __init__(self, escaped: bool, counters: Counter[str]) -> None:
        self.interner = Interner()
        self._escaped = escaped
        self.comms = Numbers(self._comm)
        """Numbers of commands."""
        self.programs = Numbers(lambda path: self._comm(path.rpartition(b"/")[2][:_MAX_OF_COMM]))
        """Numbers of the commands of programs, by the programs' paths."""
        self.paths = Numbers(lambda path: self.interner.file(_plain(path).decode(errors="replace")))
        """Numbers of files."""
        self._running = ForwardFill()
        self._interrupts = [ForwardFill() for _ in range(INTERRUPT_KINDS)]
        self._named = ForwardFill(2)
        self._process = ForwardFill()
        self._calls = CallPairs(self.interner, counters)
        self.wakes = 0
        """Number of wake-ups."""
        self.sees_interrupts = False
        """Whether interrupts were seen, so that their wake-ups can be distinguished from those of threads."""
        self._counters = counters

    def acting(self, rows: Rows) -> None:
        """Fill in missing acting threads: the thread that was last switched to on that processor."""
        switch = rows.code == int(KernelEvent.SCHED_SWITCH)
        (running,) = self._running.before(rows.cpu, switch, rows.other, default=UNKNOWN_TID)
        np.copyto(rows.tid, running, where=rows.tid == UNKNOWN_TID)

    def batch(self, rows: Rows, calls: CallRows, name_of: Callable[[int], str]) -> EventBatch:
        """Return the events of rows with known acting threads; counts rows that are only context.

        Args:
            rows: rows in the order of the file.
            calls: fields of the rows of CALL_IN, CALL_OUT and DESCRIPTOR.
            name_of: function that returns the name for a number of ``calls``.
        """
        self._in_interrupts(rows)
        np.copyto(rows.tid, 0, where=rows.tid < 0)
        processes = self._processes(rows)
        # a thread's name is emitted when it first acts and when the name changes
        acts = (rows.comm > 0) & (rows.tid > 0) & ~np.isin(rows.code, _NOBODY_ACTS)
        states = self._states(rows, acts, processes)
        kernel = (rows.code < int(Step.INTERRUPT_IN)) & (rows.code != int(KernelEvent.PROCESS_STATE))
        events = self._events(rows.select(kernel), processes[kernel])
        done = self._calls.pair(rows, processes, calls, name_of)
        self._counters["lines_ignored:context"] += len(rows) - len(events) - len(done.line)
        self._counters["events_added:names"] += len(states)
        self._counters["events"] += len(states) + len(events) + len(done.line)
        order = np.concatenate((2 * rows.line[states], 2 * rows.line[kernel] + 1, 2 * done.line + 1))
        batch = concatenate((self._named_threads(rows, states, processes), events, done.batch))
        return batch.select(np.argsort(order, kind="stable")) if len(batch) else batch

    def _in_interrupts(self, rows: Rows) -> None:
        wakes = np.isin(rows.code, WAKES)
        enters, leaves = rows.code == int(Step.INTERRUPT_IN), rows.code == int(Step.INTERRUPT_OUT)
        inside = rows.inside > 0
        self.wakes += int(np.count_nonzero(wakes))
        self.sees_interrupts |= bool(enters.any() or leaves.any() or inside.any())
        for kind, recall in enumerate(self._interrupts):
            mine = (enters | leaves) & (rows.other == kind)
            looked = np.flatnonzero(mine | wakes)
            if mine.any() or len(recall):
                (within,) = recall.before(rows.cpu[looked], mine[looked], enters[looked])
                inside[looked] |= within > 0
        np.copyto(rows.tid, 0, where=inside & wakes)

    def _processes(self, rows: Rows) -> npt.NDArray[np.int64]:
        """Return the process of each acting thread, 0 if unknown. It records the processes of other threads."""
        forks = (rows.code == int(KernelEvent.SCHED_PROCESS_FORK)) & (rows.other_pid > 0)
        tells = rows.pid > 0
        if not (forks.any() or tells.any() or len(self._process)):
            return np.zeros(len(rows), np.int64)
        threads = np.concatenate((np.where(tells, rows.tid, -1), rows.other[forks], rows.tid))
        process = np.concatenate((rows.pid, rows.other_pid[forks], np.zeros(len(rows), np.int64)))
        sets = np.concatenate((tells, np.ones(int(forks.sum()), np.bool_), np.zeros(len(rows), np.bool_)))
        order = np.argsort(np.concatenate((rows.line * 3 + 1, rows.line[forks] * 3, rows.line * 3 + 2)), kind="stable")
        answer = np.empty(len(order), np.int64)
        answer[order] = self._process.before(threads[order], sets[order], process[order])[0]
        processes: npt.NDArray[np.int64] = np.where(rows.tid > 0, answer[len(order) - len(rows) :], 0)
        return processes

    def _states(
        self, rows: Rows, acts: npt.NDArray[np.bool_], processes: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.intp]:
        has_state = acts | ((rows.code == int(KernelEvent.PROCESS_STATE)) & (rows.text > 0))
        at = np.flatnonzero(has_state)
        name = np.where(rows.comm[at] > 0, rows.comm[at], rows.text[at])
        known, process = self._named.before(rows.tid[at], np.ones(len(at), np.bool_), name, processes[at])
        changed: npt.NDArray[np.bool_] = (known != name) | (process != processes[at])
        states: npt.NDArray[np.intp] = at[changed]
        return states

    def _named_threads(self, rows: Rows, states: npt.NDArray[np.intp], processes: npt.NDArray[np.int64]) -> EventBatch:
        if not len(states):
            return make_batch(0, {})
        name = np.where(rows.comm[states] > 0, rows.comm[states], rows.text[states])
        return make_batch(
            len(states),
            {
                "start": rows.time[states],
                "call": self.interner.string(KernelEvent.PROCESS_STATE.name.lower()),
                "layer": int(Layer.KERNEL),
                "pid": processes[states],
                "tid": rows.tid[states],
                "file": name,
            },
        )

    def _events(self, rows: Rows, processes: npt.NDArray[np.int64]) -> EventBatch:
        if not len(rows):
            return make_batch(0, {})
        calls = np.zeros(int(Step.INTERRUPT_IN), np.uint32)
        for code in np.flatnonzero(np.bincount(rows.code)).tolist():
            calls[code] = self.interner.string(KernelEvent(code).name.lower())
        waits = (rows.code == int(KernelEvent.SCHED_SWITCH)) & (rows.value > 0)
        about = np.isin(rows.code, _ABOUT_OTHER)
        return make_batch(
            len(rows),
            {
                "start": rows.time,
                "call": calls[rows.code],
                "layer": int(Layer.KERNEL),
                "pid": processes,
                "tid": rows.tid,
                "handle": np.where(about, np.maximum(rows.other, 0), 0),
                "file": rows.text,
                "offset": np.where(rows.code == int(KernelEvent.KVM_CR3), rows.value, -1),
                "requested": np.where(rows.code == int(KernelEvent.KVM_INJ_VIRQ), rows.value, 0),
                "flags": np.where(waits, int(Flag.BLOCKING), 0),
            },
        )

    def _comm(self, text: bytes) -> int:
        plain = _plain(text) if self._escaped else text
        return self.interner.file(*text_about(COMM, plain.decode(errors="replace"))) if text else 0


def _plain(text: bytes) -> bytes:
    return _ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[1]), text) if b"\\" in text else text
