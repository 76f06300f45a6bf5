"""The kernel that takes strace's lines apart under checks of addresses and undefined behaviour, on hostile lines."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from iotide.collectors.sources.strace import kernel_library
from support.programs import need

SOURCES = Path(kernel_library.__file__).parent / "kernel"
TESTS = Path(__file__).parents[1]
ROUNDS = 25


def test_hostile_lines_make_the_kernel_touch_nothing_that_is_not_its_own(tmp_path: Path) -> None:
    compiler, library = need("gcc"), tmp_path / "libchecked.so"
    checks = ["-O1", "-g", "-fPIC", "-shared", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    subprocess.run(
        [compiler, "-std=gnu11", *checks, "-o", library, *sorted(SOURCES.glob("*.c"))], check=True, timeout=120
    )
    runtime = subprocess.run(
        [compiler, "-print-file-name=libasan.so"], capture_output=True, text=True, check=True
    ).stdout.strip()
    checked = {"LD_PRELOAD": runtime, "ASAN_OPTIONS": "detect_leaks=0", "PYTHONMALLOC": "malloc"}
    sample = TESTS / "data/strace_pipe.txt"
    done = subprocess.run(
        [sys.executable, TESTS / "programs/hostile_strace.py", library, sample, str(ROUNDS)],
        env={**os.environ, **checked},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stdout == "all lines are accounted for\n"
