"""FTIO's reply: each prediction as two doubles, frequency and confidence, sent to one ZeroMQ endpoint."""

from __future__ import annotations

import logging
import math
import struct
import time
from collections import Counter
from collections.abc import Callable
from typing import Final

import zmq

from ...events import ConfigError
from ...events.network.connection_events import ConnectionEvents
from ...events.network.endpoints import check_private, is_ipv6
from ...results.prediction import Prediction

_log = logging.getLogger(__name__)
_HIGH_WATER: Final = 100
_TWO_DOUBLES: Final = struct.Struct("@dd")  # native byte order, as FTIO packs them


class FtioReply:
    """A PUSH socket that connects to the PULL socket of FTIO's user.

    Replies without a receiver are dropped: none is queued for an absent listener, and at most 100 for a slow one.

    Args:
        context: context of the socket.
        endpoint: endpoint of the user's PULL socket.
        allow_remote: connect beyond loopback, in plain text.
        wanted: returns whether a job's predictions are replies; those of other users' jobs are not.
        counters: counters ``replies`` and ``replies_dropped``.

    Raises:
        ConfigError: the endpoint is malformed, or not private.
    """

    def __init__(
        self,
        context: zmq.Context[zmq.Socket[bytes]],
        endpoint: str,
        *,
        allow_remote: bool,
        wanted: Callable[[str], bool],
        counters: Counter[str],
    ) -> None:
        check_private(endpoint, allow=allow_remote, permission="allow_remote", connects=True)
        self._counters = counters
        self._wanted = wanted
        self._endpoint = endpoint
        self._socket = context.socket(zmq.PUSH)
        self._socket.linger = 200
        self._socket.setsockopt(zmq.SNDHWM, _HIGH_WATER)
        self._socket.setsockopt(zmq.IMMEDIATE, 1)  # only to a connected listener
        self._socket.setsockopt(zmq.RECONNECT_IVL_MAX, 2000)
        self._socket.setsockopt(zmq.IPV6, is_ipv6(endpoint))
        self._connection = ConnectionEvents(self._socket)
        try:
            self._connection.connect(endpoint)
        except zmq.ZMQError as error:
            self._connection.close()
            self._socket.close(0)
            raise ConfigError(f"cannot reply to {endpoint}: {error}") from None

    def prediction(self, prediction: Prediction) -> None:
        """Send one prediction, or count it as dropped. Never blocks."""
        if not self._wanted(prediction.job):
            return
        self._connection.poll(time.monotonic())
        try:
            self._socket.send(pack_reply(prediction), zmq.NOBLOCK)
        except zmq.Again:
            if not self._counters["replies_dropped"]:
                _log.warning("no program receives FTIO's replies at %s; they are dropped and counted", self._endpoint)
            self._counters["replies_dropped"] += 1
        else:
            self._counters["replies"] += 1

    def close(self) -> None:
        """Close the socket; undelivered replies are lost."""
        self._connection.close()
        self._socket.close()


def pack_reply(prediction: Prediction) -> bytes:
    """Return frequency (Hz) and confidence (0 to 1) as 16 bytes. Both are NaN without a period."""
    period = prediction.period_s
    if period is None or not period.value > 0:
        return _TWO_DOUBLES.pack(math.nan, math.nan)
    return _TWO_DOUBLES.pack(1.0 / period.value, prediction.confidence)
