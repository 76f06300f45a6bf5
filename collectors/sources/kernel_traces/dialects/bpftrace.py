"""Output of bpftrace scripts in perf's format (docs/examples/interactions.bt), as text or with -f json."""

from __future__ import annotations

import re
from typing import Final

from ....source import Input
from ..lexing.dialect import KERNEL_CALLS, KERNEL_FORMATS, Dialect
from ..lexing.line import PRINTF, Form
from ..text import KernelTextParser
from .perf_sched import EXPECTED, HEADER

_FIRST: Final = re.compile(
    rb"(?:\s*(?:Lost \d+ events|\{\"type\": \"lost_events\"[^\n]*)\n)*"
    rb'\s*(?:(?:Attaching|Attached) \d+ probe|\{"type": "(?:attached_probes|printf)")'
)

DIALECT: Final = Dialect(
    name="bpftrace",
    form=Form.BPFTRACE,
    header=re.compile(rb"(?:" + re.escape(PRINTF) + rb")?" + HEADER),
    payloads=KERNEL_FORMATS,
    calls=KERNEL_CALLS,
    escaped=True,
    ignored=re.compile(
        rb'\s*(?:(?:Attaching|Attached) \d+ probes?.*|Lost \d+ events|\{"type": "(?:attached_probes|lost_events)".*)?$'
    ),
    expected=EXPECTED + ", after `Attaching 6 probes...`",
)


class BpftraceParser(KernelTextParser):
    """Parses the output of such a bpftrace script."""

    def __init__(self, about: Input) -> None:
        super().__init__(about, DIALECT)


def looks_like_bpftrace(head: bytes) -> bool:
    """Recognises bpftrace's output by its first line."""
    return bool(_FIRST.match(head))
