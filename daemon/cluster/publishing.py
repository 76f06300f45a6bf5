"""One endpoint for the predictions of all partitions of a member."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable

import zmq
import zmq.asyncio

from ...events import ConfigError
from ...events.network.endpoints import check_private, is_ipv6, private_files


class Relay:
    """Forwards subscriptions to the processes, and their messages to the subscribers.

    Args:
        context: context of the sockets.
        endpoint: endpoint for subscribers.
        allow_remote: whether it may be reachable from other machines.

    Raises:
        ConfigError: it cannot be bound.
    """

    def __init__(self, context: zmq.asyncio.Context, endpoint: str, *, allow_remote: bool) -> None:
        check_private(endpoint, allow=allow_remote, permission="allow_remote")
        self._out: zmq.asyncio.Socket = context.socket(zmq.XPUB)
        self._in: zmq.asyncio.Socket = context.socket(zmq.XSUB)
        self._out.linger = self._in.linger = 0
        self._out.setsockopt(zmq.IPV6, is_ipv6(endpoint))
        self._connected: set[str] = set()
        try:
            with private_files():
                self._out.bind(endpoint)
        except zmq.ZMQError as error:
            self.close()
            raise ConfigError(f"cannot listen on {endpoint}: {error}") from None
        self.endpoint = bytes(self._out.getsockopt(zmq.LAST_ENDPOINT)).rstrip(b"\0").decode()

    def follow(self, endpoints: Iterable[str]) -> None:
        """Set the endpoints of the processes."""
        wanted = set(endpoints)
        for endpoint in self._connected - wanted:
            with contextlib.suppress(zmq.ZMQError):
                self._in.disconnect(endpoint)
        for endpoint in wanted - self._connected:
            self._in.connect(endpoint)
        self._connected = wanted

    async def run(self) -> None:
        """Run until cancelled."""
        await asyncio.gather(self._hand_on(self._in, self._out), self._hand_on(self._out, self._in))

    async def _hand_on(self, source: zmq.asyncio.Socket, target: zmq.asyncio.Socket) -> None:
        while True:
            parts = await source.recv_multipart()
            # a subscriber that does not read misses messages, as with one aggregator
            with contextlib.suppress(zmq.Again):
                await target.send_multipart(parts, zmq.NOBLOCK)

    def close(self) -> None:
        """Close the sockets."""
        self._out.close()
        self._in.close()
