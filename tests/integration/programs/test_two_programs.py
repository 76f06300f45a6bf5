"""Two programs under one run, each with its own period: both are reported, with their members."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.jobs.own_log import assert_period, phase_distances
from support.system.commands import IOTIDE, iotide, plain_environment
from support.system.waiting import DEADLINE_S

NEAR = 0.05
PERIODS = {"quick": 0.45, "slow": 0.77}
LENGTH_S = 14
SCRIPT = """
import os, sys, time
name, period, length = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
begun = time.monotonic()
for number in range(int(length / period)):
    time.sleep(max(begun + number * period - time.monotonic(), 0))
    os.write(1, f"{name} {time.time()!r}\\n".encode())  # at once: the other program writes to the same pipe
    with open(f"{name}-{number:03d}.chk", "wb", buffering=0) as file:
        for _ in range(4):
            file.write(bytes(200_000))
"""


def told(prediction: dict[str, Any]) -> dict[str, float]:
    """Return the period of each of the two programs, by the name in its members."""
    rows = [(prediction["who"], prediction["period_s"])]
    rows += [(each["who"], each["period_s"]) for each in prediction["others"] if each["relation"] == "beside"]
    made = {}
    for who, period in rows:
        assert who is not None, prediction
        text = " ".join(who["members"])
        (name,) = [each for each in PERIODS if each in text]
        made[name] = period["value"]
    return made


def test_two_programs_of_one_run_are_each_told_with_their_period(tmp_path: Path) -> None:
    (tmp_path / "phases.py").write_text(SCRIPT)
    one, other = (f"{sys.executable} phases.py {name} {period} {LENGTH_S}" for name, period in PERIODS.items())
    done = subprocess.run(
        [*IOTIDE, "run", "-o", "report", "--json", "summary.json", "--", "sh", "-c", f"{one} & {other} & wait"],
        cwd=tmp_path, env=plain_environment(), capture_output=True, text=True, timeout=DEADLINE_S, check=True,
    )  # fmt: skip
    lines = [line.split() for line in done.stdout.splitlines()]
    starts = {name: [float(at) for who, at in lines if who == name] for name in PERIODS}
    if any(max(phase_distances(log)) > (1 + 5 * NEAR) * min(phase_distances(log)) for log in starts.values()):
        pytest.skip("the machine stalled: the programs' own logs are not even")
    summary = json.loads((tmp_path / "summary.json").read_text())
    report = json.loads(iotide("detect", "--json", summary["archive"], cwd=tmp_path).stdout)
    for prediction in (summary["prediction"], report["prediction"]):
        periods = told(prediction)
        assert set(periods) == set(PERIODS), prediction
        for name, log in starts.items():
            assert_period(periods[name], log, NEAR)
    assert "beside: command" in iotide("detect", summary["archive"], cwd=tmp_path).stdout
    assert "beside: command" in (tmp_path / "report" / "report.html").read_text()
