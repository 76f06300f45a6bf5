"""What a run and the collectors that it has started on other nodes tell one another, a line of JSON each."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from ....events.batch_job import BatchJob

LONGEST_LINE: Final = 1 << 20
"""Bytes; a collector that says more is not understood."""


class Orders(msgspec.Struct, frozen=True, kw_only=True):
    """What a collector is told on its standard input, once. It goes on until that ends."""

    endpoint: str
    """Of the run, which is reached with these keys alone."""
    public: str
    secret: str
    server: str
    socket: str
    """Where programs look for a collector, on every node."""
    job: str
    ends_at_s: float
    batch: BatchJob | None


class Unseen(msgspec.Struct, frozen=True):
    """A program that was started on the node and is not traced."""

    program: str
    reason: str
    times: int


class News(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a collector says on its standard output."""

    node: str
    state: Literal["listening", "shared", "heard", "ended", "failed"]
    """shared: the run's own collector is found by programs there; heard: the run has answered."""
    reason: str = ""
    """Why it failed, or is incomplete."""
    unseen: list[Unseen] = []


def as_line(message: Orders | News) -> bytes:
    """Returns a message as it is written."""
    return msgspec.json.encode(message) + b"\n"
