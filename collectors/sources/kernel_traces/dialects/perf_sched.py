"""Output of ``perf sched script`` and ``perf script`` for scheduler, interrupts and system calls."""

from __future__ import annotations

import re
from typing import Final

from ....source import Input
from ..lexing.dialect import KERNEL_CALLS, KERNEL_FORMATS, Dialect
from ..lexing.line import Form
from ..text import KernelTextParser

HEADER: Final = (
    rb" *(?:(?P<comm>[^\n ][^\n]*?)(?<! ) +)?(?:(?P<pid>-1|\d{1,10})/)?(?P<tid>-1|\d{1,10}) +\[(?P<cpu>\d{1,6})\] +"
    rb"(?:(?P<flags>[\w.]{4,6}) +)?(?P<stamp>\d{1,10}\.\d{1,9}): +"
    rb"(?:\d+ +)?(?:\w+:(?=\w+:))?(?P<event>\w+): *"
)
EXPECTED: Final = (
    "a line of perf script, such as `bash 4711 [000] 4874.609034: sched:sched_waking: comm=cat pid=4712 prio=120`"
)
_HEADING: Final = rb"(?:#[^\n]*\n|[^\S\n]*\n)"
_FIRST: Final = re.compile(rb"^%s*(?!%s)" % (_HEADING, _HEADING) + HEADER)

DIALECT: Final = Dialect(
    name="perf",
    form=Form.PERF,
    header=re.compile(HEADER),
    payloads=KERNEL_FORMATS,
    calls=KERNEL_CALLS,
    escaped=False,
    ignored=re.compile(rb"\s*(?:#.*)?$"),
    expected=EXPECTED,
)


class PerfParser(KernelTextParser):
    """Parses perf's output of a recording that has ``sched:*`` among its events."""

    def __init__(self, about: Input) -> None:
        super().__init__(about, DIALECT)


def looks_like_perf(head: bytes) -> bool:
    """Recognises perf's lines in the first bytes of a file."""
    return bool(_FIRST.match(head))
