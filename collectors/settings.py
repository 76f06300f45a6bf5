"""Settings of a collector."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from ..events.batch_job import BatchJob
from ..events.network.endpoints import ConnectingEndpoint, ListeningEndpoint
from ..events.network.limits import MAX_BATCH_EVENTS
from ..events.network.peers import own_user

LayerName = Literal["posix", "stdio", "mpiio", "hdf5", "netcdf", "pnetcdf", "other"]
CallClass = Literal["data", "handle", "seek", "sync", "meta", "char", "memory"]
MAX_RING_RECORDS: Final = 1 << 22


class CollectorSettings(BaseModel):
    """Settings for polling sources and shipping their events."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True, arbitrary_types_allowed=True)

    endpoint: ConnectingEndpoint = Field("tcp://127.0.0.1:9787", description="ZeroMQ endpoint of the aggregator.")
    others: tuple[ConnectingEndpoint, ...] = Field(
        (), description="Endpoints of aggregators that may take over; the collector uses the one that answers."
    )
    key: Path | None = Field(None, description="Secret key of the collector, for an aggregator that requires one.")
    server_key: Path | None = Field(
        None, description="Public key of the aggregator; with key, the connection is encrypted."
    )
    host: str = Field(default_factory=socket.gethostname, description="Name of this node in streams and metrics.")
    user: str = Field(default_factory=own_user, description="User that owns the streams.")
    ends_at_s: float = Field(0.0, ge=0, description="Unix time at which the job of the streams is killed; 0: unknown.")
    ends_job: str = Field("", description="Job to which `ends_at_s` applies; by default each job that has streams.")
    batch: BatchJob | None = Field(None, description="Information of the batch system about that job.")
    voucher: str = Field("", description="Proof of the user and the account of that job, made by root of the node.")
    as_user: str = Field(
        "", description="User whose rights the streams have, although the key is that of a node; by default the key's."
    )
    serves_job: str = Field(
        "", description="Job whose programs on this node the collector serves; introduced before its first program."
    )
    poll_interval_s: float = Field(0.01, gt=0, le=10, description="Seconds between polls while there is new data.")
    idle_interval_s: float = Field(
        0.05,
        gt=0,
        le=60,
        description="Seconds between polls while there is no new data; up to ten times as long after a long silence.",
    )
    linger_s: float = Field(
        0.05,
        ge=0,
        le=10,
        description="Maximum time that events wait for a fuller batch, s; at least a second while earlier batches "
        "wait for the aggregator.",
    )
    batch_events: int = Field(
        16_384, ge=1, le=MAX_BATCH_EVENTS, description="Number of events from which a batch is sent without waiting."
    )
    backlog_bytes: int = Field(
        64 << 20,
        ge=1 << 16,
        description="Bytes of unacknowledged events kept in memory; above it and `spool_bytes`, the oldest unsent "
        "events are dropped and counted.",
    )
    spool_bytes: int = Field(
        0, ge=0, description="Bytes of unsent events that may wait in files when the memory is full; 0: no files."
    )
    spool_folder: Path | None = Field(
        None,
        description="Folder of these files, which have no name; by default $TMPDIR, which may itself be in memory.",
    )
    state: Path | None = Field(
        None,
        description="Folder for events that are not acknowledged yet, for the next collector; within `spool_bytes`.",
    )
    heartbeat_s: float = Field(1.0, gt=0, le=60, description="Seconds between heartbeats.")
    away_after_s: float = Field(
        5.0, gt=0, le=600, description="Silence after which the aggregator counts as unreachable, s."
    )
    resend_after_s: float = Field(
        2.0, gt=0, le=600, description="Time after which unacknowledged batches are sent again, s."
    )
    shared_filesystems: tuple[str, ...] = Field(
        (), description="Further types of file systems that nodes share, as spelled in mountinfo."
    )
    local_filesystems: tuple[str, ...] = Field(
        (), description="Further types of file systems that are local to one node."
    )


class SpoolSettings(BaseModel):
    """Bounds of the spool between two processes. One process empties rings, the other analyses calls."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    memory_bytes: int = Field(256 << 20, ge=8 << 20, description="Bytes of calls that may wait in memory.")
    disk_bytes: int = Field(4 << 30, ge=0, description="Bytes of calls that may wait in files when the memory is full.")
    folder: Path | None = Field(None, description="Folder of these files, which have no name; by default $TMPDIR.")


class FtioSettings(BaseModel):
    """Settings for receiving messages that are addressed to FTIO's predictor."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    endpoint: ListeningEndpoint = Field(
        "tcp://127.0.0.1:5555", description="ZeroMQ endpoint to which tracers of FTIO connect."
    )
    job: str = Field("", description="Job of all messages; by default the job that each message names.")
    default_job: str = Field("ftio", min_length=1, description="Job of messages that name none.")
    allow_remote: bool = Field(False, description="Listen beyond loopback, in plain text.")
    max_message_bytes: int = Field(
        16 << 20,
        ge=1024,
        description="Maximum message size; longer messages are skipped, and above 16 times this size the connection is "
        "closed.",
    )
    high_water: int = Field(
        1000, ge=1, description="Messages per sender that wait to be read; when full, the sender waits."
    )
    max_streams: int = Field(
        1000, ge=1, description="Maximum number of pairs of job and host; above it, the one idle longest is closed."
    )
    new_run_after_s: float = Field(
        5.0, gt=0, description="Silence after which restarting time stamps are a new run of the job, s."
    )


class TracerSettings(BaseModel):
    """Settings of the preload library; a setting of None is left to the program's environment."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    layers: tuple[LayerName, ...] | None = Field(
        None, description="Layers whose calls are recorded; by default all layers whose libraries are built."
    )
    libraries: tuple[Path, ...] = Field(
        (), description="Further wrapper libraries, built from a user's signature files."
    )
    only_paths: tuple[Path, ...] | None = Field(
        None, description="Folders and files to record, with all calls on their handles; nothing else is recorded."
    )
    skip_paths: tuple[Path, ...] | None = Field(None, description="Folders and files to leave out.")
    calls: tuple[CallClass, ...] | None = Field(
        None, description="Classes of calls to record; by default all except calls for single characters."
    )
    sample: int | None = Field(
        None,
        ge=1,
        le=1_000_000,
        description="Sampling: record every Nth data or seek call; the others are counted.",
    )
    paced: bool = Field(
        False, description="Make calls that move data wait for their turn, if the collector has --pace."
    )
    ring_records: int | None = Field(
        None,
        ge=256,
        le=MAX_RING_RECORDS,
        description="Calls that a thread can be ahead of the collector before calls are dropped and counted.",
    )
