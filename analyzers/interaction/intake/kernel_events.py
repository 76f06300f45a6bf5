"""Events of layer KERNEL: names, CPU time, and links between threads, by wake-ups, locks and virtual machines."""

from __future__ import annotations

from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from ....events import EventBatch, Flag
from ....events.forward_fill import ForwardFill, Ints
from ....events.kernel import KernelEvent
from ....results.interaction_kinds import EdgeKind
from .keys import GUEST, SPACE

_UNKNOWN, _WAITS, _RUNNABLE, _RUNS = 0, 1, 2, 3
_NEW: Final = int(KernelEvent.SCHED_WAKEUP_NEW)
_WAKES_AND_STARTS: Final = (int(KernelEvent.SCHED_WAKING), int(KernelEvent.SCHED_WAKEUP), _NEW)


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
        wake = np.flatnonzero(np.isin(code, _WAKES_AND_STARTS))
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


IPI_VECTORS: Final = (0xFB, 0xFC, 0xFD)
"""Interrupt vectors that Linux on x86 uses to make another CPU call a function or reschedule."""
_WAKES: Final = (int(KernelEvent.SCHED_WAKING), int(KernelEvent.SCHED_WAKEUP))
_LOCKS: Final = (int(KernelEvent.LOCK_REQ), int(KernelEvent.LOCK_ACQ), int(KernelEvent.UNLOCK))
_NAME_THEMSELVES: Final = (
    int(KernelEvent.PROCESS_STATE),
    int(KernelEvent.SCHED_PROCESS_EXEC),
    int(KernelEvent.SCHED_PROCESS_EXIT),
)
_MAX_GUESTS: Final = 65_536  # maximum number of guest processes


class GuestWakes(Struct, frozen=True):
    """Wake-ups between processes of guests.

    Attributes:
        vcpu_from: key of the thread that runs the waker's virtual CPU.
        space_from: address space (CR3) of the waker.
        vcpu_to: key of the thread that runs the woken process's virtual CPU.
        space_to: address space of the woken process.
    """

    vcpu_from: Ints
    space_from: Ints
    vcpu_to: Ints
    space_to: Ints


class Guests:
    """Tracks the address space of each virtual CPU, and the last waker of its thread."""

    def __init__(self, limit: int) -> None:
        self._spaces = ForwardFill(1, limit)
        self._wakers = ForwardFill(2, limit)

    def update(self, code: Ints, acting: Ints, other: Ints, value: Ints) -> GuestWakes:
        """Add events in the order in which they happened.

        An inter-processor interrupt injected into a virtual CPU links two processes: the one on the virtual CPU whose
        thread woke it, and the one on the woken virtual CPU.

        Args:
            code: KernelEvent of each event.
            acting: key of the acting thread, 0 for devices.
            other: key of the woken thread.
            value: address space for KVM_CR3; vector for KVM_INJ_VIRQ.
        """
        switches = code == int(KernelEvent.KVM_CR3)
        wakes = np.isin(code, _WAKES) & (acting > 0)
        injected = (code == int(KernelEvent.KVM_INJ_VIRQ)) & np.isin(value, IPI_VECTORS)
        if not (switches.any() or injected.any() or len(self._spaces)):
            none = np.zeros(0, np.int64)
            return GuestWakes(none, none, none, none)
        (waker_space,) = self._spaces.before(acting, switches, value)
        waker, space = self._wakers.before(np.where(wakes, other, acting), wakes, acting, waker_space)
        linked = injected & (waker > 0) & (space > 0) & (waker_space > 0)
        return GuestWakes(waker[linked], space[linked], acting[linked], waker_space[linked])

    def snapshot(self) -> dict[str, Any]:
        """Return the state as plain data."""
        return {"spaces": self._spaces.snapshot(), "wakers": self._wakers.snapshot()}

    @classmethod
    def restore(cls, data: dict[str, Any]) -> Self:
        """Create an object from a snapshot."""
        made = cls.__new__(cls)
        made._spaces, made._wakers = ForwardFill.restore(data["spaces"]), ForwardFill.restore(data["wakers"])
        return made


