"""Kinds of recorded state changes. A journal replays them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from enum import IntEnum


class Kind(IntEnum):
    """Kind of a record."""

    MESSAGE = 1
    """A message of the peer ``sender``, unchanged."""
    TICK = 2
    """Collectors were checked for silence."""
    AGE = 3
    """The state of the job in the first frame was changed. ``sender``: whether its period was searched for."""
    PREDICT = 4
    """The job was predicted; ``sender``: whether its period was searched for."""
    RESTART = 5
    """Another aggregator continued from here: all connections are new."""


@contextlib.contextmanager
def without_recording(*_: object) -> Iterator[None]:
    """Run a step without recording it."""
    yield
