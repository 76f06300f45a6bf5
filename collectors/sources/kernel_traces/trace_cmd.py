"""Output of ``trace-cmd report``, and the text of ftrace itself (``/sys/kernel/tracing/trace``)."""

from __future__ import annotations

import re
from typing import Final

from ...parser import Input
from .dialect import KERNEL_FORMATS, Dialect
from .text import KernelTextParser

_HEADER: Final = (
    rb" *(?:<\.\.\.>|(?P<comm>\S[^\n]*?))-(?P<tid>\d{1,10}) +(?:\( *(?:(?P<pid>\d{1,10})|-+)\) +)?"
    rb"\[(?P<cpu>\d{1,6})\] +"
    rb"(?:(?P<flags>[\w.]{4,6}) +)?(?P<stamp>\d{1,10}\.\d{1,9}): +(?P<event>\w+): *"
)
_FIRST: Final = re.compile(rb"^(?:#[^\n]*\n|(?:version|cpus) *=[^\n]*\n|CPU \d+ is empty\n|\s*\n)*" + _HEADER)

DIALECT: Final = Dialect(
    name="trace-cmd",
    line=re.compile(rb"^(?:" + _HEADER + rb"(?P<payload>[^\n]*)|(?P<rest>[^\n]*))\n", re.MULTILINE),
    payloads=KERNEL_FORMATS,
    call_in=(b"sys_enter_",),
    call_out=(b"sys_exit_",),
    ignored=re.compile(rb"\s*(?:#.*|(?:version|cpus) *=.*|CPU:?\d* .*|CPU \d+ is empty)?$"),
    expected="a line of trace-cmd report, such as `bash-4711 [000] 4874.609034: sched_waking: comm=cat pid=4712`",
)


class TraceCmdParser(KernelTextParser):
    """Parses what trace-cmd prints of a recording of ``sched`` and other events."""

    def __init__(self, about: Input) -> None:
        super().__init__(about, DIALECT)


def looks_like_trace_cmd(head: bytes) -> bool:
    """Tells trace-cmd's and ftrace's lines from the first bytes of a file."""
    return bool(_FIRST.match(head))
