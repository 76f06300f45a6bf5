"""On the first open of a file the tracer reads only its name from the kernel."""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

from support.tracing.programs import need
from support.tracing.tracing import Tracing

FILES = 1000
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
