"""Output of ``trace-cmd report``, and the text of ftrace itself (``/sys/kernel/tracing/trace``)."""

from __future__ import annotations

import re
from typing import Final

from ....source import Input
from ..lexing.dialect import KERNEL_CALLS, KERNEL_FORMATS, Dialect
from ..lexing.line import Form
from ..lexing.rows import Step
from ..text import KernelTextParser

_HEADER: Final = (
    rb" *(?:[^\x00- :]+: (?= ) *)?(?:<\.\.\.>|(?P<comm>(?:[^\n ][^\n]*?)?))-(?P<tid>\d{1,10}) +"
    rb"(?:\( *(?:(?P<pid>\d{1,10})|-+)\) +)?\[(?P<cpu>\d{1,6})\] +"
    rb"(?:(?P<flags>[\w.]{4,6}) +)?(?P<stamp>\d{1,10}\.\d{1,9}): +"
    rb"(?P<event>\w+(?:(?=:)|\(| ->| <-))(?:(?<=\w):)? *"
)
"""Lines of a buffer other than the main one begin with its name (``trace-cmd record -B``). Command names are padded
there, so ``tmux: server`` is not taken for a buffer. A command may have an empty name or a tab as its name."""
_HEADING: Final = (
    rb"(?:#[^\n]*\n|(?:version|cpus) *=[^\n]*\n|CPU \d+ is empty\n|(?:[^\x00- :]+: )?CPU:\d+ \[[^\n]*\n|[^\S\n]*\n)"
)
_FIRST: Final = re.compile(rb"^%s*(?!%s)" % (_HEADING, _HEADING) + _HEADER)

DIALECT: Final = Dialect(
    name="trace-cmd",
    form=Form.TRACE_CMD,
    header=re.compile(_HEADER),
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
        super().__init__(about, DIALECT)


def looks_like_trace_cmd(head: bytes) -> bool:
    """Recognises lines of trace-cmd and ftrace in the first bytes of a file."""
    return bool(_FIRST.match(head))
