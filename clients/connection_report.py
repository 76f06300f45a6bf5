"""What a subscriber tells about its connection: that there is none and why, that it is lost, back, or silent."""

from __future__ import annotations

import logging
from typing import Final, NamedTuple

from ..events.network.connection_events import (
    CONNECTED,
    DISCONNECTED,
    HANDSHAKE_CUT,
    KEY_REFUSED,
    PROTOCOL_FAILED,
)
from ..events.network.curve import ClientKeys
from ..events.network.greeting import NoGreetingError, security_mechanism

_CONNECT_S: Final = 2.0
"""Time for a connection before its absence is reported, s; a network needs milliseconds."""
_AGAIN_S: Final = 5.0
"""Time between two searches for the cause, s."""
_QUIET_S: Final = 3.0
"""Time without a message after which a new connection is reported as silent, s."""
_EXPECTED: Final = "expected `publish` of an aggregator, by default port 9789"
_OF_ANOTHER_PORT: Final = ("silent", "nothing_listens", "other_protocol")


class Line(NamedTuple):
    """A line of the log."""

    level: int
    text: str


class ConnectionReport:
    """Turns events of a connection into lines. No clock, no sockets.

    Args:
        endpoint: the aggregator's publish endpoint.
        nothing_yet: what is absent while the connection is silent.
        now_s: current time of the clock that is passed in.
    """

    def __init__(self, endpoint: str, nothing_yet: str, now_s: float) -> None:
        self._aggregator = f"the aggregator at {endpoint}"
        self._nothing_yet = nothing_yet
        self._is_connected = self._was_connected = self._is_heard = False
        self._since_s = now_s
        self._ask_at_s = now_s + _CONNECT_S
        self._told = ""
        self.failure = 0
        """Event of the last failed handshake."""

    def handle(self, event: int, now_s: float) -> list[Line]:
        """Take an event of the connection."""
        if event & (KEY_REFUSED | PROTOCOL_FAILED | HANDSHAKE_CUT):
            self.failure = event
        if event & KEY_REFUSED:
            self._ask_at_s = min(self._ask_at_s, now_s)
        elif event & CONNECTED:
            self._is_connected, self._since_s = True, now_s
            told, self._told = self._told, ""
            if self._was_connected:
                return [Line(logging.WARNING, f"connected to {self._aggregator} again")]
            self._was_connected = True
            if told:
                return [Line(logging.WARNING, f"connected to {self._aggregator}")]
        elif event & DISCONNECTED and self._is_connected:
            self._is_connected, self._ask_at_s = False, now_s + _CONNECT_S
            return [Line(logging.WARNING, f"lost the connection to {self._aggregator}; trying to connect again")]
        return []

    def received(self) -> None:
        """Note that a message arrived."""
        self._is_heard = True

    def asks_why(self, now_s: float) -> bool:
        """Return whether to find out now why there is no connection; then ``explain`` gets the cause."""
        if self._is_connected or now_s < self._ask_at_s:
            return False
        self._ask_at_s = now_s + _AGAIN_S
        return True

    def explain(self, cause: str) -> list[Line]:
        """Take the cause of a missing connection."""
        if cause == self._told:
            return []
        self._told = cause
        return [Line(logging.WARNING, f"not connected: {cause}")]

    def silence(self, now_s: float) -> list[Line]:
        """Return that a connection is made and nothing has arrived, once."""
        if not self._is_connected or self._is_heard or now_s < self._since_s + _QUIET_S:
            return []
        self._is_heard = True
        return [Line(logging.INFO, f"connected to {self._aggregator}; {self._nothing_yet}")]

    def trouble(self) -> str:
        """Return what is known about a missing connection; "" if it is made."""
        return "" if self._is_connected else f"not connected: {self._told}".removesuffix(": ")


def connection_problem(endpoint: str, keys: ClientKeys | None, failure: int, patience_s: float) -> str:
    """Return why a subscriber cannot connect.

    Args:
        endpoint: the aggregator's publish endpoint.
        keys: keys of the subscriber.
        failure: event of the last failed handshake; 0 without one.
        patience_s: time for an answer.
    """
    try:
        mechanism = "" if endpoint.startswith("inproc:") else security_mechanism(endpoint, patience_s)
    except NoGreetingError as error:
        return f"{error}; {_EXPECTED}" if error.obstacle in _OF_ANOTHER_PORT else str(error)
    if keys is None:
        if mechanism == "CURVE":
            return f"{endpoint} requires a key (--key and --server-key, or IOTIDE_KEY and IOTIDE_SERVER_KEY)"
        return f"what listens at {endpoint} publishes nothing; {_EXPECTED}"
    if mechanism == "NULL":
        return f"{endpoint} has no key, and keys are not used in plain text: leave --key out, or set its `access.key`"
    if failure & KEY_REFUSED:
        own = keys.own.public.decode()
        return f"{endpoint} does not permit the key {own} to subscribe (`iotide keys allow --may operate`)"
    return f"the server key is not the key of {endpoint}, or it is another port; {_EXPECTED}"
