"""How one tracer writes a kernel trace, and the part of it that several have in common."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ....events.kernel import KernelEvent
from .payload import Payload
from .rows import Step


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one tracer writes a kernel trace.

    Attributes:
        name: what streams of it are called.
        line: matches every line with its end. Groups ``stamp``, ``cpu``, ``event`` and ``payload``, those there are of
            ``date``, ``host``, ``comm``, ``tid``, ``pid``, ``flags`` and ``context``, and ``rest`` for a line that has
            another form.
        payloads: what is behind the name of each event that means something.
        call_in: prefixes of the names of system calls' entries.
        call_out: prefixes of the names of their exits.
        ignored: lines of another form that are no mistake.
        expected: what a line should look like, for messages.
    """

    name: str
    line: re.Pattern[bytes]
    payloads: Mapping[bytes, Payload]
    call_in: tuple[bytes, ...]
    call_out: tuple[bytes, ...]
    ignored: re.Pattern[bytes]
    expected: str


HARD, SOFT, TIMER = 0, 1, 2
"""Kinds of interrupts; the value of ``other`` in their rows."""

_SWITCH: Final = (
    r"prev_comm=.*? prev_pid=(?P<tid>\d+) prev_prio=-?\d+ prev_state=(?P<state>[^ ]+) ==> "
    r"next_comm=(?P<name>.*?) next_pid=(?P<other>\d+)(?: .*)?"
)
_SHORT_SWITCH: Final = r".*?(?P<tid>\d+) \[-?\d+\] (?P<state>[^ ]+) ==> (?P<name>.*?):(?P<other>\d+)(?: \[.*)?"
_WAKE: Final = r"comm=(?P<name>.*?) pid=(?P<other>\d+)(?: .*)?"
_SHORT_WAKE: Final = r"(?P<name>.+?):(?P<other>\d+) \[.*"


def _wake(code: KernelEvent) -> Payload:
    return Payload(code, _WAKE, _SHORT_WAKE)


KERNEL_FORMATS: Final[dict[bytes, Payload]] = {
    b"sched_switch": Payload(KernelEvent.SCHED_SWITCH, _SWITCH, _SHORT_SWITCH),
    b"sched_waking": _wake(KernelEvent.SCHED_WAKING),
    b"sched_wakeup": _wake(KernelEvent.SCHED_WAKEUP),
    b"sched_ttwu": _wake(KernelEvent.SCHED_WAKEUP),
    b"sched_wakeup_new": _wake(KernelEvent.SCHED_WAKEUP_NEW),
    b"sched_process_fork": Payload(
        KernelEvent.SCHED_PROCESS_FORK,
        r"comm=.*? pid=(?P<tid>\d+) child_comm=(?P<name>.*?) child_pid=(?P<other>\d+)(?: .*)?",
    ),
    b"sched_process_exec": Payload(
        KernelEvent.SCHED_PROCESS_EXEC, r"filename=(?P<path>.*?) pid=(?P<tid>\d+) old_pid=\d+(?: .*)?"
    ),
    b"sched_process_exit": Payload(KernelEvent.SCHED_PROCESS_EXIT, r"comm=(?P<name>.*?) pid=(?P<tid>\d+)(?: .*)?"),
    b"irq_handler_entry": Payload(Step.INTERRUPT_IN, other=HARD),
    b"irq_handler_exit": Payload(Step.INTERRUPT_OUT, other=HARD),
    b"local_timer_entry": Payload(Step.INTERRUPT_IN, other=HARD),
    b"local_timer_exit": Payload(Step.INTERRUPT_OUT, other=HARD),
    b"softirq_entry": Payload(Step.INTERRUPT_IN, other=SOFT),
    b"softirq_exit": Payload(Step.INTERRUPT_OUT, other=SOFT),
    b"hrtimer_expire_entry": Payload(Step.INTERRUPT_IN, other=TIMER),
    b"hrtimer_expire_exit": Payload(Step.INTERRUPT_OUT, other=TIMER),
    b"timer_expire_entry": Payload(Step.INTERRUPT_IN, other=TIMER),
    b"timer_expire_exit": Payload(Step.INTERRUPT_OUT, other=TIMER),
    b"kvm_cr": Payload(
        KernelEvent.KVM_CR3,
        r"cr_write 3 = (?P<value>0x[0-9a-f]+)",
    ),
    b"kvm_inj_virq": Payload(KernelEvent.KVM_INJ_VIRQ, r"(?i:irq|IRQ) (?P<value>0x[0-9a-f]+|\d+)(?: .*)?"),
}
"""The events as the kernel prints them, which perf, ftrace and trace-cmd keep to; and trace-cmd's short forms."""
