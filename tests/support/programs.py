"""Real programs that the end-to-end tests run."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import NoReturn

import pytest


def need(program: str) -> str:
    """Returns a program's path; skips the test where it is absent, but fails it under ``CI=true``."""
    found = shutil.which(program)
    if found is None:
        _absent(program)
    return found


def need_header(header: str) -> None:
    """Does the same for a C library's header."""
    check = [need("gcc"), "-fsyntax-only", "-include", header, "-x", "c", os.devnull]
    if subprocess.run(check, capture_output=True, check=False).returncode:
        _absent(header)


def need_file(path: Path) -> Path:
    """Does the same for a file or folder that a package brings."""
    if not path.exists():
        _absent(str(path))
    return path


def need_module(python: str, module: str, script: str) -> str:
    """Does the same for a module of an interpreter that is not ours; returns what a script prints there."""
    done = subprocess.run([need(python), "-c", script], capture_output=True, text=True, check=False, timeout=60)
    if done.returncode:
        _absent(f"{module} of {python}")
    return done.stdout


def _absent(what: str) -> NoReturn:
    reason = f"{what} is not installed (make system-deps installs it)"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)
