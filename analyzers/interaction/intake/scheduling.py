"""Scheduling events: CPU time of threads, and wake-ups that made a waiting thread continue."""

from __future__ import annotations

from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from ....events.forward_fill import ForwardFill, Ints
from ....events.kernel import KernelEvent

_UNKNOWN, _WAITS, _RUNNABLE, _RUNS = 0, 1, 2, 3
_NEW: Final = int(KernelEvent.SCHED_WAKEUP_NEW)
_WAKES: Final = (int(KernelEvent.SCHED_WAKING), int(KernelEvent.SCHED_WAKEUP), _NEW)


class Scheduled(Struct, frozen=True):
    """Information from a batch of scheduling events.

    Attributes:
        ran: keys of threads that left a CPU.
        ran_ns: run time of each.
        links: whether each event is a wake-up of a waiting thread.
        void: number of wake-ups of threads that did not wait.
    """

    ran: Ints
    ran_ns: Ints
    links: npt.NDArray[np.bool_]
    void: int


class Scheduling:
    """Tracks the state of each thread.

    A waker makes a thread runnable once: of ``sched_waking`` and the following ``sched_wakeup``, only the first counts.
    """

    def __init__(self, limit: int) -> None:
        self._threads = ForwardFill(2, limit)

    def update(self, code: Ints, time: Ints, acting: Ints, other: Ints, waits: npt.NDArray[np.bool_]) -> Scheduled:
        """Add events in the order in which they happened.

        Args:
            code: KernelEvent of each event.
            time: ns.
            acting: key of the acting thread.
            other: key of the other thread.
            waits: for switches, whether the switched-out thread waits.
        """
        switch = np.flatnonzero(code == int(KernelEvent.SCHED_SWITCH))
        wake = np.flatnonzero(np.isin(code, _WAKES))
        place = np.concatenate((2 * switch, 2 * switch + 1, 2 * wake))
        order = np.argsort(place, kind="stable")
        thread = np.concatenate((acting[switch], other[switch], other[wake]))[order]
        state = np.concatenate(
            (
                np.where(waits[switch], _WAITS, _RUNNABLE),
                np.full(len(switch), _RUNS),
                np.full(len(wake), _RUNNABLE),
            )
        )[order]
        when = np.concatenate((time[switch], time[switch], time[wake]))[order]
        before, since = self._threads.before(thread, np.ones(len(thread), np.bool_), state, when)
        back = np.empty(len(order), np.intp)
        back[order] = np.arange(len(order))
        out, woken = back[: len(switch)], back[2 * len(switch) :]
        was_running = before[out] == _RUNS
        links = np.zeros(len(code), np.bool_)
        waited = before[woken] <= _WAITS
        links[wake] = waited & (code[wake] != _NEW)
        void = int(np.count_nonzero(~waited & (code[wake] != _NEW) & (code[wake] != int(KernelEvent.SCHED_WAKEUP))))
        ran_ns = np.where(was_running, time[switch] - since[out], 0)
        return Scheduled(acting[switch], np.maximum(ran_ns, 0), links, void)

    def snapshot(self) -> dict[str, Any]:
        """Return the state as plain data."""
        return {"threads": self._threads.snapshot()}

    @classmethod
    def restore(cls, data: dict[str, Any]) -> Self:
        """Create an object from a snapshot."""
        made = cls.__new__(cls)
        made._threads = ForwardFill.restore(data["threads"])
        return made
