"""Columns of an interaction graph: the analyzer's state at one time."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from ...results.interaction_kinds import EdgeKind
from ..common.state import Ints
from .intake.channels import Channels

LINK_KINDS: Final[tuple[EdgeKind, ...]] = ("wakeup", "lock", "guest", "fork")
"""Kinds of links by number."""


class Tables(Struct, frozen=True):
    """Threads, their uses of files, and their links.

    Attributes:
        keys: space and thread number of each actor, space * 2**32 + tid, int64[actors].
        actors: columns of the actors: events, cpu_ns, bytes_read, bytes_written, and pid, rank, name (-1 if unknown).
        users: row of the actor of each use, int64[uses].
        channels: channel number of each use.
        uses: columns of the uses: calls, reads, writes, collectives, bytes, and the times that give their order.
        sources: row of the source actor of each link, int64[links].
        targets: row of the target actor.
        kinds: kind of the link by number.
        counts: number of occurrences.
        waited_ns: waiting time of the targets.
    """

    keys: Ints
    actors: dict[str, Ints]
    users: Ints
    channels: Ints
    uses: dict[str, Ints]
    sources: Ints
    targets: Ints
    kinds: Ints
    counts: Ints
    waited_ns: Ints
    channel_names: Channels
    events: int
    device_wakeups: int
    void_wakeups: int
    dropped: int
    first_ns: int
    last_ns: int
