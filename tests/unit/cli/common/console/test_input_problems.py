"""Reports of commands on malformed input: the first problem of each kind, and the number of others."""

from __future__ import annotations

import pytest
from iotide.cli.common.console.input_problems import print_problems
from iotide.collectors.source import Problems, UnsupportedData
from iotide.events import InputError


def test_lines_with_the_same_problem_are_named_three_times_and_then_counted(capsys: pytest.CaptureFixture[str]) -> None:
    problems = Problems(kept=10)
    for line in range(1, 9):
        problems.add(InputError("a.st", line, f"no call at byte {line}", "a call"))
    for line in range(1, 9):
        problems.add(InputError("b.st", line, "no call at byte 1", "a call"))
    print_problems(problems, UnsupportedData())
    assert capsys.readouterr().err.splitlines() == [
        "iotide: a.st:1: no call at byte 1; expected a call",
        "iotide: a.st:2: no call at byte 2; expected a call",
        "iotide: a.st:3: no call at byte 3; expected a call",
        "iotide: b.st:1: no call at byte 1; expected a call",
        "iotide: b.st:2: no call at byte 1; expected a call",
        "iotide: a.st: 5 more: no call at byte N",
        "iotide: 6 further problems",
    ]
