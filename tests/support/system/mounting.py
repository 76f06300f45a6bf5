"""Mount namespaces of programs under test."""

from __future__ import annotations

import os
import subprocess

import pytest
from support.tracing.programs import need


def need_mounts() -> list[str]:
    """Returns a command that runs a program with mounts of its own, where that is allowed."""
    command = [need("unshare"), *([] if os.getuid() == 0 else ["--user", "--map-root-user"]), "--mount"]
    if subprocess.run([*command, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine allows no mount namespaces of one's own")
    return command
