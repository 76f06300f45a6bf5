"""The tutorial, run as written: its commands one after the other."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.places import ROOT
from support.system.commands import plain_environment
from support.system.waiting import DEADLINE_S
from support.tracing.programs import need

PAGE = (ROOT / "docs/tutorial.md").read_text()
_LIVE = "iotide serve"


def _commands(before: bool) -> list[str]:
    blocks = re.findall(r"^```sh\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    return [block for block in blocks if (_LIVE not in block) is before]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (program,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    (tmp_path / "simulate.py").write_text(program)
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    (bin_folder / "python3").symlink_to(sys.executable)
    command = bin_folder / "iotide"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m iotide "$@"\n')
    command.chmod(0o755)
    return tmp_path


def _typed(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = plain_environment(PATH=f"{folder}/bin{os.pathsep}{os.environ['PATH']}", PYTHONPATH=_packages())
    # `timeout`, which has its own process group, also ends the processes that a script leaves running.
    return subprocess.run(
        [need("timeout"), str(DEADLINE_S), "bash", "-ec", script],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def _packages() -> str:
    """The Python link in the tests' folder does not find its environment."""
    return os.pathsep.join(path for path in sys.path if path.endswith("site-packages"))


def test_the_slow_program_is_found_and_the_mended_one_is_left_alone(folder: Path) -> None:
    first, advise, second, parts = _commands(before=True)
    program = folder / "simulate.py"
    # On a busy machine the writes of the page may cost less than the least share of a run that advice is given for.
    program.write_text(program.read_text().replace("40_000", "120_000"))
    for script in (first, f"{advise.strip()} --json >first.json"):
        done = _typed(script, folder)
        assert done.returncode == 0, done.stderr
    found = json.loads((folder / "first.json").read_text())["findings"]
    assert "small_requests" in [finding["cause"] for finding in found]
    program.write_text(program.read_text().replace(", buffering=0", ""))
    done = _typed(second, folder)
    assert done.returncode == 0, done.stderr
    assert "writes of 64 B" not in done.stdout
    done = _typed(parts, folder)
    assert done.returncode == 0, done.stderr
    assert (folder / "period.html").stat().st_size > 100_000
    assert "digraph" in (folder / "graph.dot").read_text()
    assert "period" in done.stdout


def test_a_job_that_others_watch_is_predicted(folder: Path) -> None:
    (live,) = _commands(before=False)
    # Tests run concurrently, so the aggregator has its own ingest socket and no HTTP.
    live = live.replace("iotide serve", "iotide serve --http none --ingest ipc://$PWD/ingest")
    live = live.replace(
        "iotide collect --socket $PWD/tracer.sock --until",
        "iotide collect --connect ipc://$PWD/ingest \\\n  --socket $PWD/tracer.sock --until",
    )
    live = live.replace("iotide watch", "iotide watch --count 3 >watched")
    live += "until [ $(wc -l <watched) -ge 3 ]; do sleep 0.1; done; kill %1; wait"
    done = _typed(live, folder)
    assert done.returncode == 0, done.stderr
    watched = (folder / "watched").read_text()
    assert watched.count("\n") == 3, done.stderr
    assert "period" in watched
