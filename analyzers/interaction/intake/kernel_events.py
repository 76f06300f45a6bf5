"""Events of layer KERNEL: names, CPU time, and links between threads."""

from __future__ import annotations

from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from ....events import EventBatch, Flag
from ....events.kernel import KernelEvent
from ....results.interaction_kinds import EdgeKind
from ...common.state import Ints
from .keys import GUEST, SPACE
from .locks import Locks
from .scheduling import Scheduled, Scheduling
from .virtual_machines import Guests

_LOCKS: Final = (int(KernelEvent.LOCK_REQ), int(KernelEvent.LOCK_ACQ), int(KernelEvent.UNLOCK))
_NAME_THEMSELVES: Final = (
    int(KernelEvent.PROCESS_STATE),
    int(KernelEvent.SCHED_PROCESS_EXEC),
    int(KernelEvent.SCHED_PROCESS_EXIT),
)
_MAX_GUESTS: Final = 65_536  # maximum number of guest processes


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
