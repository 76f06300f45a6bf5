"""What can be chosen about a collector."""

from __future__ import annotations

import os
import socket

from pydantic import BaseModel, ConfigDict, Field

from ..events.wire import MAX_BATCH_EVENTS


class CollectorSettings(BaseModel):
    """How a collector polls its sources and ships what they give."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    endpoint: str = Field("tcp://127.0.0.1:9787", description="ZeroMQ endpoint of the aggregator.")
    host: str = Field(default_factory=socket.gethostname, description="Name of this node in streams and metrics.")
    user: str = Field(default_factory=lambda: os.environ.get("USER", ""), description="User that streams belong to.")
    poll_interval_s: float = Field(0.01, gt=0, le=10, description="Seconds between polls while there is news.")
    idle_interval_s: float = Field(0.05, gt=0, le=60, description="Seconds between polls while there is none.")
    linger_s: float = Field(0.05, ge=0, le=10, description="Longest time that events wait for a fuller batch, s.")
    batch_events: int = Field(
        16_384, ge=1, le=MAX_BATCH_EVENTS, description="Events from which on a batch is sent without waiting."
    )
    backlog_bytes: int = Field(
        64 << 20, ge=1 << 16, description="Bytes of unacknowledged events kept in memory; past it the oldest unsent go."
    )
    heartbeat_s: float = Field(1.0, gt=0, le=60, description="Seconds between heartbeats.")
    away_after_s: float = Field(5.0, gt=0, le=600, description="Silence after which the aggregator counts as away, s.")
    resend_after_s: float = Field(
        2.0, gt=0, le=600, description="Time after which what is unacknowledged is sent again, s."
    )


class FtioSettings(BaseModel):
    """How messages to FTIO's predictor are taken in."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    endpoint: str = Field("tcp://127.0.0.1:5555", description="ZeroMQ endpoint that tracers of FTIO connect to.")
    job: str = Field("", description="Job that all messages count for; by default the one that a message names.")
    default_job: str = Field("ftio", min_length=1, description="Job of messages that name none.")
    allow_remote: bool = Field(False, description="Listen beyond loopback, in plain text.")
    max_message_bytes: int = Field(
        16 << 20,
        ge=1024,
        description="Longest message; a longer one is skipped, and past 16 times that its connection is cut.",
    )
    high_water: int = Field(
        1000, ge=1, description="Messages of one sender kept until they are read; past it the sender waits."
    )
    max_streams: int = Field(
        1000, ge=1, description="Pairs of job and host followed at once; past it the stillest one is closed."
    )
    new_run_after_s: float = Field(
        5.0, gt=0, description="Silence after which stamps that begin again are a new run of the job, s."
    )
