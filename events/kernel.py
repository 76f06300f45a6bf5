"""Kernel and lock events as rows of a batch.

They are not I/O calls: their layer is ``Layer.KERNEL`` and their kind ``Kind.OTHER``. They move no bytes and have no
duration, so I/O analyses ignore them. Meaning of the columns:

========== ====================================================================================================
call       number of the event's name, one of ``KernelEvent`` in lower case
start      time of the event
pid, tid   the process (0: unknown) and the acting thread; tid 0: the idle task, or an interrupt
handle     the other thread, which is woken, forked or switched to; 0 if there is none
file       a text of type PSEUDO: ``comm:NAME``, the command of the other thread, or of the acting one if there is
           no other; ``lock:NAME`` in events of locks
flags      BLOCKING in SCHED_SWITCH: the thread that was switched out waits; otherwise it was preempted
offset     KVM_CR3: the new address space
requested  KVM_INJ_VIRQ: the vector
========== ====================================================================================================

Source: [Ranking] (wake-ups, Algorithms 1 and 2).
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from .definitions import FileInfo
from .schema import FileType


class KernelEvent(IntEnum):
    """Kernel and lock events."""

    NONE = 0
    SCHED_SWITCH = 1
    """``tid`` leaves its processor to ``handle``."""
    SCHED_WAKING = 2
    """``tid`` wakes ``handle``; seen on the waker's processor."""
    SCHED_WAKEUP = 3
    """``handle`` became runnable; sched_ttwu in older tracers."""
    SCHED_WAKEUP_NEW = 4
    SCHED_PROCESS_FORK = 5
    """``tid`` created ``handle``."""
    SCHED_PROCESS_EXEC = 6
    """``tid`` executes another program from now on; ``file`` has its name."""
    SCHED_PROCESS_EXIT = 7
    PROCESS_STATE = 8
    """Facts about thread ``tid``: its process and its command; not an occurrence."""
    LOCK_REQ = 9
    """``tid`` requests the lock ``file``."""
    LOCK_ACQ = 10
    UNLOCK = 11
    KVM_CR3 = 12
    """The virtual processor of thread ``tid`` switches to another address space, a process of the guest."""
    KVM_INJ_VIRQ = 13
    """The virtual processor of thread ``tid`` is interrupted."""


FORKS: Final = ("clone", "clone3", "fork", "vfork")
"""System calls that create a process; as rows of layer KERNEL they are SCHED_PROCESS_FORK."""

EVENT_OF_NAME: Final[dict[str, KernelEvent]] = {
    **{event.name.lower(): event for event in KernelEvent if event},
    **dict.fromkeys(FORKS, KernelEvent.SCHED_PROCESS_FORK),
}
"""Name of the call -> event."""

COMM: Final = "comm:"
LOCK: Final = "lock:"


def text_about(prefix: str, text: str) -> tuple[str, FileInfo]:
    """Return path and FileInfo for numbering a command's or a lock's name, such as ``comm:mysqld``."""
    path = prefix + text
    return path, FileInfo(path, FileType.PSEUDO)
