"""Events of a socket's connections, and new attempts where ZeroMQ makes none.

ZeroMQ connects again after a lost or refused connection, but not after a handshake that the peer refused: a key that is
listed a moment later, or a port that another program had for a moment, would cut the socket off for good.
"""

from __future__ import annotations

import contextlib
import random
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
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
_JITTER: Final = 0.2
"""Share by which a wait varies, so that collectors that were refused together do not return together."""
_numbers: Final = count()  # ZeroMQ keeps the address of a closed socket for a moment


class ConnectionEvent(NamedTuple):
    """An event of ZeroMQ, and the endpoint as it was given to ``connect``; one that was left, as ZeroMQ names it."""

    event: int
    endpoint: str


@dataclass(slots=True)
class _Refusal:
    again_at_s: float | None
    wait_s: float


class ConnectionEvents:
    """Connects a socket, and watches its connections. To be closed before the socket.

    Args:
        connecting: the socket, blocking or of asyncio.
        also: further events of ZeroMQ to report.
    """

    def __init__(self, connecting: zmq.Socket[Any], also: int = 0) -> None:
        self._socket = connecting
        address = f"inproc://connections-{next(_numbers)}"
        connecting.monitor(address, _HANDSHAKES | also)
        self._monitor: zmq.Socket[bytes] = zmq.Context.shadow(connecting.context.underlying).socket(zmq.PAIR)
        self._monitor.setsockopt(zmq.LINGER, 0)
        self._monitor.setsockopt(zmq.RCVHWM, 0)  # else ZeroMQ's thread waits for room, and receives nothing meanwhile
        self._monitor.connect(address)
        self._endpoints: set[str] = set()
        self._refused: dict[str, _Refusal] = {}

    def connect(self, endpoint: str) -> None:
        """Connect the socket to an endpoint.

        Raises:
            zmq.ZMQError: ZeroMQ does not accept the endpoint.
        """
        self._socket.connect(endpoint)
        self._endpoints.add(endpoint)

    def disconnect(self, endpoint: str) -> None:
        """Disconnect the socket from an endpoint."""
        self._endpoints.discard(endpoint)
        self._refused.pop(endpoint, None)
        with contextlib.suppress(zmq.ZMQError):
            self._socket.disconnect(endpoint)

    def poll(self, now_s: float) -> list[ConnectionEvent]:
        """Return the events since the last call, and connect again where it is due. To be called each second or so."""
        events = list(self._receive())
        for event, endpoint in events:
            if event & _GIVEN_UP and endpoint in self._endpoints:
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

    def close(self) -> None:
        """Stop watching."""
        with contextlib.suppress(zmq.ZMQError):
            self._socket.disable_monitor()
        self._monitor.close(0)

    def _note_refusal(self, endpoint: str, now_s: float) -> None:
        varied = random.uniform(1 - _JITTER, 1)  # noqa: S311
        refusal = self._refused.get(endpoint)
        if refusal is None:
            self._refused[endpoint] = _Refusal(now_s + varied * _FIRST_WAIT_S, _FIRST_WAIT_S)
        elif refusal.again_at_s is None:
            refusal.wait_s = min(2 * refusal.wait_s, _LONGEST_WAIT_S)
            refusal.again_at_s = now_s + varied * refusal.wait_s

    def _receive(self) -> Iterator[ConnectionEvent]:
        with contextlib.suppress(zmq.Again):
            while True:
                message = parse_monitor_message(self._monitor.recv_multipart(zmq.NOBLOCK))
                yield ConnectionEvent(int(message["event"]), self._as_given(message["endpoint"].decode()))

    def _as_given(self, endpoint: str) -> str:
        """Return the endpoint with the name of the host: in later attempts, ZeroMQ reports the address instead."""
        if endpoint in self._endpoints or not endpoint.startswith("tcp:"):
            return endpoint
        port = endpoint.rpartition(":")[2]
        named = [each for each in self._endpoints if each.startswith("tcp:") and each.rpartition(":")[2] == port]
        if len(named) > 1:
            named = [each for each in named if _host(endpoint) in _addresses(_host(each))]
        return named[0] if named else endpoint


def _host(endpoint: str) -> str:
    return endpoint.removeprefix("tcp://").rpartition(";")[2].rpartition(":")[0].strip("[]")


def _addresses(host: str) -> set[str]:
    with contextlib.suppress(OSError):
        return {str(address[0]) for *_, address in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)}
    return set()
