"""What an interaction graph is made of, as columns: the analyzer's state at one moment."""

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
        keys: number of the space and of the thread of each actor, space * 2**32 + tid, int64[actors].
        actors: columns of the actors: events, cpu_ns, bytes_read, bytes_written, and pid, rank, name, -1 where unknown.
        users: row of the actor of each use, int64[uses].
        channels: number of what it uses.
        uses: columns of the uses: calls, reads, writes, collectives, bytes, and the stamps that tell what came first.
        sources: row of the actor that each link starts at, int64[links].
        targets: row of the one that it leads to.
        kinds: number of its kind.
        counts: how often.
        waited_ns: how long the targets waited.
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
