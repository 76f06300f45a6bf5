"""Work that starts beside a command has lower priority; who waits for it keeps its own."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest
from iotide.cli.giving_way import NICENESS, giving_way


def niceness() -> int:
    return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())


def test_work_gives_way_and_its_caller_does_not() -> None:
    before = niceness()
    assert giving_way(niceness) == max(before, NICENESS)
    assert niceness() == before


def test_what_work_raises_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        giving_way(lambda: 1 // 0)


def test_the_analysis_is_imported_in_a_thread_that_gives_way() -> None:
    """An import hook notes at which niceness ``iotide run`` imports the analysis."""
    script = """
import os, sys, threading
class Watch:
    def find_spec(self, name, path=None, target=None):
        if name == "iotide.cli.run_session":
            sys.stderr.write(f"nice {os.getpriority(os.PRIO_PROCESS, threading.get_native_id())}\\n")
sys.meta_path.insert(0, Watch())
from iotide.cli.main import main
sys.argv[1:] = ["run", "--no-report", "--quiet", "--", "true"]
main()
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert f"nice {max(niceness(), NICENESS)}" in ran.stderr.splitlines()
