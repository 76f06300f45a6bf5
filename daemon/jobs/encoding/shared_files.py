"""Encodes the use of files by jobs of one partition. A ranking of the jobs of all partitions uses it."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Final

import msgspec
import numpy as np
from msgspec import Struct

from ....analyzers.common.state import Ints
from ....analyzers.interaction.intake.channels import EVERYWHERE, Channels
from ....analyzers.interaction.tables import Tables
from ....events import ProtocolError
from ....events.network.malformed import MALFORMED

SharedFiles = tuple[str, Tables, Sequence[str]]
"""Job, its use of files, and its hosts by number."""
_MAX_DOCUMENT_BYTES: Final = 64 << 20
"""Maximum uncompressed bytes of one job's document; a table has at most 2**20 rows."""
_SUMS: Final = ("events", "cpu_ns", "bytes_read", "bytes_written")
"""Columns of actors that are summed over a job."""
_COUNTS: Final = ("calls", "reads", "writes", "collectives", "bytes_read", "bytes_written")
_USES: Final = (*_COUNTS, "first_write", "last_write", "last_read")
_MOST_COUNTED: Final = 2**55
"""Maximum of a count of one job, 36 PB: sums over jobs stay in int64."""
_KINDS: Final = {"file", "pipe", "socket"}
_LINK_COLUMNS: Final = ("sources", "targets", "kinds", "counts", "waited_ns")


class _Document(Struct):
    """One job as a single actor. The columns of its uses are little-endian int64."""

    job: str
    hosts: list[str]
    events: int
    first_ns: int
    last_ns: int
    sums: dict[str, int]
    names: list[str]
    kinds: list[str]
    spaces: list[int]
    channels: bytes
    uses: dict[str, bytes]


def encode_shared(shared: SharedFiles) -> bytes:
    """Return the part of a job's use of files that ``rank_jobs`` reads, as bytes."""
    job, tables, hosts = shared
    state = tables.channel_names.snapshot()
    kept = tables.channels > 0  # channel 0 connects no actors
    used, channels = np.unique(tables.channels[kept], return_inverse=True)
    document = _Document(
        job=job,
        hosts=list(hosts),
        events=tables.events,
        first_ns=tables.first_ns,
        last_ns=tables.last_ns,
        sums={name: int(tables.actors[name].sum()) for name in _SUMS},
        names=[state["names"][number] for number in used.tolist()],
        kinds=[state["kinds"][number] for number in used.tolist()],
        spaces=[state["spaces"][number] for number in used.tolist()],
        channels=_bytes(channels),
        uses={name: _bytes(tables.uses[name][kept]) for name in _USES},
    )
    return zlib.compress(msgspec.msgpack.encode(document), 1)


def decode_shared(data: bytes) -> SharedFiles:
    """Return a job's use of files; all its processes are one actor.

    Raises:
        ProtocolError: the bytes are no result of ``encode_shared``.
    """
    try:
        unpacking = zlib.decompressobj()
        text = unpacking.decompress(data, _MAX_DOCUMENT_BYTES)
        if unpacking.unconsumed_tail:
            raise ProtocolError(f"files of a job take more than {_MAX_DOCUMENT_BYTES} bytes")
        document = msgspec.msgpack.decode(text, type=_Document)
        return document.job, _tables(document), document.hosts
    except (zlib.error, *MALFORMED, ValueError, OverflowError) as error:
        raise ProtocolError(f"files of a job cannot be read: {error}") from None


def _tables(document: _Document) -> Tables:
    rows = len(document.names)
    channels = np.frombuffer(document.channels, "<i8").astype(np.int64)
    uses = {name: np.frombuffer(column, "<i8").astype(np.int64) for name, column in document.uses.items()}
    is_whole = all(len(column) == len(channels) for column in uses.values())
    in_range = not len(channels) or bool(channels.min() >= 0 and channels.max() < rows)
    if not is_whole or not in_range or len(document.kinds) != rows or len(document.spaces) != rows:
        raise ValueError("its columns differ in length")
    if not set(document.kinds) <= _KINDS or set(uses) != set(_USES) or set(document.sums) != set(_SUMS):
        raise ValueError("it has other columns or kinds of files than expected")
    counts = [document.events, *document.sums.values()]
    for name in _COUNTS:
        counts += [int(uses[name].min(initial=0)), int(uses[name].sum(dtype=np.float64))]
    if min(counts) < 0 or max(counts) > _MOST_COUNTED:
        raise ValueError("it has counts that are negative or too large")
    if min(document.spaces, default=EVERYWHERE) < EVERYWHERE:
        raise ValueError("a file is on a machine with a negative number")
    names = Channels.restore(
        {
            "overflowed": 0,
            "names": ["", *document.names],  # channel 0 connects no actors
            "kinds": ["file", *document.kinds],
            "spaces": [-1, *document.spaces],
            "of_file": np.zeros(1, np.int64),
            "local": np.zeros(1, np.bool_),
        }
    )
    unused = np.zeros(0, np.int64)
    links = dict.fromkeys(_LINK_COLUMNS, unused)
    return Tables(
        keys=np.zeros(1, np.int64),
        actors={name: np.array([value], np.int64) for name, value in document.sums.items()},
        users=np.zeros(len(channels), np.int64),
        channels=channels + 1,
        uses=uses,
        **links,
        channel_names=names,
        events=document.events,
        device_wakeups=0,
        void_wakeups=0,
        dropped=0,
        first_ns=document.first_ns,
        last_ns=document.last_ns,
    )


def _bytes(column: Ints) -> bytes:
    return column.astype("<i8").tobytes()