class Handovers(Struct, frozen=True):
    """Edges of the execution graph.

    Attributes:
        asker: keys of threads that requested a lock held by another.
        holder: holder of the lock at that time.
        giver: last holder of a lock that another thread had to wait for.
        taker: thread that then acquired it.
        waited_ns: waiting time of the taker.
    """

    asker: Ints
    holder: Ints
    giver: Ints
    taker: Ints
    waited_ns: Ints


class Locks:
    """Tracks holders of locks and waiting threads."""

    def __init__(self, limit: int) -> None:
        self._holders = ForwardFill(2, limit)
        self._requests = ForwardFill(2, limit)

    def update(self, code: Ints, time: Ints, thread: Ints, lock: Ints) -> Handovers:
        """Add lock events in the order in which they happened.

        Args:
            code: LOCK_REQ, LOCK_ACQ or UNLOCK of each event.
            time: ns.
            thread: key of the acting thread, > 0.
            lock: lock number, >= 0.
        """
        request, acquire = code == int(KernelEvent.LOCK_REQ), code == int(KernelEvent.LOCK_ACQ)
        held = np.where(acquire, thread, 0)
        # the last releasing thread is stored besides the empty holder
        holder, last = self._holders.before(lock, ~request, held, thread)
        contended = request & (holder > 0) & (holder != thread)
        # requests by thread, since a thread waits for one lock at a time
        since, waits = self._requests.before(
            thread, np.ones(len(code), np.bool_), time, np.where(contended, lock + 1, 0)
        )
        handed = acquire & (waits == lock + 1) & (last > 0) & (last != thread)
        return Handovers(
            asker=thread[contended],
            holder=holder[contended],
            giver=last[handed],
            taker=thread[handed],
            waited_ns=np.maximum(time[handed] - since[handed], 0),
        )

    def snapshot(self) -> dict[str, Any]:
        """Return the state as plain data."""
        return {"holders": self._holders.snapshot(), "requests": self._requests.snapshot()}

    @classmethod
    def restore(cls, data: dict[str, Any]) -> Self:
        """Create an object from a snapshot."""
        made = cls.__new__(cls)
        made._holders, made._requests = ForwardFill.restore(data["holders"]), ForwardFill.restore(data["requests"])
        return made


class Links(Struct, frozen=True):
    """Interactions of one kind, by the keys of the threads."""

    source: Ints
    target: Ints
    kind: EdgeKind
    waited_ns: Ints | int = 0


class KernelUpdate(Struct, frozen=True):
    """Information from a batch of events.

    Attributes:
        actors: keys of threads, in the order of the information.
        columns: events, cpu_ns, pid and name, -1 if unchanged.
    """

    actors: Ints
    columns: dict[str, Ints]
    links: list[Links]
    device_wakeups: int
    void_wakeups: int


