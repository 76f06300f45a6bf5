"""Comparison of results that are computed in different orders."""

from __future__ import annotations

from typing import Any

import pytest


def assert_alike(live: Any, offline: Any, where: str) -> None:
    """Assert that both are the same up to the rounding of sums of fractions."""
    if isinstance(live, dict):
        assert live.keys() == offline.keys(), where
        for key in live:
            assert_alike(live[key], offline[key], f"{where}.{key}")
    elif isinstance(live, list):
        assert len(live) == len(offline), where
        for at, (one, other) in enumerate(zip(live, offline, strict=True)):
            assert_alike(one, other, f"{where}[{at}]")
    elif isinstance(live, float):
        assert live == pytest.approx(offline, rel=1e-9, abs=1e-12), where
    else:
        assert live == offline, where
