"""Ownership of streams. A stream belongs to the collector that opened it, on its current connection.

A collector's name is a secret shared only with the aggregator, so a peer with this name is that collector. A connection
that has not sent it may not use the collector's streams. After a reconnect the collector has another identity: it sends
its name again, in a HELLO or a heartbeat, and continues.
"""

from __future__ import annotations

from collections.abc import Container

from msgspec import Struct, field


class Collector(Struct):
    """A collector with open streams."""

    name: str
    peer: bytes
    """Identity of the connection that last sent the name."""
    streams: set[str] = field(default_factory=set)


class Owners:
    """The collectors with open streams, by name."""

    def __init__(self) -> None:
        self._known: dict[str, Collector] = {}
        self._absent_since: dict[str, float] = {}

    def __len__(self) -> int:
        return len(self._known)

    def __contains__(self, name: str) -> bool:
        return name in self._known

    def bind(self, name: str, peer: bytes) -> None:
        """Set a collector's connection; a collector without streams is ignored."""
        if (known := self._known.get(name)) is not None:
            known.peer = peer

    def add(self, name: str, peer: bytes, stream: str) -> Collector:
        """Add a stream to a collector, and return the collector."""
        known = self._known.setdefault(name, Collector(name, peer))
        known.streams.add(stream)
        return known

    def streams_of(self, name: str) -> list[str]:
        """Return the open streams of a collector."""
        known = self._known.get(name)
        return sorted(known.streams) if known is not None else []

    def streams_without(self, active: Container[str]) -> int:
        """Return the number of open streams of silent collectors."""
        return sum(len(known.streams) for name, known in self._known.items() if name not in active)

    def remove(self, owner: Collector, stream: str) -> None:
        """Remove a stream, and its collector with the last one."""
        owner.streams.discard(stream)
        if not owner.streams:
            del self._known[owner.name]

    def abandoned(self, active: Container[str], now_s: float, after_s: float) -> list[str]:
        """Return the streams of collectors that were absent for ``after_s``. The time is that of these calls."""
        absent = [name for name in self._known if name not in active]
        self._absent_since = {name: self._absent_since.get(name, now_s) for name in absent}
        gone = [name for name, since in self._absent_since.items() if now_s - since >= after_s]
        return [stream for name in gone for stream in sorted(self._known[name].streams)]
