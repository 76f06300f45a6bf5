"""Work that starts beside a command has lower priority; a thread that waits for it keeps its own."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest
from iotide.cli.run.low_priority import NICE_INCREMENT, LowPriority

NICE = min(os.getpriority(os.PRIO_PROCESS, 0) + NICE_INCREMENT, 19)


def niceness() -> int:
    return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())


def test_work_gives_way_and_its_caller_does_not() -> None:
    before = niceness()
    assert LowPriority().run(niceness) == NICE
    assert niceness() == before


def test_errors_of_the_work_are_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        LowPriority().run(lambda: 1 // 0)


def test_no_work_yields_to_an_ended_command() -> None:
    low_priority = LowPriority()
    low_priority.command_ended()
    assert low_priority.run(niceness) == niceness()


def test_priority_comes_back_when_the_command_ends() -> None:
    low_priority = LowPriority()

    def work() -> int:
        low_priority.command_ended()
        return niceness()

    # Without the privilege the niceness stays raised, and the result is the same.
    assert low_priority.run(work) == (niceness() if _may_take_back() else NICE)


def test_a_thread_that_is_done_is_forgotten() -> None:
    """Its thread id may be reused before the command ends."""
    low_priority = LowPriority()
    low_priority.run(niceness)
    assert low_priority._own == {}


@pytest.mark.slow
def test_the_analysis_is_imported_in_a_thread_that_gives_way() -> None:
    """An import hook records the niceness at which ``iotide run`` imports the analysis."""
    script = """
import os, sys, threading
class Watch:
    def find_spec(self, name, path=None, target=None):
        if name == "iotide.cli.run.run_session":
            sys.stderr.write(f"nice {os.getpriority(os.PRIO_PROCESS, threading.get_native_id())}\\n")
            sys.stderr.flush()
sys.meta_path.insert(0, Watch())
from iotide.cli.main import main
sys.argv[1:] = ["run", "--no-report", "--quiet", "--", "cat"]
main()
"""
    words = [sys.executable, "-c", script]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as ran:
        assert ran.stdin is not None
        assert ran.stderr is not None
        said = next((line for line in ran.stderr if line.startswith("nice ")), "")
        ran.stdin.close()  # the command ran until then
        ran.stderr.read()
    assert (said, ran.returncode) == (f"nice {NICE}\n", 0)


def _may_take_back() -> bool:
    code = "import os; before = os.nice(0); os.nice(1); os.setpriority(os.PRIO_PROCESS, 0, before)"
    return subprocess.run([sys.executable, "-c", code], stderr=subprocess.DEVNULL, check=False).returncode == 0
