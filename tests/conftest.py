"""What tests of traced programs share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.regions import MadeRegion
from support.tracing import Tracing


@pytest.fixture
def tracing(tmp_path: Path) -> Iterator[Tracing]:
    """A listening collector; give programs its ``environment()``, or ``run`` them."""
    with Tracing(tmp_path) as made:
        yield made


@pytest.fixture
def made() -> Iterator[MadeRegion]:
    """A region as a traced process makes it; ``hand_over`` gives it to a collector."""
    with MadeRegion() as region:
        yield region
