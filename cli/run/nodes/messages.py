"""Messages between a run and its collectors on other nodes, one line of JSON each."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from ....events.batch_job import BatchJob

MAX_LINE_BYTES: Final = 1 << 20
"""Maximum bytes of a collector's line; longer ones are rejected."""


class Instructions(msgspec.Struct, frozen=True, kw_only=True):
    """Instructions for a collector, once on its standard input. It runs until the end of this input."""

    endpoint: str
    """Endpoint of the run, which only accepts these keys."""
    public: str
    secret: str
    server: str
    socket: str
    """Socket path for programs, the same on every node."""
    job: str
    ends_at_s: float
    batch: BatchJob | None


class UntracedProgram(msgspec.Struct, frozen=True):
    """An untraced program on the node."""

    program: str
    reason: str
    times: int


class StatusMessage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Status message of a collector on its standard output."""

    node: str
    state: Literal["listening", "shared", "heard", "ended", "failed"]
    """shared: programs there use the run's own collector; heard: the run has answered."""
    reason: str = ""
    """Reason of a failure or of incomplete data."""
    unseen: list[UntracedProgram] = []


def encode_line(message: Instructions | StatusMessage) -> bytes:
    """Return a message as a line."""
    return msgspec.json.encode(message) + b"\n"
