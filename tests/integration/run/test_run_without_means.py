"""``iotide run`` without system resources: the command still runs, and its exit status is unchanged."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from support.system.commands import IOTIDE, iotide, plain_environment
from support.system.mounting import need_mounts
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


@pytest.mark.parametrize("limit", [6, 8, 9, 10, 12, 14])
@pytest.mark.parametrize("options", [[], ["--web"]])
def test_limit_of_open_files_is_named_as_the_reason(tmp_path: Path, limit: int, options: list[str]) -> None:
    command = ["sh", "-c", f'ulimit -n {limit}; exec "$@"', "sh", *IOTIDE, "run", *options, "--", "sh", "-c", "exit 7"]
    done = subprocess.run(
        command, cwd=tmp_path, env=plain_environment(), capture_output=True, text=True, timeout=DEADLINE_S
    )
    assert done.returncode == 7, done.stderr
    assert done.stderr == (
        f"iotide: the command runs untraced: the limit of {limit} open files is too small (ulimit -n)\n"
    )


def test_command_is_traced_in_a_root_folder_without_proc(tmp_path: Path) -> None:
    command = [*need_mounts(), "sh", "-c", 'umount -l /proc; exec "$@"', "sh", *IOTIDE, "run", "--no-report", "--json"]
    command += [str(tmp_path / "run.json"), "--", "sh", "-c", "echo 123 > file"]
    done = subprocess.run(
        command, cwd=tmp_path, env=plain_environment(), capture_output=True, text=True, timeout=DEADLINE_S
    )
    assert done.returncode == 0, done.stderr
    summary = json.loads((tmp_path / "run.json").read_text())
    assert (summary["job"]["bytes_written"], summary["unseen"]) == (4, []), done.stderr


def test_why_processes_were_refused_is_told(tmp_path: Path) -> None:
    program = (
        "import os, socket; peer = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET); "
        "peer.connect(os.environ['IOTIDE_SOCKET']); peer.send(b'no region')"
    )
    done = iotide("run", "--no-report", "--", sys.executable, "-c", program, cwd=tmp_path)
    assert done.returncode == 0
    assert "1 process refused by the collector" in done.stderr
    assert "iotide: refused: " in done.stderr
