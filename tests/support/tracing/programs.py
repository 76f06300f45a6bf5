"""Real programs that the end-to-end tests run."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NoReturn

import pytest
from support.system.waiting import DEADLINE_S

_REASON: Final = "{} is not installed (make system-deps installs it)"
_ABSENT: Final = re.compile(r"(?:Skipped: )?(.*) is not installed \(make system-deps installs it\)")
_MOST_NAMED: Final = 8


def need(program: str) -> str:
    """Returns a program's path; skips the test where it is absent, but fails it under ``CI=true``."""
    found = shutil.which(program)
    if found is None:
        _absent(program)
    return found


def need_working(program: str, *words: str) -> str:
    """Does the same, for the first of that name that ends well with these words: rustup's ``rustc`` may have none."""
    for found in filter(None, (shutil.which(program, path=folder) for folder in os.get_exec_path())):
        if not subprocess.run([found, *words], capture_output=True, check=False, timeout=DEADLINE_S).returncode:
            break
    else:
        _absent(program)
    return found


def need_header(header: str) -> None:
    """Does the same for a C library's header."""
    check = [need("gcc"), "-fsyntax-only", "-include", header, "-x", "c", os.devnull]
    if subprocess.run(check, capture_output=True, check=False).returncode:
        _absent(header)


def need_library(name: str) -> None:
    """Does the same for a shared library."""
    try:
        ctypes.CDLL(name)
    except OSError:
        _absent(name)


def need_file(path: Path) -> Path:
    """Does the same for a file or folder that a package brings."""
    if not path.exists():
        _absent(str(path))
    return path


def need_module(python: str, module: str, script: str) -> str:
    """Does the same for a module of an interpreter that is not ours; returns what a script prints there."""
    done = subprocess.run([need(python), "-c", script], capture_output=True, text=True, check=False, timeout=DEADLINE_S)
    if done.returncode:
        _absent(f"{module} of {python}")
    return done.stdout


def left_out(reasons: Iterable[str]) -> str:
    """Says how many tests were skipped for want of what Debian has, of which, and what installs it; "" for none.

    >>> left_out(["Skipped: " + _REASON.format("fio"), "Skipped: no GPU"])
    "1 test was left out, as fio is not installed; `make system-deps` installs what the tests need"
    """
    absent = [found[1] for reason in reasons if (found := _ABSENT.search(reason))]
    if not absent:
        return ""
    names = sorted(set(absent), key=absent.count, reverse=True)
    shown = ", ".join(names[:_MOST_NAMED]) + (
        f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    )
    tests, are = ("test was", "is") if len(absent) == 1 else ("tests were", "is" if len(names) == 1 else "are")
    end = "`make system-deps` installs what the tests need"
    return f"{len(absent)} {tests} left out, as {shown} {are} not installed; {end}"


def _absent(what: str) -> NoReturn:
    reason = _REASON.format(what)
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)
