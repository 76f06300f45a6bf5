"""One endpoint for the predictions of all partitions of a member."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable
from typing import TYPE_CHECKING

import zmq
import zmq.asyncio

from ...events import ConfigError
from ...events.network.endpoints import check_private, is_ipv6, private_files

if TYPE_CHECKING:
    from ..access.access import Access


class Relay:
    """Forwards subscriptions to the processes, and their messages to the subscribers.

    Args:
        context: context of the sockets.
        endpoint: endpoint for subscribers.
        allow_remote: whether it may be reachable from other machines in plain text.
        access: access control. With CURVE, subscribers need a listed key, and processes the key of the cluster.

    Raises:
        ConfigError: it cannot be bound.
    """

    def __init__(self, context: zmq.asyncio.Context, endpoint: str, access: Access, *, allow_remote: bool) -> None:
        self._access, self._keys = access, access.keys_of_members()
        allowed = allow_remote or access.is_encrypted
        check_private(endpoint, allow=allowed, permission="access.key or allow_remote")
        self._out: zmq.asyncio.Socket = context.socket(zmq.XPUB)
        self._in: zmq.asyncio.Socket = context.socket(zmq.XSUB)
        self._out.linger = self._in.linger = 0
        self._out.setsockopt(zmq.IPV6, is_ipv6(endpoint))
        self._connected: set[str] = set()
        self.endpoint = endpoint
        try:
            self.listen()
        except OSError as error:
            self.close()
            raise ConfigError(f"cannot listen on {endpoint}: {error.strerror}") from None
        self.endpoint = bytes(self._out.getsockopt(zmq.LAST_ENDPOINT)).rstrip(b"\0").decode()

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
            with contextlib.suppress(zmq.ZMQError):
                self._in.disconnect(endpoint)
        if keys is not None:  # they apply to connections from now on
            keys.secure(self._in)
        for endpoint in wanted - (self._connected & stay):
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
