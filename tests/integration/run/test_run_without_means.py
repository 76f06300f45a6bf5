"""``iotide run`` without system resources: the command still runs, and its exit status is unchanged."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support.system.commands import IOTIDE, iotide, plain_environment
from support.system.waiting import DEADLINE_S


@pytest.mark.parametrize("limit", ["-n 9", "-f 0"])
def test_command_runs_unobserved_where_iotide_gets_too_little(tmp_path: Path, limit: str) -> None:
    command = ["sh", "-c", f'ulimit {limit}; exec "$@"', "sh", *IOTIDE, "run", "--", "sh", "-c", "echo ran; exit 7"]
    done = subprocess.run(
        command, cwd=tmp_path, env=plain_environment(), capture_output=True, text=True, timeout=DEADLINE_S, umask=0o077
    )
    assert (done.returncode, done.stdout) == (7, "ran\n"), done.stderr
    assert "the command runs untraced: " in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


def test_why_processes_were_refused_is_told(tmp_path: Path) -> None:
    program = (
        "import os, socket; peer = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET); "
        "peer.connect(os.environ['IOTIDE_SOCKET']); peer.send(b'no region')"
    )
    done = iotide("run", "--no-report", "--", sys.executable, "-c", program, cwd=tmp_path)
    assert done.returncode == 0
    assert "1 process refused by the collector" in done.stderr
    assert "iotide: refused: " in done.stderr
