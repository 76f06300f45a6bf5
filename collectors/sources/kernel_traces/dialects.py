"""Dialects of the tracers' texts: perf, bpftrace, trace-cmd or ftrace, and LTTng as printed by babeltrace."""

from __future__ import annotations

import re
from typing import Final

from ....events.kernel import KernelEvent
from ...source import Input
from .lexing.dialect import KERNEL_CALLS, KERNEL_FORMATS, Dialect, Payload, interrupts, scheduler
from .lexing.line import PRINTF, Form
from .lexing.rows import Step
from .parser import KernelTextParser

_PERF_HEADER: Final = (
    rb" *(?:(?P<comm>[^\n ][^\n]*?)(?<! ) +)?(?:(?P<pid>-1|\d{1,10})/)?(?P<tid>-1|\d{1,10}) +\[(?P<cpu>\d{1,6})\] +"
    rb"(?:(?P<flags>[\w.]{4,6}) +)?(?P<stamp>\d{1,10}\.\d{1,9}): +"
    rb"(?:\d+ +)?(?:\w+:(?=\w+:))?(?P<event>\w+): *"
)
_PERF_EXPECTED: Final = (
    "a line of perf script, such as `bash 4711 [000] 4874.609034: sched:sched_waking: comm=cat pid=4712 prio=120`"
)
_PERF_HEADING: Final = rb"(?:#[^\n]*\n|[^\S\n]*\n)"
_PERF_FIRST: Final = re.compile(rb"^%s*(?!%s)" % (_PERF_HEADING, _PERF_HEADING) + _PERF_HEADER)

PERF: Final = Dialect(
    name="perf",
    form=Form.PERF,
    header=re.compile(_PERF_HEADER),
    payloads=KERNEL_FORMATS,
    calls=KERNEL_CALLS,
    escaped=False,
    ignored=re.compile(rb"\s*(?:#.*)?$"),
    expected=_PERF_EXPECTED,
)


class PerfParser(KernelTextParser):
    """Parses perf's output of a recording that has ``sched:*`` among its events."""

    def __init__(self, about: Input) -> None:
        super().__init__(about, PERF)


def looks_like_perf(head: bytes) -> bool:
    """Recognises perf's lines in the first bytes of a file."""
    return bool(_PERF_FIRST.match(head))


_BPFTRACE_FIRST: Final = re.compile(
    rb"(?:\s*(?:Lost \d+ events|\{\"type\": \"lost_events\"[^\n]*)\n)*"
    rb'\s*(?:(?:Attaching|Attached) \d+ probe|\{"type": "(?:attached_probes|printf)")'
)

BPFTRACE: Final = Dialect(
    name="bpftrace",
    form=Form.BPFTRACE,
    header=re.compile(rb"(?:" + re.escape(PRINTF) + rb")?" + _PERF_HEADER),
    payloads=KERNEL_FORMATS,
    calls=KERNEL_CALLS,
    escaped=True,
    ignored=re.compile(
        rb'\s*(?:(?:Attaching|Attached) \d+ probes?.*|Lost \d+ events|\{"type": "(?:attached_probes|lost_events)".*)?$'
    ),
    expected=_PERF_EXPECTED + ", after `Attaching 6 probes...`",
)


class BpftraceParser(KernelTextParser):
    """Parses bpftrace scripts' output in perf's format (docs/examples/interactions.bt), as text or with -f json."""

    def __init__(self, about: Input) -> None:
        super().__init__(about, BPFTRACE)


def looks_like_bpftrace(head: bytes) -> bool:
    """Recognises bpftrace's output by its first line."""
    return bool(_BPFTRACE_FIRST.match(head))


