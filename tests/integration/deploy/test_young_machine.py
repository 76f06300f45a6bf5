"""Recently booted machines: their monotonic clock is near 0, so 0 must not mean long ago."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from iotide.results.jobs.run import RunSummary
from support.places import TESTS
from support.system.commands import IOTIDE, plain_environment
from support.system.waiting import DEADLINE_S
from support.tracing.programs import need

YOUNG_S = 3
WITH_CLOCKS = [
    "unit/collectors/sources/preload/test_preload_source.py",
    "unit/collectors/sources/preload/rings/test_preload_handover_socket.py",
    "unit/collectors/transport/test_shipper.py",
    "unit/daemon/ingest/test_ingest.py",
    "integration/collect/test_agent.py",
    "integration/daemon/test_server.py::test_health_reports_missing_predictions",
]


def young() -> list[str]:
    """Return the prefix that runs a command with a clock that started seconds ago; skip if that is not allowed."""
    steady_s, up_s = (int(time.clock_gettime(clock)) for clock in (time.CLOCK_MONOTONIC, time.CLOCK_BOOTTIME))
    ages = [f"--monotonic={min(YOUNG_S - steady_s, 0)}", f"--boottime={min(YOUNG_S - up_s, 0)}"]
    as_user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    prefix = [need("unshare"), *as_user, "--time", "--fork", *ages]
    tried = subprocess.run([*prefix, "true"], capture_output=True, text=True, check=False)
    if tried.returncode:
        pytest.skip(f"no private clock for a command: {tried.stderr.strip()}")
    return prefix


def test_parts_that_have_a_clock_pass_their_tests_on_a_young_machine() -> None:
    command = [*young(), sys.executable, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider"]
    command += map(str, map(TESTS.joinpath, WITH_CLOCKS))
    with TemporaryDirectory() as folder:  # short, because names of sockets are limited
        command += ["--basetemp", f"{folder}/t"]
        done = subprocess.run(command, cwd=TESTS.parent, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]


def test_run_sees_everything_on_a_young_machine(tmp_path: Path) -> None:
    writer = (
        "import os\nout = os.open('data', os.O_CREAT | os.O_WRONLY)\nfor _ in range(100): os.write(out, bytes(10_000))"
    )
    command = [*young(), *IOTIDE, "run", "-o", "report", "--", sys.executable, "-c", writer]
    done = subprocess.run(
        command, cwd=tmp_path, env=plain_environment(), capture_output=True, text=True, check=False, timeout=DEADLINE_S
    )
    assert done.returncode == 0, done.stderr
    summary = RunSummary.model_validate_json((tmp_path / "report" / "summary.json").read_text())
    assert {row.path: row.bytes_written for row in summary.job.files}[str(tmp_path / "data")] == 1_000_000
