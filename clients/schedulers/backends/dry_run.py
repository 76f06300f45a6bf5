"""A back end that does nothing: what would be done is printed by who drives it."""

from __future__ import annotations

from collections.abc import Sequence

from ..limits import Limit


class DryRun:
    """Does nothing."""

    def apply(self, limits: Sequence[Limit]) -> list[str]:
        """Does nothing."""
        return []

    def clear(self) -> list[str]:
        """Does nothing."""
        return []