_TRACE_CMD_HEADER: Final = (
    rb" *(?:[^\x00- :]+: (?= ) *)?(?:<\.\.\.>|(?P<comm>(?:[^\n ][^\n]*?)?))-(?P<tid>\d{1,10}) +"
    rb"(?:\( *(?:(?P<pid>\d{1,10})|-+)\) +)?\[(?P<cpu>\d{1,6})\] +"
    rb"(?:(?P<flags>[\w.]{4,6}) +)?(?P<stamp>\d{1,10}\.\d{1,9}): +"
    rb"(?P<event>\w+(?:(?=:)|\(| ->| <-))(?:(?<=\w):)? *"
)
"""Lines of a buffer other than the main one begin with its name (``trace-cmd record -B``). Command names are padded
there, so ``tmux: server`` is not taken for a buffer. A command may have an empty name or a tab as its name."""
_TRACE_CMD_HEADING: Final = (
    rb"(?:#[^\n]*\n|(?:version|cpus) *=[^\n]*\n|CPU \d+ is empty\n|(?:[^\x00- :]+: )?CPU:\d+ \[[^\n]*\n|[^\S\n]*\n)"
)
_TRACE_CMD_FIRST: Final = re.compile(rb"^%s*(?!%s)" % (_TRACE_CMD_HEADING, _TRACE_CMD_HEADING) + _TRACE_CMD_HEADER)

TRACE_CMD: Final = Dialect(
    name="trace-cmd",
    form=Form.TRACE_CMD,
    header=re.compile(_TRACE_CMD_HEADER),
    payloads=KERNEL_FORMATS,
    calls={
        Step.CALL_IN: [*KERNEL_CALLS[Step.CALL_IN], (b"sys_", b"(")],
        Step.CALL_OUT: [*KERNEL_CALLS[Step.CALL_OUT], (b"sys_", b" ->")],
    },
    escaped=False,
    ignored=re.compile(rb"\s*(?:#.*|(?:version|cpus) *=.*|(?:[^\x00- :]+: )?CPU:?\d* .*|CPU \d+ is empty)?$"),
    expected="a line of trace-cmd report, such as `bash-4711 [000] 4874.609034: sched_waking: comm=cat pid=4712`",
)


class TraceCmdParser(KernelTextParser):
    """Parses trace-cmd's output of a recording of ``sched`` and other events."""

    def __init__(self, about: Input) -> None:
        super().__init__(about, TRACE_CMD)


def looks_like_trace_cmd(head: bytes) -> bool:
    """Recognises lines of trace-cmd and ftrace in the first bytes of a file."""
    return bool(_TRACE_CMD_FIRST.match(head))


_LTTNG_HEADER: Final = (
    rb"\[(?:(?P<date>\d{4}-\d\d-\d\d) )?(?P<stamp>(?:\d\d:\d\d:\d\d|\d{1,10})\.\d{1,9})\] (?:\([^) ]*\) )?"
    rb"(?:(?P<host>[^\s:{}]+) )?(?P<event>\w+): \{ cpu_id = (?P<cpu>\d{1,6})[^}\n]*\},?"
    rb"(?: \{ (?P<context>[^{}\n]*) \},(?= \{))?"
)
_LTTNG_FIRST: Final = re.compile(_LTTNG_HEADER)

_LTTNG_PARENT: Final = "{} parent_tid = {tid:thread}, parent_pid = {pid:thread},"
_LTTNG_CHILD: Final = '{} child_comm = "{name}", child_tid = {other:thread}'

_LTTNG_PAYLOADS: Final[dict[bytes, Payload]] = {
    **scheduler(
        switch=(
            '{} prev_tid = {tid:thread}, {} prev_state = {state}, next_comm = "{name}", next_tid = {other:thread}',
        ),
        wake=('{} comm = "{name}", tid = {other:thread}',),
        fork=(
            f"{_LTTNG_PARENT}{_LTTNG_CHILD}, {{}} child_pid = {{other_pid:thread}}",
            _LTTNG_PARENT + _LTTNG_CHILD,
            "{} parent_tid = {tid:thread}," + _LTTNG_CHILD,
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

LTTNG: Final = Dialect(
    name="lttng",
    form=Form.LTTNG,
    header=re.compile(_LTTNG_HEADER),
    payloads=_LTTNG_PAYLOADS,
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
        super().__init__(about, LTTNG)


def looks_like_lttng(head: bytes) -> bool:
    """Recognises babeltrace's lines in the first bytes of a file."""
    return bool(_LTTNG_FIRST.match(head.lstrip()))
