"""On the first open of a file the tracer reads only its name from the kernel."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from support.system.mounting import need_mounts
from support.tracing.programs import need
from support.tracing.tracing import Tracing

FILES = 1000
FEW = 40
SCRIPT = f"for i in range({FILES}): open(f'new{{i}}', 'w').close()"


def test_new_file_is_asked_for_its_name_alone(tracing: Tracing, tmp_path: Path) -> None:
    said = tmp_path / "said"
    strace = [need("strace"), "-o", str(said), "-e", "trace=getcwd,statx,readlinkat"]
    done = tracing.run([*strace, sys.executable, "-c", SCRIPT], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    asked = Counter(re.findall(r"^(\w+)\(", said.read_text(), re.MULTILINE))
    assert asked["readlinkat"] >= FILES
    assert asked["getcwd"] < FILES / 2
    assert asked["statx"] < FILES / 2


def test_file_that_is_opened_again_is_not_asked_for_its_name(tracing: Tracing, tmp_path: Path) -> None:
    said = tmp_path / "said"
    strace = [need("strace"), "-o", str(said), "-e", "trace=readlinkat"]
    script = f"for i in range({FILES}): open('same', 'w').close()"
    done = tracing.run([*strace, sys.executable, "-c", script], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(re.findall(r"^readlinkat\(", said.read_text(), re.MULTILINE)) < FILES / 2


def test_names_of_many_files_are_asked_for_below_the_process_s_number(tracing: Tracing, tmp_path: Path) -> None:
    said = tmp_path / "said"
    strace = [need("strace"), "-f", "-s", "4096", "-o", str(said), "-e", "trace=readlinkat"]
    script = f"{SCRIPT}\nimport os\nif not os.fork(): open('of-child', 'w').close()"
    done = tracing.run([*strace, sys.executable, "-c", script], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    asked = re.findall(r'/proc/(\w+)/fd/\d+", "([^"]*)"', said.read_text())
    number = {Path(path).name: process for process, path in asked}
    assert number["of-child"] == "self"
    assert number[f"new{FILES - 1}"].isdigit()


@pytest.mark.parametrize("private", [["--mount"], ["--mount", "--mount-proc"]])
def test_names_are_those_of_the_process_in_a_pid_namespace(
    tracing: Tracing, tmp_path: Path, private: list[str]
) -> None:
    """Without a /proc of its own, it has other numbers there than it knows."""
    unshare = [need("unshare"), "--user", "--map-root-user", "--pid", "--fork", *private]
    if subprocess.run([*unshare, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine allows no private namespaces")
    script = f"""
import os
for part in "ab":
    for number in range({FEW}):
        with open(f"{{part}}{{number}}", "w") as file:
            file.write(part)
    if part == "a" and os.fork():
        raise SystemExit(os.wait()[1])
"""
    done = tracing.run([*unshare, sys.executable, "-c", script], cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert _written(tracing, tmp_path) == [f"{tmp_path}/{part}{number}" for part in "ab" for number in range(FEW)]


def test_names_are_known_after_proc_is_gone_or_another_one(tracing: Tracing, tmp_path: Path) -> None:
    script = f"""
import subprocess, sys
for part, command in (("a", "umount -l /proc"), ("b", "mount -t proc none /proc"), ("c", "true")):
    for number in range({FEW}):
        with open(f"{{sys.argv[1]}}/{{part}}{{number}}", "w") as file:
            file.write(part)
    subprocess.run(command, shell=True, check=True)
"""
    done = tracing.run([*need_mounts(), sys.executable, "-c", script, tmp_path])
    assert (done.returncode, done.stderr) == (0, "")
    assert _written(tracing, tmp_path) == [f"{tmp_path}/{part}{number}" for part in "abc" for number in range(FEW)]


def _written(tracing: Tracing, folder: Path) -> list[str]:
    return [row.path for row in tracing.rows("write") if row.path.startswith(str(folder))]
