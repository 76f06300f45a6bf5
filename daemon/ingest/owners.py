"""Whose a stream is: it belongs to the collector that opened it, which speaks over one connection at a time.

A collector's name is a secret that it shares with the aggregator alone, so whoever says it is that collector. A
connection that has not said it cannot speak for the collector's streams. One that reconnects has another identity: it
says its name again, in a HELLO or a heartbeat, and goes on.
"""

from __future__ import annotations

from collections.abc import Container

from msgspec import Struct, field


class Collector(Struct):
    """A collector that has streams open."""

    name: str
    peer: bytes
    """Identity of the connection that last said the name."""
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
        """Takes in that a collector speaks over this connection from now on; one without streams is not noted."""
        if (known := self._known.get(name)) is not None:
            known.peer = peer

    def add(self, name: str, peer: bytes, stream: str) -> Collector:
        """Notes a stream of a collector, and returns the collector."""
        known = self._known.setdefault(name, Collector(name, peer))
        known.streams.add(stream)
        return known

    def streams_of(self, name: str) -> list[str]:
        """Returns the open streams of a collector."""
        known = self._known.get(name)
        return sorted(known.streams) if known is not None else []

    def streams_without(self, heard: Container[str]) -> int:
        """Returns how many streams are open of collectors that are not heard of."""
        return sum(len(known.streams) for name, known in self._known.items() if name not in heard)

    def remove(self, owner: Collector, stream: str) -> None:
        """Forgets a stream, and its collector with the last one."""
        owner.streams.discard(stream)
        if not owner.streams:
            del self._known[owner.name]

    def abandoned(self, heard: Container[str], now_s: float, after_s: float) -> list[str]:
        """Returns the streams of collectors that have not been heard of for ``after_s``, as of these calls."""
        absent = [name for name in self._known if name not in heard]
        self._absent_since = {name: self._absent_since.get(name, now_s) for name in absent}
        gone = [name for name, since in self._absent_since.items() if now_s - since >= after_s]
        return [stream for name in gone for stream in sorted(self._known[name].streams)]
