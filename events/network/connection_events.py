"""Events of a socket's connections, and new attempts where ZeroMQ makes none.

ZeroMQ connects again after a lost or refused connection, but not after a handshake that the peer refused: a key that is
listed a moment later, or a port that another program had for a moment, would cut the socket off for good.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import zmq
from zmq.utils.monitor import parse_monitor_message

CONNECTED: Final = int(zmq.EVENT_HANDSHAKE_SUCCEEDED)
DISCONNECTED: Final = int(zmq.EVENT_DISCONNECTED)
KEY_REFUSED: Final = int(zmq.EVENT_HANDSHAKE_FAILED_AUTH)
PROTOCOL_FAILED: Final = int(zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL)
"""Another security mechanism, or another protocol."""
HANDSHAKE_CUT: Final = int(zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL)
_GIVEN_UP: Final = KEY_REFUSED | PROTOCOL_FAILED
_HANDSHAKES: Final = CONNECTED | DISCONNECTED | HANDSHAKE_CUT | _GIVEN_UP
_FIRST_WAIT_S: Final = 1.0
_LONGEST_WAIT_S: Final = 15.0


class ConnectionEvent(NamedTuple):
    """An event of ZeroMQ, and the endpoint as it was given to ``connect``."""

    event: int
    endpoint: str


@dataclass(slots=True)
class _Refusal:
    again_at_s: float | None
    wait_s: float


class ConnectionEvents:
    """Watches a socket that connects. To be created before its first ``connect``, and closed before the socket.

    Args:
        socket: the socket, blocking or of asyncio.
        also: further events of ZeroMQ to report.
    """

    def __init__(self, socket: zmq.Socket[Any], also: int = 0) -> None:
        self._socket = socket
        address = f"inproc://connections-{id(self):x}"
        socket.monitor(address, _HANDSHAKES | also)
        self._monitor: zmq.Socket[bytes] = zmq.Context.shadow(socket.context.underlying).socket(zmq.PAIR)
        self._monitor.setsockopt(zmq.LINGER, 0)
        self._monitor.setsockopt(
            zmq.RCVHWM, 0
        )  # ZeroMQ's thread would wait for room, and nothing would be received meanwhile
        self._monitor.connect(address)
        self._refused: dict[str, _Refusal] = {}

    def poll(self, now_s: float) -> list[ConnectionEvent]:
        """Return the events since the last call, and connect again where it is due. To be called each second or so."""
        events = list(self._receive())
        for event, endpoint in events:
            if event & _GIVEN_UP:
                self._note_refusal(endpoint, now_s)
            elif event & CONNECTED:
                self._refused.pop(endpoint, None)
        for endpoint, refusal in self._refused.items():
            if refusal.again_at_s is not None and now_s >= refusal.again_at_s:
                refusal.again_at_s = None
                with contextlib.suppress(zmq.ZMQError):
                    self._socket.disconnect(endpoint)
                with contextlib.suppress(zmq.ZMQError):
                    self._socket.connect(endpoint)
        return events

    def forget(self, endpoint: str) -> None:
        """Note that the socket was disconnected from an endpoint."""
        self._refused.pop(endpoint, None)

    def close(self) -> None:
        """Stop watching."""
        with contextlib.suppress(zmq.ZMQError):
            self._socket.disable_monitor()
        self._monitor.close(0)

    def _note_refusal(self, endpoint: str, now_s: float) -> None:
        refusal = self._refused.get(endpoint)
        if refusal is None:
            self._refused[endpoint] = _Refusal(now_s + _FIRST_WAIT_S, _FIRST_WAIT_S)
        elif refusal.again_at_s is None:
            refusal.wait_s = min(2 * refusal.wait_s, _LONGEST_WAIT_S)
            refusal.again_at_s = now_s + refusal.wait_s

    def _receive(self) -> Iterator[ConnectionEvent]:
        with contextlib.suppress(zmq.Again):
            while True:
                message = parse_monitor_message(self._monitor.recv_multipart(zmq.NOBLOCK))
                yield ConnectionEvent(int(message["event"]), message["endpoint"].decode())
