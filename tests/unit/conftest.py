"""A bound of the descriptors that the tests of a module leave open."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

_MAX_LEFT: Final = 30
"""Room for those of libraries and of daemons that a test ends without their consent."""


@pytest.fixture(autouse=True, scope="module")
def _descriptors() -> Iterator[None]:
    """Fail if many more descriptors are open after a module than before: later tests would have too few."""
    before = set(Path("/proc/self/fd").iterdir())
    yield
    left = [name(each) for each in Path("/proc/self/fd").iterdir() if each not in before]
    assert len(left) <= _MAX_LEFT, left


def name(descriptor: Path) -> str:
    """Return what a descriptor is of; "" if it is closed meanwhile."""
    try:
        return str(descriptor.readlink())
    except OSError:
        return ""
