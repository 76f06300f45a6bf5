"""One endpoint for the predictions of all partitions of a member."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

import zmq
import zmq.asyncio

from ...events import ConfigError
from ...events.network.connection_events import ConnectionEvents
from ...events.network.endpoints import check_private, is_ipv6, private_files
from ..ingest.loop_socket import LoopSocket
from ..publish.publish_queue import PublishQueue

if TYPE_CHECKING:
    from ..access.access import Access

_FLUSH_S: Final = 0.25
"""Maximum time between attempts to send waiting messages, s."""
_POLL_S: Final = 1.0
_MESSAGES_A_TURN: Final = 64


class Relay:
    """Forwards subscriptions to the processes, and their messages to the subscribers.

    A subscriber that does not read is cut off, as by one aggregator.

    Args:
        context: context of the sockets.
        endpoint: endpoint for subscribers.
        behind: messages that may wait for a subscriber (``publish_behind``).
        counters: gets ``subscribers_cut_off`` and ``published_missed``.
        allow_remote: whether it may be reachable from other machines in plain text.
        access: access control. With CURVE, subscribers need a listed key, and processes the key of the cluster.

    Raises:
        ConfigError: it cannot be bound.
    """

    def __init__(
        self,
        context: zmq.asyncio.Context,
        endpoint: str,
        access: Access,
        *,
        behind: int,
        counters: Counter[str],
        allow_remote: bool,
    ) -> None:
        self._access, self._keys = access, access.keys_of_members()
        allowed = allow_remote or access.is_encrypted
        check_private(endpoint, allow=allowed, permission="access.key or allow_remote")
        self._out: zmq.asyncio.Socket = context.socket(zmq.XPUB)
        self._in: zmq.asyncio.Socket = context.socket(zmq.XSUB)
        self._out.linger = self._in.linger = 0
        self._out.setsockopt(zmq.IPV6, is_ipv6(endpoint))
        self._out.setsockopt(zmq.SNDHWM, behind)
        self._out.setsockopt(zmq.XPUB_NODROP, 1)  # otherwise a full queue is not reported
        self._to_subscribers, self._to_processes = LoopSocket(self._out), LoopSocket(self._in)
        self._connections = ConnectionEvents(self._in)
        self._connected: set[str] = set()
        self.endpoint = endpoint
        try:
            self.listen()
        except OSError as error:
            self.close()
            raise ConfigError(f"cannot listen on {endpoint}: {error.strerror}") from None
        self.endpoint = bytes(self._out.getsockopt(zmq.LAST_ENDPOINT)).rstrip(b"\0").decode()
        self._queue = PublishQueue(self._to_subscribers.send, self.endpoint, behind, counters)

    def stop_listening(self) -> None:
        """Stop listening and close existing connections of subscribers."""
        with contextlib.suppress(zmq.ZMQError):
            self._out.unbind(self.endpoint)

    def listen(self) -> None:
        """Listen at the endpoint; raise an OSError if that is not possible."""
        self._access.secure(self._out, "publish")
        try:
            with private_files():
                self._out.bind(self.endpoint)
        except zmq.ZMQError as error:  # zmq.ZMQError is not an OSError
            raise OSError(error.errno, error.strerror) from None

    def follow(self, endpoints: Iterable[str]) -> None:
        """Set the endpoints of the processes."""
        wanted = set(endpoints)
        keys = self._access.keys_of_members()
        stay = wanted if keys == self._keys else set()
        self._keys = keys
        for endpoint in self._connected - stay:
            self._connections.disconnect(endpoint)
        if keys is not None:  # they apply to connections from now on
            keys.secure(self._in)
        for endpoint in wanted - (self._connected & stay):
            self._connections.connect(endpoint)
        self._connected = wanted

    async def run(self) -> None:
        """Run until cancelled."""
        await asyncio.gather(self._publish(), self._subscribe())

    async def _publish(self) -> None:
        while True:
            if await self._to_processes.wait(_FLUSH_S):
                for _ in range(_MESSAGES_A_TURN):
                    if (parts := self._to_processes.receive()) is None:
                        break
                    self._queue.put(parts)
                await asyncio.sleep(0)
            self._queue.flush()

    async def _subscribe(self) -> None:
        while True:
            self._connections.poll(time.monotonic())
            if await self._to_subscribers.wait(_POLL_S):
                while (parts := self._to_subscribers.receive()) is not None:
                    with contextlib.suppress(zmq.Again):
                        self._to_processes.send(parts)
                await asyncio.sleep(0)

    def close(self) -> None:
        """Close the sockets."""
        self._connections.close()
        self._to_subscribers.close()
        self._to_processes.close()
