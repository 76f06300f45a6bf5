"""A bound on the connections of one peer to the socket for collectors."""

from __future__ import annotations

import contextlib
import socket
from collections import Counter
from typing import TYPE_CHECKING, Final

import zmq
from zmq.utils.monitor import recv_monitor_message

from ...events.network.peers import connection_at, peer_of

if TYPE_CHECKING:
    import zmq.asyncio

_EVENTS: Final = zmq.EVENT_ACCEPTED | zmq.EVENT_DISCONNECTED


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
