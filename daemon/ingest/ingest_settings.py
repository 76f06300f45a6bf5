"""Bounds of collectors' input, and counters of what was received."""

from __future__ import annotations

from collections import Counter

from msgspec import Struct, field
from pydantic import BaseModel, ConfigDict, Field


class IngestSettings(BaseModel):
    """Bounds of collectors' input."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    allow_plaintext: bool = Field(False, description="Listen in plain text beyond loopback, on trusted networks.")
    max_streams: int = Field(200_000, ge=1, description="Streams open at once; more are refused.")
    max_collectors: int = Field(100_000, ge=1, description="Collectors known at once; streams of more are refused.")
    connections_per_peer: int = Field(4096, ge=1, description="Connections of an address, or of a user on ipc.")
    remembered_streams: int = Field(200_000, ge=0, description="Ended streams whose late repetitions are recognised.")
    credit: int = Field(256, ge=1, description="Batches that a collector may have unacknowledged.")
    lost_after_s: float = Field(10.0, gt=0, description="Silence after which a collector counts as lost, s.")
    forget_after_s: float = Field(
        120.0, gt=0, description="Absence of a lost collector after which its streams are closed, s."
    )


class IngestStats(Struct):
    """Counters of received data; cumulative except ``streams`` and ``collectors``."""

    messages: int = 0
    batches: int = 0
    events: int = 0
    bytes: int = 0
    duplicates: int = 0
    malformed: int = 0
    foreign: int = 0
    """Messages about a stream from another peer than its collector, or before its HELLO after a reconnect."""
    failed: int = 0
    """Failures of the sink on anything other than a batch."""
    rejected: Counter[str] = field(default_factory=Counter)
    streams: int = 0
    streams_silent: int = 0
    collectors: int = 0
