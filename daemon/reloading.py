"""Settings that a running aggregator applies on reload, and those that need a restart."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from pydantic import BaseModel

from .settings import AggregatorSettings

RELOADABLE: Final = ("log_level", "log_format", "notify", "access.operators")
"""Options and tables. Lists of principals, keys and certificates are always reread."""


class Reload(NamedTuple):
    """Changed options, by name.

    Attributes:
        applied: options that are applied.
        pending: options that need a restart.
    """

    applied: tuple[str, ...]
    pending: tuple[str, ...]


def compare(before: AggregatorSettings, now: AggregatorSettings) -> Reload:
    """Return the differences of two settings."""
    changed = sorted(_changed(before, now, ""))
    taken = tuple(
        name for name in changed if name.startswith(tuple(f"{each}." for each in RELOADABLE)) or name in RELOADABLE
    )
    return Reload(taken, tuple(name for name in changed if name not in taken))


def apply_reloadable(before: AggregatorSettings, now: AggregatorSettings) -> AggregatorSettings:
    """Return the old settings with the applicable options of the new ones."""
    access = before.access.model_copy(update={"operators": now.access.operators})
    return before.model_copy(
        update={"log_level": now.log_level, "log_format": now.log_format, "notify": now.notify, "access": access}
    )


def _changed(before: Any, now: Any, prefix: str) -> list[str]:
    if isinstance(before, BaseModel) and type(before) is type(now):
        return [
            name
            for field in type(before).model_fields
            for name in _changed(getattr(before, field), getattr(now, field), f"{prefix}{field}.")
        ]
    return [] if before == now else [prefix.rstrip(".")]
