"""What tests share: how generated ones take a busy machine, and what those of traced programs need."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from support.regions import MadeRegion
from support.tracing import Tracing

# Slow is what other processes make of a test, too: neither a clock nor a check of one fails any.
settings.register_profile("busy", parent=settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")


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