class KernelEvents:
    """Tracks threads, locks and virtual CPUs.

    Args:
        limit: maximum number of each that is stored between batches.
    """

    def __init__(self, limit: int) -> None:
        self._scheduling = Scheduling(limit)
        self._locks = Locks(limit)
        self._guests = Guests(limit)
        self._guest_numbers: dict[tuple[int, int], int] = {}

    def update(self, batch: EventBatch, code: Ints, space: int) -> KernelUpdate:
        """Add events in the order in which they happened.

        Args:
            batch: rows of layer KERNEL.
            code: KernelEvent of each row.
            space: number of the machine to which the thread numbers belong.
        """
        acting = np.where(batch.tid > 0, space * SPACE + batch.tid.astype(np.int64), 0)
        other = np.where(batch.handle > 0, space * SPACE + batch.handle.astype(np.int64), 0)
        time = batch.start.astype(np.int64)
        scheduled = self._scheduling.update(code, time, acting, other, (batch.flags & int(Flag.BLOCKING)) > 0)
        between = (acting > 0) & (other > 0)
        woken, forked = scheduled.links & between, (code == int(KernelEvent.SCHED_PROCESS_FORK)) & between
        links = [Links(acting[woken], other[woken], "wakeup"), Links(acting[forked], other[forked], "fork")]
        locks = np.flatnonzero(np.isin(code, _LOCKS) & (acting > 0))
        if len(locks):
            file = batch.file[locks].astype(np.int64)
            handed = self._locks.update(code[locks], time[locks], acting[locks], file + space * SPACE)
            links.append(Links(handed.asker, handed.holder, "lock"))
            links.append(Links(handed.giver, handed.taker, "lock", handed.waited_ns))
        if (guest := self._guest(batch, code, acting, other)) is not None:
            links.append(guest)
        actors, columns = _thread_updates(batch, code, acting, other, scheduled)
        devices = int(np.count_nonzero(scheduled.links & (acting == 0)))
        return KernelUpdate(actors, columns, links, devices, scheduled.void)

    def snapshot(self) -> dict[str, Any]:
        """Return the state as plain data."""
        return {
            "scheduling": self._scheduling.snapshot(),
            "locks": self._locks.snapshot(),
            "guests": self._guests.snapshot(),
            "numbers": dict(self._guest_numbers),
        }

    @classmethod
    def restore(cls, data: dict[str, Any]) -> Self:
        """Create an object from a snapshot."""
        made = cls.__new__(cls)
        made._scheduling = Scheduling.restore(data["scheduling"])
        made._locks, made._guests = Locks.restore(data["locks"]), Guests.restore(data["guests"])
        made._guest_numbers = dict(data["numbers"])
        return made

    def _guest(self, batch: EventBatch, code: Ints, acting: Ints, other: Ints) -> Links | None:
        value = np.where(code == int(KernelEvent.KVM_CR3), batch.offset, batch.requested).astype(np.int64)
        woken = self._guests.update(code, acting, other, value)
        if not len(woken.vcpu_from):
            return None
        ends = [
            np.array([self._guest_key(int(vcpu), int(cr3)) for vcpu, cr3 in zip(vcpus, spaces, strict=True)], np.int64)
            for vcpus, spaces in ((woken.vcpu_from, woken.space_from), (woken.vcpu_to, woken.space_to))
        ]
        return Links(ends[0], ends[1], "guest")

    def _guest_key(self, vcpu: int, cr3: int) -> int:
        """Return the key of a guest process. Address spaces belong to a virtual machine, not to one of its CPUs."""
        space = vcpu // SPACE
        number = self._guest_numbers.get((space, cr3))
        if number is None:
            number = min(len(self._guest_numbers), _MAX_GUESTS)
            if number < _MAX_GUESTS:
                self._guest_numbers[space, cr3] = number
        return space * SPACE + GUEST + number


def _thread_updates(
    batch: EventBatch, code: Ints, acting: Ints, other: Ints, scheduled: Scheduled
) -> tuple[Ints, dict[str, Ints]]:
    """Return the threads and their new information in order of the events. The last name therefore wins."""
    file = batch.file.astype(np.int64)
    own_name = (file > 0) & np.isin(code, _NAME_THEMSELVES)
    acts, named_others = np.flatnonzero(acting > 0), np.flatnonzero((file > 0) & (other > 0))
    ran = np.flatnonzero(scheduled.ran > 0)
    parts = (len(acts), len(named_others), len(ran))
    order = np.argsort(np.concatenate((acts, named_others, np.full(len(ran), len(code)))), kind="stable")
    columns = {
        "events": _joined(parts, np.ones(len(acts), np.int64), 0, 0),
        "cpu_ns": _joined(parts, 0, 0, scheduled.ran_ns[ran]),
        "pid": _joined(parts, np.where(batch.pid[acts] > 0, batch.pid[acts].astype(np.int64), -1), -1, -1),
        "name": _joined(parts, np.where(own_name[acts], file[acts], -1), file[named_others], -1),
    }
    keys = np.concatenate((acting[acts], other[named_others], scheduled.ran[ran]))
    return keys[order], {name: column[order] for name, column in columns.items()}


def _joined(lengths: tuple[int, int, int], *values: npt.ArrayLike) -> Ints:
    return np.concatenate(
        [np.broadcast_to(np.asarray(value, np.int64), (length,)) for length, value in zip(lengths, values, strict=True)]
    )
