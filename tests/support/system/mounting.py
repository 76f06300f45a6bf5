"""Mount namespaces of programs under test."""

from __future__ import annotations

import os
import subprocess

import pytest
from support.tracing.programs import need


def need_mounts() -> list[str]:
    """Return a command that runs a program with mounts of its own; skip the test if mounts are not allowed."""
    command = [need("unshare"), *([] if os.getuid() == 0 else ["--user", "--map-root-user"]), "--mount"]
    if subprocess.run([*command, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine allows no private mount namespaces")
    return command
