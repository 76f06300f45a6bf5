"""Kernel and lock events as rows of a batch: who acts, on whom, when.

They are no I/O calls: their layer is ``Layer.KERNEL``, their kind ``Kind.OTHER``, they move no bytes and take no time,
so that whatever looks at I/O passes them by. The columns mean:

========== ====================================================================================================
call       number of the event's name, one of ``KernelEvent`` in lower case
start      when it happened
pid, tid   the process (0: not known) and the thread that acts; tid 0: the idle task, or an interrupt
handle     the other thread: the one that is woken, forked, switched to; 0 where there is none
file       a text of type PSEUDO: ``comm:NAME``, the command of the other thread, or of the acting one where there
           is no other; ``lock:NAME`` in events of locks
flags      BLOCKING in SCHED_SWITCH: the thread that was switched out waits; without, it was preempted
offset     KVM_CR3: the address space that is switched to
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
    """What happened."""

    NONE = 0
    SCHED_SWITCH = 1
    """``tid`` leaves its processor to ``handle``."""
    SCHED_WAKING = 2
    """``tid`` wakes ``handle``; seen on the waker's processor."""
    SCHED_WAKEUP = 3
    """``handle`` became runnable; sched_ttwu in older tracers."""
    SCHED_WAKEUP_NEW = 4
    SCHED_PROCESS_FORK = 5
    """``tid`` made ``handle``."""
    SCHED_PROCESS_EXEC = 6
    """``tid`` runs another program from now on; ``file`` has its name."""
    SCHED_PROCESS_EXIT = 7
    PROCESS_STATE = 8
    """What is known of thread ``tid``: its process and its command; nothing happens."""
    LOCK_REQ = 9
    """``tid`` asks for the lock ``file``."""
    LOCK_ACQ = 10
    UNLOCK = 11
    KVM_CR3 = 12
    """The virtual processor that thread ``tid`` runs switches to another address space, a process of the guest."""
    KVM_INJ_VIRQ = 13
    """The virtual processor that thread ``tid`` runs is interrupted."""


FORKS: Final = ("clone", "clone3", "fork", "vfork")
"""System calls that make a process; as rows of layer KERNEL they are SCHED_PROCESS_FORK."""

EVENT_OF_NAME: Final[dict[str, KernelEvent]] = {
    **{event.name.lower(): event for event in KernelEvent if event},
    **dict.fromkeys(FORKS, KernelEvent.SCHED_PROCESS_FORK),
}
"""Name of the call -> event."""

COMM: Final = "comm:"
LOCK: Final = "lock:"


def text_about(prefix: str, text: str) -> tuple[str, FileInfo]:
    """Returns path and description under which a command's or a lock's name is numbered, such as ``comm:mysqld``."""
    path = prefix + text
    return path, FileInfo(path, FileType.PSEUDO)
