"""What can be chosen about a collector."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from ..events.batch_job import BatchJob
from ..events.network.endpoints import ConnectingEndpoint, ListeningEndpoint
from ..events.network.limits import MAX_BATCH_EVENTS

LayerName = Literal["posix", "stdio", "mpiio", "hdf5", "netcdf", "pnetcdf", "other"]
CallClass = Literal["data", "handle", "seek", "sync", "meta", "char", "memory"]
MOST_RING_RECORDS: Final = 1 << 22


class CollectorSettings(BaseModel):
    """How a collector polls its sources and ships what they give."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True, arbitrary_types_allowed=True)

    endpoint: ConnectingEndpoint = Field("tcp://127.0.0.1:9787", description="ZeroMQ endpoint of the aggregator.")
    others: tuple[ConnectingEndpoint, ...] = Field(
        (), description="Endpoints of aggregators that may take over from it; the one that answers is spoken to."
    )
    key: Path | None = Field(None, description="Own secret key, for an aggregator that asks for one.")
    server_key: Path | None = Field(
        None, description="Public key of the aggregator; with key, the connection is encrypted."
    )
    host: str = Field(default_factory=socket.gethostname, description="Name of this node in streams and metrics.")
    user: str = Field(default_factory=lambda: os.environ.get("USER", ""), description="User that streams belong to.")
    ends_at_s: float = Field(0.0, ge=0, description="When the job of its streams is killed, Unix time; 0: not known.")
    ends_job: str = Field("", description="Which job that is; by default each that it has streams of.")
    batch: BatchJob | None = Field(None, description="What the batch system says of that job.")
    serves_job: str = Field("", description="The job whose programs on this node the collector sees.")
    poll_interval_s: float = Field(0.01, gt=0, le=10, description="Seconds between polls while there is news.")
    idle_interval_s: float = Field(
        0.05,
        gt=0,
        le=60,
        description="Seconds between polls while there is none; up to ten times as long after long silence.",
    )
    linger_s: float = Field(0.05, ge=0, le=10, description="Longest time that events wait for a fuller batch, s.")
    batch_events: int = Field(
        16_384, ge=1, le=MAX_BATCH_EVENTS, description="Events from which on a batch is sent without waiting."
    )
    backlog_bytes: int = Field(
        64 << 20,
        ge=1 << 16,
        description="Bytes of unacknowledged events kept in memory; above it and `spool_bytes`, the oldest unsent "
        "events are dropped and counted.",
    )
    spool_bytes: int = Field(
        0, ge=0, description="Bytes of unsent events that may wait in files once the memory is full; 0: none do."
    )
    spool_folder: Path | None = Field(
        None, description="Where these files lie, without a name; by default in $TMPDIR, which may be memory, too."
    )
    state: Path | None = Field(
        None,
        description="Folder that keeps what was read and is not acknowledged, for the next collector; "
        "within `spool_bytes`.",
    )
    heartbeat_s: float = Field(1.0, gt=0, le=60, description="Seconds between heartbeats.")
    away_after_s: float = Field(5.0, gt=0, le=600, description="Silence after which the aggregator counts as away, s.")
    resend_after_s: float = Field(
        2.0, gt=0, le=600, description="Time after which what is unacknowledged is sent again, s."
    )
    shared_filesystems: tuple[str, ...] = Field(
        (), description="Further types of file systems that nodes share, as mountinfo spells them."
    )
    local_filesystems: tuple[str, ...] = Field((), description="Further types of file systems that are of one node.")


class SpoolSettings(BaseModel):
    """What may wait between the process that empties the rings of traced programs and the one that analyses them."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    memory_bytes: int = Field(256 << 20, ge=8 << 20, description="Bytes of calls that wait in memory.")
    disk_bytes: int = Field(4 << 30, ge=0, description="Bytes of calls that wait in files, when memory is full.")
    folder: Path | None = Field(None, description="Where these files lie, without a name; by default in $TMPDIR.")


class FtioSettings(BaseModel):
    """How messages to FTIO's predictor are taken in."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    endpoint: ListeningEndpoint = Field(
        "tcp://127.0.0.1:5555", description="ZeroMQ endpoint that tracers of FTIO connect to."
    )
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


class TracerSettings(BaseModel):
    """What the preload library records of a program; what is None is left to the program's environment."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    layers: tuple[LayerName, ...] | None = Field(
        None, description="Layers whose calls are recorded; by default all whose libraries are built."
    )
    libraries: tuple[Path, ...] = Field(
        (), description="Further wrapper libraries, made from a user's signature files."
    )
    only_paths: tuple[Path, ...] | None = Field(
        None, description="Folders and files that alone are recorded, with all that is done through their handles."
    )
    skip_paths: tuple[Path, ...] | None = Field(None, description="Folders and files that are left out.")
    calls: tuple[CallClass, ...] | None = Field(
        None, description="Classes of calls that are recorded; by default all but those of one character."
    )
    sample: int | None = Field(
        None,
        ge=1,
        le=1_000_000,
        description="Sampling: every Nth data or seek call is recorded; the others are counted.",
    )
    paced: bool = Field(False, description="Calls that move data wait for their turn where the collector has --pace.")
    ring_records: int | None = Field(
        None,
        ge=256,
        le=MOST_RING_RECORDS,
        description="Calls that a thread can be ahead of the collector before some are dropped and counted.",
    )
