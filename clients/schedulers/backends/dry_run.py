"""A backend without effect; its caller prints what would be done."""

from __future__ import annotations

from collections.abc import Sequence

from ..limits import Limit


class DryRun:
    """A backend without effect."""

    def apply(self, limits: Sequence[Limit]) -> list[str]:
        """Do nothing."""
        return []

    def clear(self) -> list[str]:
        """Do nothing."""
        return []
