"""Changed external inputs cause no failure: no crash, no hang, no memory beyond the bound."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from fuzz.registry import TARGETS
from fuzz.worker import noted
from support.places import TESTS
from support.system.waiting import DEADLINE_S


@pytest.mark.slow
def test_changed_inputs_break_nothing(tmp_path: Path) -> None:
    """In a separate process; each target's inputs are the same each time. ``make fuzz`` tries others."""
    under_way = tmp_path / "input"
    command = [sys.executable, "-m", "fuzz.worker", *TARGETS, "--under-way", str(under_way)]
    done = subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        capture_output=True,
        text=True,
        timeout=2 * DEADLINE_S,
        check=False,
    )
    told = [json.loads(line) for line in done.stdout.splitlines()]
    defects = [f"{each['target']}, input {each['inputs']}: {each['defect']}" for each in told if each["defect"]]
    assert not defects, "\n".join(defects)
    names = list(TARGETS)
    where = names[len(told)] if len(told) < len(names) else "the end"
    assert done.returncode == 0, (where, noted(under_way)[:2000], done.stderr[-4000:])
    assert all(each["inputs"] == TARGETS[each["target"]].quick for each in told if each["inputs"])
