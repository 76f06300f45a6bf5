"""The compiled strace parser with address and undefined-behaviour sanitizers, on hostile lines."""

from __future__ import annotations

from pathlib import Path

from iotide.collectors.sources.strace import native_library
from support.tracing.sanitized import TESTS, run_checked

SOURCES = Path(native_library.__file__).parent / "native"
ROUNDS = 25


def test_hostile_lines_make_the_helper_touch_nothing_that_is_not_its_own(tmp_path: Path) -> None:
    sample = TESTS / "data" / "strace_pipe.txt"
    assert run_checked(SOURCES, "hostile_strace.py", sample, tmp_path, ROUNDS) == "all lines are accounted for\n"
