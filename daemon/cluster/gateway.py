"""The socket for collectors in a cluster. It also has the sockets to the owners of their jobs."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import zmq
import zmq.asyncio

from ...events import ConfigError
from ...events.network.connection_events import ConnectionEvents
from ...events.network.descriptors import backlog
from ...events.network.endpoints import check_private, is_ipv6, private_files
from ...events.network.wire import Frame
from ..access.admission import REFUSAL
from ..ingest.ingest import GATEWAY_NAME, MAX_GATEWAY_ANSWERS
from ..ingest.loop_socket import LoopSocket
from ..ingest.peer_limits import PeerBound
from .gateway_routes import GatewayRoutes
from .members import Worker

if TYPE_CHECKING:
    from ...events.network.curve import ClientKeys
    from ..access.access import Access

_MAX_MESSAGE_BYTES: Final = 64 << 20
_MAX_WAITING_MESSAGES: Final = 1 << 14
"""Maximum number of messages that wait for an owner. Further ones are lost and requested again. Credit bounds their
bytes: half a second of the owner's work, and at most bounds.credit batches per collector."""
_MESSAGES_PER_TURN: Final = 64
_TICK_S: Final = 1.0
_INITIAL_DELAY_S: Final = 0.25
"""Delay before answers of a new owner are forwarded, s."""


class _Owner(NamedTuple):
    worker: Worker
    socket: LoopSocket
    keys: ClientKeys | None
    connection: ConnectionEvents

    def close(self) -> None:
        self.connection.close()
        self.socket.close()


