"""Real programs that the end-to-end tests run."""

from __future__ import annotations

import os
import shutil

import pytest


def need(program: str) -> str:
    """Returns a program's path; skips the test where it is absent, but fails it under ``CI=true``."""
    found = shutil.which(program)
    if found is None:
        reason = f"{program} is not installed (make system-deps installs it)"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return found
