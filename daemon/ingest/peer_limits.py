"""Limits of peers at the socket for collectors: their connections, and their credit by the time of their batches."""

from __future__ import annotations

import contextlib
import socket
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final

import zmq
from zmq.utils.monitor import recv_monitor_message

from ...events.network.peers import connection_at, peer_of

if TYPE_CHECKING:
    import zmq.asyncio

_EVENTS: Final = zmq.EVENT_ACCEPTED | zmq.EVENT_DISCONNECTED
_QUEUED_S: Final = 0.5
"""Work of all unacknowledged batches, s. It bounds the delay of a live job behind the backlog of its own collector."""
_MEASURED_S: Final = 1.0
"""Duration of a measurement, s."""


class PeerBound:
    """Counts the connections of each peer, and ends those beyond a bound.

    ZeroMQ accepts connections before they can be refused. A peer is an address, or a user on an ipc endpoint, as the
    kernel names them.

    Args:
        monitored: socket for collectors, before it is bound.
        most: connections of one peer.
        counters: gets ``ingest_peers_refused``.
    """

    def __init__(self, monitored: zmq.asyncio.Socket, most: int, counters: Counter[str]) -> None:
        self._max, self._counters = most, counters
        self._monitored = monitored
        self._events = monitored.get_monitor_socket(_EVENTS)
        self._peers: dict[int, str] = {}
        self._connections: Counter[str] = Counter()

    async def run(self, endpoint: str) -> None:
        """Count until cancelled.

        Args:
            endpoint: bound endpoint of the socket.
        """
        while True:
            event = await recv_monitor_message(self._events)
            self._on_disconnected(event["value"])  # also before another connection has its descriptor
            if event["event"] == zmq.EVENT_ACCEPTED:
                self._on_connected(event["value"], endpoint)

    def close(self) -> None:
        """Stop monitoring; before the socket is closed."""
        with contextlib.suppress(zmq.ZMQError):
            self._monitored.disable_monitor()
        self._events.close(0)

    def _on_connected(self, descriptor: int, endpoint: str) -> None:
        if (connection := connection_at(descriptor, endpoint)) is None:  # it has left already
            return
        with connection:
            peer = peer_of(connection)
            self._peers[descriptor] = peer
            self._connections[peer] += 1
            if self._connections[peer] > self._max:
                self._counters["ingest_peers_refused"] += 1
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def _on_disconnected(self, descriptor: int) -> None:
        if (peer := self._peers.pop(descriptor, None)) is not None:
            self._connections[peer] -= 1
            if not self._connections[peer]:
                del self._connections[peer]


class ServiceCredit:
    """Measures the time of batches by collector, and divides ``_QUEUED_S`` among the collectors.

    A bound in bytes or batches is many seconds of work on a slow machine, and too much memory with many collectors.
    The number of collectors that share the time is the effective one, (sum t)^2 / sum t^2: one busy collector among a
    thousand quiet ones has nearly all of the credit.

    Args:
        most: maximum credit, batches.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._time_s: defaultdict[bytes, float] = defaultdict(float)
        self._batches: Counter[bytes] = Counter()
        self._begun_s: float | None = None
        self._credit: dict[bytes, int] = {}
        self._default = most

    def processed(self, sender: bytes, took_s: float) -> None:
        """Count a processed batch of a collector."""
        self._time_s[sender] += took_s
        self._batches[sender] += 1

    def update(self, now_s: float, delay_s: float, read_all_s: float) -> None:
        """Compute the credits from the measurement so far, once it is long enough.

        Args:
            now_s: steady clock.
            delay_s: time from the end of the work on a batch to its ack, which waits for the disk.
            read_all_s: last time when no message waited. If messages have waited all the time, the time of
                other work between them counts, too.
        """
        if self._begun_s is None or now_s - self._begun_s < _MEASURED_S:
            self._begun_s = now_s if self._begun_s is None else self._begun_s
            return
        total_s = sum(self._time_s.values())
        if total_s > 0:
            sharing = total_s**2 / sum(each**2 for each in self._time_s.values())
            stretch = max((now_s - self._begun_s) / total_s, 1.0) if read_all_s < self._begun_s else 1.0
            work_s = (_QUEUED_S + delay_s) / sharing / stretch
            self._credit = {
                sender: self._bounded(work_s * count / self._time_s[sender])
                for sender, count in self._batches.items()
                if self._time_s[sender] > 0
            }
            self._default = self._bounded(work_s * self._batches.total() / total_s)
        self._begun_s = now_s
        self._time_s.clear()
        self._batches.clear()

    def of(self, sender: bytes) -> int:
        """Return the credit of a collector, batches."""
        return self._credit.get(sender, self._default)

    def _bounded(self, batches: float) -> int:
        return max(1, round(min(batches, self._most)))
