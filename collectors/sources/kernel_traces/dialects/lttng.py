"""Text of LTTng's kernel traces, as printed by babeltrace and babeltrace2."""

from __future__ import annotations

import re
from typing import Final

from .....events.kernel import KernelEvent
from ....source import Input
from ..lexing.dialect import Dialect, Payload, interrupts, scheduler
from ..lexing.line import Form
from ..lexing.rows import Step
from ..text import KernelTextParser

_HEADER: Final = (
    rb"\[(?:(?P<date>\d{4}-\d\d-\d\d) )?(?P<stamp>(?:\d\d:\d\d:\d\d|\d{1,10})\.\d{1,9})\] (?:\([^) ]*\) )?"
    rb"(?:(?P<host>[^\s:{}]+) )?(?P<event>\w+): \{ cpu_id = (?P<cpu>\d{1,6})[^}\n]*\},?"
    rb"(?: \{ (?P<context>[^{}\n]*) \},(?= \{))?"
)
_FIRST: Final = re.compile(_HEADER)

_PARENT: Final = "{} parent_tid = {tid:thread}, parent_pid = {pid:thread},"
_CHILD: Final = '{} child_comm = "{name}", child_tid = {other:thread}'

_PAYLOADS: Final[dict[bytes, Payload]] = {
    **scheduler(
        switch=(
            '{} prev_tid = {tid:thread}, {} prev_state = {state}, next_comm = "{name}", next_tid = {other:thread}',
        ),
        wake=('{} comm = "{name}", tid = {other:thread}',),
        fork=(
            f"{_PARENT}{_CHILD}, {{}} child_pid = {{other_pid:thread}}",
            _PARENT + _CHILD,
            "{} parent_tid = {tid:thread}," + _CHILD,
        ),
        exec_=('{} filename = "{path}", tid = {tid:thread}',),
        exit_=('{} comm = "{name}", tid = {tid:thread}',),
    ),
    b"lttng_statedump_process_state": Payload(
        KernelEvent.PROCESS_STATE, '{} tid = {tid:thread}, {} pid = {pid:thread}, {} name = "{name}"'
    ),
    b"lttng_statedump_file_descriptor": Payload(Step.DESCRIPTOR),
    **interrupts(
        {
            b"local_timer": b"x86_irq_vectors_",
            b"softirq": b"irq_",
            b"hrtimer_expire": b"timer_",
            b"timer_expire": b"timer_",
        }
    ),
    b"kvm_x86_inj_virq": Payload(KernelEvent.KVM_INJ_VIRQ, "{} irq = {value:number}"),
    b"kvm_x86_cr": Payload(KernelEvent.KVM_CR3, "{} rw = 1, cr = 3, val = {value:number}"),
    b"exit_syscall": Payload(Step.CALL_OUT),
}

DIALECT: Final = Dialect(
    name="lttng",
    form=Form.LTTNG,
    header=re.compile(_HEADER),
    payloads=_PAYLOADS,
    calls={
        Step.CALL_IN: [(compat + name, b"") for name in (b"syscall_entry_", b"sys_") for compat in (b"", b"compat_")],
        Step.CALL_OUT: [(compat + b"syscall_exit_", b"") for compat in (b"", b"compat_")],
    },
    escaped=True,
    ignored=re.compile(rb"\s*$"),
    expected="a line of babeltrace, such as `[1412670961.211287139] (+0.000005400) node sched_wakeup: "
    '{ cpu_id = 1 }, { comm = "cat", tid = 496, prio = 120, target_cpu = 2 }`',
)


class LttngParser(KernelTextParser):
    """Parses babeltrace's output of an LTTng kernel trace. The lines need not name the acting thread."""

    def __init__(self, about: Input) -> None:
        super().__init__(about, DIALECT)


def looks_like_lttng(head: bytes) -> bool:
    """Recognises babeltrace's lines in the first bytes of a file."""
    return bool(_FIRST.match(head.lstrip()))