class Gateway:
    """Forwards messages of collectors to the owners of the partitions.

    Args:
        context: context of the sockets.
        endpoint: endpoint for collectors.
        partitions: number of partitions.
        max_streams: as for ``GatewayRoutes``.
        forget_after_s: as for ``GatewayRoutes``.
        access: access control. With CURVE, collectors need a listed key, and owners the key of the cluster.
        connections_per_peer: maximum number of connections of an address, or of a user on ipc.
        allow_plaintext: whether the endpoint may be reachable from other machines in plain text.
        counters: as for ``GatewayRoutes``; also ``ingest_peers_refused``.
    """

    def __init__(
        self,
        context: zmq.asyncio.Context,
        endpoint: str,
        partitions: int,
        *,
        max_streams: int,
        forget_after_s: float,
        allow_plaintext: bool,
        access: Access,
        connections_per_peer: int,
        counters: Counter[str],
    ) -> None:
        self.routes = GatewayRoutes(partitions, self.is_reachable, max_streams, forget_after_s, counters)
        self._context, self._endpoint, self._allow_plaintext = context, endpoint, allow_plaintext
        self._access = access
        self._is_encrypted = access.is_encrypted
        self._name = secrets.token_bytes(GATEWAY_NAME)
        self._front: zmq.asyncio.Socket = context.socket(zmq.ROUTER)
        self._front.linger = 0
        self._front.setsockopt(zmq.MAXMSGSIZE, _MAX_MESSAGE_BYTES)
        self._front.setsockopt(zmq.BACKLOG, backlog())
        self.peers = PeerBound(self._front, connections_per_peer, counters)
        self._receiving = LoopSocket(self._front)
        self._owners: dict[int, _Owner] = {}
        self._answering: dict[int, asyncio.TimerHandle] = {}
        self._failure: asyncio.Future[None] | None = None

    def bind(self) -> str:
        """Bind the socket; return the endpoint, with the port chosen by the system. Raises ConfigError."""
        allowed = self._allow_plaintext or self._access.is_encrypted
        check_private(self._endpoint, allow=allowed, permission="access.key or bounds.allow_plaintext")
        self._front.setsockopt(zmq.IPV6, is_ipv6(self._endpoint))
        try:
            self.listen()
        except OSError as error:
            raise ConfigError(f"cannot listen on {self._endpoint}: {error.strerror}") from None
        self._endpoint = bytes(self._front.getsockopt(zmq.LAST_ENDPOINT)).rstrip(b"\0").decode()
        return self._endpoint

    def stop_listening(self) -> None:
        """Stop listening and close existing connections of collectors."""
        with contextlib.suppress(zmq.ZMQError):
            self._front.unbind(self._endpoint)

    def listen(self) -> None:
        """Listen at the endpoint; raise an OSError if that is not possible."""
        self._access.secure(self._front, "ingest")
        try:
            with private_files():
                self._front.bind(self._endpoint)
        except zmq.ZMQError as error:  # zmq.ZMQError is not an OSError
            raise OSError(error.errno, error.strerror) from None

    def is_reachable(self, partition: int) -> bool:
        """Return whether a partition has an owner."""
        return partition in self._owners

    def set_owners(self, owners: Mapping[int, Worker], of_members: Mapping[int, str] | None = None) -> None:
        """Set the owners of the partitions. Collectors of a partition with a new owner must send HELLO again.

        Args:
            owners: owners by partition.
            of_members: public keys of their members by partition; by default this member's.
        """
        public = {} if of_members is None else of_members
        keys_of = {number: self._access.keys_of_members(public.get(number, "")) for number in owners}
        for number, known in list(self._owners.items()):
            if owners.get(number) != known.worker or keys_of[number] != known.keys:
                self._answering.pop(number).cancel()
                self._owners.pop(number).close()
        for number, worker in owners.items():
            if number in self._owners:
                continue
            keys = keys_of[number]
            socket: zmq.asyncio.Socket = self._context.socket(zmq.DEALER)
            socket.setsockopt(zmq.ROUTING_ID, self._name)
            socket.setsockopt(zmq.IPV6, is_ipv6(worker.ingest))
            socket.setsockopt(zmq.MAXMSGSIZE, _MAX_MESSAGE_BYTES)
            socket.sndhwm, socket.rcvhwm = _MAX_WAITING_MESSAGES, MAX_GATEWAY_ANSWERS
            socket.linger = 0
            if keys is not None:
                keys.secure(socket)
            connection = ConnectionEvents(socket)
            connection.connect(worker.ingest)
            owner = LoopSocket(socket)
            self._owners[number] = _Owner(worker, owner, keys, connection)
            loop = asyncio.get_running_loop()
            self._answering[number] = loop.call_later(_INITIAL_DELAY_S, self._begin_answers, number, owner)

    async def run(self) -> None:
        """Forward messages until cancelled; raise the exception of a message that cannot be forwarded."""
        self._failure = failure = asyncio.get_running_loop().create_future()
        self._receiving.on_messages(self._receive_some)
        while True:
            done, _ = await asyncio.wait([failure], timeout=_TICK_S)
            if done:
                failure.result()
            now_s = time.monotonic()
            self.routes.forget(now_s)
            for owner in self._owners.values():
                owner.connection.poll(now_s)

    def close(self) -> None:
        """Close all sockets."""
        for timer in self._answering.values():
            timer.cancel()
        self.peers.close()
        for owner in self._owners.values():
            owner.close()
        self._owners, self._answering = {}, {}
        self._receiving.close()

    def _receive_some(self) -> None:
        for _ in range(_MESSAGES_PER_TURN):
            if (parts := self._receiving.receive()) is None:
                return
            try:
                self._forward(parts)
            except Exception as error:  # `run` reports it
                self._fail(error)

    def _forward(self, parts: Sequence[zmq.Frame]) -> None:
        """Forward a collector's message to the owners of its jobs, or answer it."""
        peer, *frames = parts
        user = self._access.user_of(frames[-1]) if frames else ""
        if user is None:
            self._access.count("revoked")
            self._send([peer, *REFUSAL])
            return
        # The owner trusts the gateway about the user, which it cannot find itself.
        way: list[Frame | zmq.Frame] = [peer, user.encode()] if self._is_encrypted else [peer]
        views: list[Frame] = [frame.buffer for frame in frames]
        sent, answers = self.routes.receive(peer.bytes, views, time.monotonic(), user)
        for partition, message in sent:
            unchanged = frames if message is views else message  # frames of ZeroMQ are not copied
            # A message that would wait too long is lost: the next one reveals the gap to the owner.
            try:
                self._owners[partition].socket.send([*way, *unchanged])
            except zmq.ZMQError:
                self.routes.counters["lost"] += 1
        for answer in answers:
            self._send([peer, *answer])

    def _begin_answers(self, partition: int, owner: LoopSocket) -> None:
        """Ask the collectors of a partition for HELLO, and forward its answers from now on."""
        for peer, message in self.routes.on_owner_changed(partition):
            self._send([peer, *message])
        owner.on_messages(lambda: self._answer_some(partition, owner))

    def _answer_some(self, partition: int, owner: LoopSocket) -> None:
        for _ in range(_MESSAGES_PER_TURN):
            if (parts := owner.receive()) is None:
                return
            peer, *frames = parts
            try:
                if self.routes.answer(peer.bytes, partition, [frame.buffer for frame in frames]):
                    self._send(parts)
            except Exception as error:  # `run` reports it
                self._fail(error)

    def _fail(self, error: Exception) -> None:
        if self._failure is not None and not self._failure.done():
            self._failure.set_exception(error)

    def _send(self, message: Sequence[Frame | zmq.Frame]) -> None:
        with contextlib.suppress(zmq.ZMQError):  # the peer has disconnected or does not read; it will ask again
            self._receiving.send(message)
