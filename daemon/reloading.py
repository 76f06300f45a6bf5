"""What of the settings a running aggregator takes over, and what waits for a restart."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from pydantic import BaseModel

from .settings import AggregatorSettings

RELOADED: Final = ("log_level", "log_format", "notify", "access.operators")
"""Options, and tables of them. Lists of principals, keys and certificates are read again in any case."""


class Reload(NamedTuple):
    """What differs, by the names of the options.

    Attributes:
        taken: options that are taken over.
        waiting: options that need a restart.
    """

    taken: tuple[str, ...]
    waiting: tuple[str, ...]


def compare(before: AggregatorSettings, now: AggregatorSettings) -> Reload:
    """Returns what differs between two settings."""
    changed = sorted(_changed(before, now, ""))
    taken = tuple(
        name for name in changed if name.startswith(tuple(f"{each}." for each in RELOADED)) or name in RELOADED
    )
    return Reload(taken, tuple(name for name in changed if name not in taken))


def taken_over(before: AggregatorSettings, now: AggregatorSettings) -> AggregatorSettings:
    """Returns the settings of before with what is taken over of others."""
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
