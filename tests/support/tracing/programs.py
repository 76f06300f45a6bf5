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
    """Return a program's path; skip the test if it is absent, or fail it under ``CI=true``."""
    found = shutil.which(program)
    if found is None:
        _absent(program)
    return found


def need_working(program: str, *words: str) -> str:
    """Do the same, for the first program of that name that runs successfully with these arguments: rustup's ``rustc``
    may have no toolchain.
    """
    for found in filter(None, (shutil.which(program, path=folder) for folder in os.get_exec_path())):
        if not subprocess.run([found, *words], capture_output=True, check=False, timeout=DEADLINE_S).returncode:
            break
    else:
        _absent(program)
    return found


def need_header(header: str) -> None:
    """Do the same for a C library's header."""
    check = [need("gcc"), "-fsyntax-only", "-include", header, "-x", "c", os.devnull]
    if subprocess.run(check, capture_output=True, check=False).returncode:
        _absent(header)


def need_library(name: str) -> None:
    """Do the same for a shared library."""
    try:
        ctypes.CDLL(name)
    except OSError:
        _absent(name)


def need_file(path: Path) -> Path:
    """Do the same for a file or folder of a package."""
    if not path.exists():
        _absent(str(path))
    return path


def need_module(python: str, module: str, script: str) -> str:
    """Do the same for a module of another interpreter; return the output of a script there."""
    done = subprocess.run([need(python), "-c", script], capture_output=True, text=True, check=False, timeout=DEADLINE_S)
    if done.returncode:
        _absent(f"{module} of {python}")
    return done.stdout


def left_out(reasons: Iterable[str]) -> str:
    """Return one line on the tests skipped for absent Debian packages and how to install these; "" for none.

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
