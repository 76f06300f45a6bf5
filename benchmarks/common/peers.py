"""Run a peer's Python package in a process of its own, with an interpreter of its own if necessary."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np


def interpreter_with(package: str, variable: str) -> str | None:
    """Return the Python that a variable names, else ours if it has the package; None without the package."""
    if named := os.environ.get(variable):
        return named
    return sys.executable if importlib.util.find_spec(package) else None


def run_peer(
    python: str | None, package: str, variable: str, program: str, columns: Mapping[str, Any], *arguments: object
) -> list[dict[str, Any]] | None:
    """Run a peer's program on columns.

    Args:
        python: the interpreter; None if the package is not installed.
        package: name of the package, for the message.
        variable: environment variable that names an interpreter, for the message.
        program: source text; its first argument is a NumPy archive of the columns, its last line of output JSON.
        columns: arrays by name.
        arguments: further arguments.

    Returns:
        Its rows, or None if the package is not installed.
    """
    if python is None:
        print(f"{package} is not installed (set {variable} to an interpreter that has it); no peer", file=sys.stderr)
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "columns.npz"
        np.savez(path, **columns)
        command = [python, "-c", program, str(path), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder, timeout=600)
    rows: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return rows
