"""Encodes data of one partition's jobs, for requests that concern the jobs of all partitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec
import numpy as np
from msgspec import Struct

from ....analyzers.interaction.interference import Load
from ....events import ProtocolError
from ....events.network.malformed import MALFORMED
from .shared_files import SharedFiles, decode_shared

MAX_BYTES: Final = 256 << 20
"""Maximum bytes of the rows of all jobs in one request."""
_LATEST_S: Final = 1e11
"""Bound of times, Unix time, s."""


class LoadRow(Struct):
    """The traffic of a job; its fields are those of ``Load``."""

    start_s: float
    bin_s: float
    moved: bytes
    user: str
    mounts: dict[str, int]
    local: list[str]
    hosts: list[str]


class JobRow(Struct):
    """One job: its use of files, by ``encode_shared``, and its traffic in the examined time."""

    job: str
    last_s: float
    """Time of its last message, s; the most recently active jobs are chosen by it."""
    files: bytes = b""
    load: LoadRow | None = None


class TimeSpan(Struct):
    """The examined time of a job, Unix time in ns."""

    start_ns: int
    end_ns: int
    own_clock: bool


_rows = msgspec.msgpack.Decoder(list[JobRow])
_span = msgspec.msgpack.Decoder(TimeSpan)


def encode_rows(rows: Sequence[JobRow]) -> bytes:
    """Return rows as bytes."""
    return msgspec.msgpack.encode(rows)


def decode_rows(data: bytes) -> list[JobRow]:
    """Return rows from bytes. Raises ProtocolError."""
    try:
        return _rows.decode(data)
    except MALFORMED as error:
        raise ProtocolError(f"rows of jobs cannot be read: {error}") from None


def decode_span(data: bytes) -> TimeSpan:
    """Return the examined time of a job from bytes. Raises ProtocolError."""
    try:
        return _span.decode(data)
    except MALFORMED as error:
        raise ProtocolError(f"the examined time of a job cannot be read: {error}") from None


def load_row(load: Load) -> LoadRow:
    """Return the traffic of a job in the form for a row."""
    return LoadRow(
        load.start_s,
        load.bin_s,
        np.asarray(load.moved, "<f8").tobytes(),
        load.user,
        dict(load.mounts),
        sorted(load.local),
        sorted(load.hosts),
    )


def other_jobs(rows: Sequence[JobRow]) -> tuple[list[SharedFiles], list[Load]]:
    """Return the use of files and the traffic of jobs from rows. Raises ProtocolError."""
    files = [decode_shared(row.files) for row in rows if row.files]
    return files, [_load(row.job, row.load) for row in rows if row.load is not None]


def _load(job: str, row: LoadRow) -> Load:
    try:
        moved = np.frombuffer(row.moved, "<f8").astype(np.float64)
    except ValueError as error:
        raise ProtocolError(f"the traffic of job {job!r} cannot be read: {error}") from None
    bounded = np.isfinite(moved).all() and abs(row.start_s) < _LATEST_S and 0 < row.bin_s < _LATEST_S
    if not bounded or min((*moved.tolist(), *row.mounts.values()), default=0) < 0:
        raise ProtocolError(f"the traffic of job {job!r} has negative or unbounded values")
    return Load(job, row.start_s, row.bin_s, moved, row.user, row.mounts, frozenset(row.local), frozenset(row.hosts))
