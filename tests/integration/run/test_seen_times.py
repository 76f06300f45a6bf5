"""Lines of ``iotide run`` never report more observed time than the run, even if the analysis is late."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from support.system.commands import iotide

BURST = """
import os
file = os.open("out", os.O_CREAT | os.O_WRONLY)
for _ in range(300_000):
    os.write(file, b"12345678")
"""
SECONDS = {"ms": 1e-3, "s": 1.0}


def test_no_line_has_observed_more_than_the_run(tmp_path: Path) -> None:
    options = ["--interval", "0.05", "--json", "run.json", "-o", "report"]
    done = iotide("run", *options, "--", sys.executable, "-c", BURST, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    summary = json.loads((tmp_path / "run.json").read_text())
    lasted_s = summary["ended_at_s"] - summary["started_at_s"]
    seen = [float(number) * SECONDS[unit] for number, unit in re.findall(r"([\d.]+) (m?s) seen\)", done.stderr)]
    assert seen
    assert max(seen) <= lasted_s * 1.02 + 0.02
