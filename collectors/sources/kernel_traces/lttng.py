"""Text of LTTng's kernel traces, as babeltrace and babeltrace2 print it."""

from __future__ import annotations

import re
from typing import Final

from ....events.kernel import KernelEvent
from ...parser import Input
from .dialect import HARD, SOFT, TIMER, Dialect
from .payload import Payload
from .rows import Step
from .text import KernelTextParser

_HEADER: Final = (
    rb"\[(?:(?P<date>\d{4}-\d\d-\d\d) )?(?P<stamp>(?:\d\d:\d\d:\d\d|\d{1,10})\.\d{1,9})\] (?:\([^) ]*\) )?"
    rb"(?:(?P<host>[^\s:{}]+) )?(?P<event>\w+): \{ cpu_id = (?P<cpu>\d{1,6})[^}\n]*\},?"
    rb"(?: \{ (?P<context>[^{}\n]*) \},(?= \{))?"
)
_FIRST: Final = re.compile(_HEADER)
_WAKE: Final = r'.*?\bcomm = "(?P<name>.*?)", tid = (?P<other>\d+),.*'


def _wake(code: KernelEvent) -> Payload:
    return Payload(code, _WAKE)


_PAYLOADS: Final[dict[bytes, Payload]] = {
    b"sched_switch": Payload(
        KernelEvent.SCHED_SWITCH,
        r".*?\bprev_tid = (?P<tid>\d+), .*?\bprev_state = (?P<state>\w+|\([^)]*\)), "
        r'next_comm = "(?P<name>.*?)", next_tid = (?P<other>\d+).*',
    ),
    b"sched_waking": _wake(KernelEvent.SCHED_WAKING),
    b"sched_wakeup": _wake(KernelEvent.SCHED_WAKEUP),
    b"sched_ttwu": _wake(KernelEvent.SCHED_WAKEUP),
    b"sched_wakeup_new": _wake(KernelEvent.SCHED_WAKEUP_NEW),
    b"sched_process_fork": Payload(
        KernelEvent.SCHED_PROCESS_FORK,
        r".*?\bparent_tid = (?P<tid>\d+), parent_pid = (?P<pid>\d+),.*?"
        r'child_comm = "(?P<name>.*?)", child_tid = (?P<other>\d+),(?:.*\bchild_pid = (?P<other_pid>\d+))?.*',
    ),
    b"sched_process_exec": Payload(
        KernelEvent.SCHED_PROCESS_EXEC, r'.*?\bfilename = "(?P<path>.*?)", tid = (?P<tid>\d+).*'
    ),
    b"sched_process_exit": Payload(
        KernelEvent.SCHED_PROCESS_EXIT, r'.*?\bcomm = "(?P<name>.*?)", tid = (?P<tid>\d+).*'
    ),
    b"lttng_statedump_process_state": Payload(
        KernelEvent.PROCESS_STATE, r'.*?\btid = (?P<tid>\d+), .*?\bpid = (?P<pid>\d+), .*?\bname = "(?P<name>.*?)".*'
    ),
    b"lttng_statedump_file_descriptor": Payload(Step.DESCRIPTOR),
    b"irq_handler_entry": Payload(Step.INTERRUPT_IN, other=HARD),
    b"irq_handler_exit": Payload(Step.INTERRUPT_OUT, other=HARD),
    b"softirq_entry": Payload(Step.INTERRUPT_IN, other=SOFT),
    b"irq_softirq_entry": Payload(Step.INTERRUPT_IN, other=SOFT),
    b"softirq_exit": Payload(Step.INTERRUPT_OUT, other=SOFT),
    b"irq_softirq_exit": Payload(Step.INTERRUPT_OUT, other=SOFT),
    **{
        prefix + name + suffix: Payload(step, other=TIMER)
        for prefix in (b"", b"timer_")
        for name in (b"hrtimer_expire", b"timer_expire")
        for suffix, step in ((b"_entry", Step.INTERRUPT_IN), (b"_exit", Step.INTERRUPT_OUT))
    },
    b"x86_irq_vectors_local_timer_entry": Payload(Step.INTERRUPT_IN, other=HARD),
    b"x86_irq_vectors_local_timer_exit": Payload(Step.INTERRUPT_OUT, other=HARD),
    b"kvm_x86_inj_virq": Payload(KernelEvent.KVM_INJ_VIRQ, r".*\birq = (?P<value>\d+|0x[0-9a-fA-F]+).*"),
    b"kvm_x86_cr": Payload(KernelEvent.KVM_CR3, r".*\brw = 1, cr = 3, val = (?P<value>\d+|0x[0-9a-fA-F]+).*"),
    b"exit_syscall": Payload(Step.CALL_OUT),
}

DIALECT: Final = Dialect(
    name="lttng",
    line=re.compile(rb"^(?:" + _HEADER + rb"(?P<payload>[^\n]*)|(?P<rest>[^\n]*))\n", re.MULTILINE),
    payloads=_PAYLOADS,
    call_in=(b"syscall_entry_", b"sys_"),
    call_out=(b"syscall_exit_",),
    ignored=re.compile(rb"\s*$"),
    expected="a line of babeltrace, such as `[1412670961.211287139] (+0.000005400) node sched_wakeup: "
    '{ cpu_id = 1 }, { comm = "cat", tid = 496, prio = 120, target_cpu = 2 }`',
)


class LttngParser(KernelTextParser):
    """Parses what babeltrace prints of an LTTng kernel trace; the lines need not say which thread acts."""

    def __init__(self, about: Input) -> None:
        super().__init__(about, DIALECT)


def looks_like_lttng(head: bytes) -> bool:
    """Tells babeltrace's lines from the first bytes of a file."""
    return bool(_FIRST.match(head.lstrip()))
