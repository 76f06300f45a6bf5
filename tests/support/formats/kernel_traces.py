"""Kernel traces: the source without its compiled helper, and mutated lines."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from unittest import mock

from hypothesis import strategies as st
from support.formats.changed_lines import changed
from support.formats.strace_fallback import without_native as without_texts
from support.places import DATA

PERF = gzip.decompress((DATA / "perf_sched.txt.gz").read_bytes())
LTTNG = gzip.decompress((DATA / "lttng.txt.gz").read_bytes())
USERS = ("lexing.line", "lexing.template", "semantics.call_fields")

LINES = (DATA / "kernel_lines.txt").read_bytes().splitlines()
WORDS = rb"""[ ] { } "{ }, - / : ; -> <- ( ) \ " \" = , 0x -0x 12 -1 comm= pid= fd= ret =5 count: filename:
[1.5] 99999999999999999999 tid= 0xffffffffffffffff 0xfffffffffffffffff [001]"""
PARTS = [
    *WORDS.split(),
    *[b" prev_pid=", b" ==> ", b" next_pid=", b" tid = ", b'procname = "', b"{ cpu_id = 1 }", b" prev_state="],
    *[b" [001] ", b"12.000001: ", b" ", b"   ", b"\t", b"\r", b"\0", b"\x1f", b"\xc3", b"9" * 25],
]


@contextmanager
def without_native() -> Iterator[None]:
    """Parsers created inside the block do not use the compiled helper, as if it was not built."""
    with ExitStack() as stack:
        stack.enter_context(without_texts())
        for user in USERS:
            stack.enter_context(mock.patch(f"iotide.collectors.sources.kernel_traces.{user}.native", return_value=None))
        yield


texts = st.lists(changed(st.sampled_from(LINES), PARTS), max_size=8).map(b"".join)
