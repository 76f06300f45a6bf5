"""Describe the text format of a tracer, and the parts that several tracers share."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from .....events.kernel import KernelEvent
from .line import Form
from .rows import Step
from .template import Extents, Fields, Template

_LOST: Final = re.compile(
    rb'\s*(?:Lost (\d{1,18}) events|\{"type": "lost_events".*"events": (\d{1,18})'
    rb"|(?:[^\x00- :]+: )?CPU:?\d* \[(?:LOST )?(\d{1,18})? ?EVENTS)"
)
Rows = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Found:
    """Fields of the lines that ``rows`` selects."""

    fields: Fields
    rows: Rows


class Payload:
    """Text format of one event, in one or several variants.

    Args:
        code: code of the event.
        templates: variants (``template.py``), none if no field is needed. Fields are columns of ``Rows``, ``name``,
            ``path`` or ``state``.
        interrupt: kind of the interrupt.
    """

    def __init__(self, code: KernelEvent | Step, *templates: str, interrupt: int = 0) -> None:
        self.code = code
        self.interrupt = interrupt
        self._templates = [Template(text) for text in templates]

    @property
    def wants_fields(self) -> bool:
        """Whether the text after the name is parsed."""
        return bool(self._templates)

    def find(self, data: bytes, payloads: Extents) -> tuple[list[Found], Rows]:
        """Return the fields of matching lines, and the rows of malformed lines."""
        rows = np.arange(len(payloads))
        parts: list[Found] = []
        for template in self._templates:
            if not len(rows):
                break
            fields = template.read(data, payloads[rows])
            parts.append(Found(fields, rows))
            rows = rows[~fields.fits]
        return parts, rows


@dataclass(frozen=True, slots=True)
class Dialect:
    """Text format of one tracer.

    Attributes:
        name: source name of its streams.
        form: how the compiled helper parses the text before a payload.
        header: the same as a regular expression. Groups ``stamp``, ``cpu`` and ``event``, and optionally ``date``,
            ``host``, ``comm``, ``tid``, ``pid``, ``flags`` and ``context``.
        payloads: text after the name of each event that is used.
        calls: prefix and suffix of the names of system calls, for entries and for exits.
        escaped: whether quotes and similar characters in command names are escaped by a backslash.
        ignored: lines of another form that are valid.
        expected: description of a valid line, for messages.
    """

    name: str
    form: Form
    header: re.Pattern[bytes]
    payloads: Mapping[bytes, Payload]
    calls: Mapping[Step, Sequence[tuple[bytes, bytes]]]
    escaped: bool
    ignored: re.Pattern[bytes]
    expected: str

    def call_of(self, event: bytes) -> tuple[Step, str] | None:
        """Return whether a system call is entered or left, and its name.

        The name is "" if the event does not contain it.
        """
        for step, affixes in self.calls.items():
            for before, behind in affixes:
                if event.startswith(before) and event.endswith(behind):
                    return step, event[len(before) : len(event) - len(behind)].decode()
        return None


def scheduler(
    switch: Sequence[str], wake: Sequence[str], fork: Sequence[str], exec_: Sequence[str], exit_: Sequence[str]
) -> dict[bytes, Payload]:
    """Return the scheduler's events, given the templates of their texts."""
    return {
        b"sched_switch": Payload(KernelEvent.SCHED_SWITCH, *switch),
        b"sched_waking": Payload(KernelEvent.SCHED_WAKING, *wake),
        b"sched_wakeup": Payload(KernelEvent.SCHED_WAKEUP, *wake),
        b"sched_ttwu": Payload(KernelEvent.SCHED_WAKEUP, *wake),
        b"sched_wakeup_new": Payload(KernelEvent.SCHED_WAKEUP_NEW, *wake),
        b"sched_process_fork": Payload(KernelEvent.SCHED_PROCESS_FORK, *fork),
        b"sched_process_exec": Payload(KernelEvent.SCHED_PROCESS_EXEC, *exec_),
        b"sched_process_exit": Payload(KernelEvent.SCHED_PROCESS_EXIT, *exit_),
    }


_HARD, _SOFT, _TIMER = 0, 1, 2  # kinds of interrupts, which may be nested in one another
INTERRUPT_KINDS: Final = 3


def interrupts(prefixes: Mapping[bytes, bytes]) -> dict[bytes, Payload]:
    """Return the entries and exits of interrupts; some tracers prefix some of the kernel's names."""
    kinds = {
        b"irq_handler": _HARD,
        b"local_timer": _HARD,
        b"softirq": _SOFT,
        b"hrtimer_expire": _TIMER,
        b"timer_expire": _TIMER,
    }
    return {
        prefix + name + suffix: Payload(step, interrupt=kind)
        for name, kind in kinds.items()
        for prefix in {b"", prefixes.get(name, b"")}
        for suffix, step in ((b"_entry", Step.INTERRUPT_IN), (b"_exit", Step.INTERRUPT_OUT))
    }


KERNEL_FORMATS: Final[dict[bytes, Payload]] = {
    **scheduler(
        switch=(
            "prev_comm={} prev_pid={tid:thread} prev_prio={} prev_state={state:word} ==> "
            "next_comm={name} next_pid={other:thread}",
            "{}:{tid:thread} [{}] {state:word} ==> {name}:{other:thread} [",
        ),
        wake=("comm={name} pid={other:thread}", "{name}:{other:thread} ["),
        fork=("comm={} pid={tid:thread} child_comm={name} child_pid={other:thread}",),
        exec_=("filename={path} pid={tid:thread} old_pid=",),
        exit_=("comm={name} pid={tid:thread}",),
    ),
    **interrupts({}),
    b"kvm_cr": Payload(KernelEvent.KVM_CR3, "cr_write 3 = {value:number}"),
    b"kvm_inj_virq": Payload(
        KernelEvent.KVM_INJ_VIRQ, "IRQ {value:number}", "irq {value:number}", "Soft/INTn {value:number}"
    ),
}
"""The events as the kernel prints them, and trace-cmd's short forms. perf, ftrace and trace-cmd follow the kernel."""

KERNEL_CALLS: Final = {Step.CALL_IN: [(b"sys_enter_", b"")], Step.CALL_OUT: [(b"sys_exit_", b"")]}


def events_lost(line: bytes) -> int:
    """Return the number of lost events that a line of another form reports. Returns 1 if it gives no number."""
    found = _LOST.match(line)
    return int(next(filter(None, found.groups()), b"1")) if found else 0
