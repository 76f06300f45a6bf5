"""The socket for collectors: the I/O shell around ``IngestCore``, and the interface of its journal."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

import zmq
import zmq.asyncio

from ...events import ConfigError
from ...events.network.descriptors import backlog
from ...events.network.endpoints import check_private, is_ipv6, private_files
from ...events.network.wire import Frame
from ..loop_timing import Stages
from .ingest_core import IngestCore, Reply
from .ingest_settings import IngestSettings
from .loop_socket import LoopSocket
from .peer_limits import PeerBound, ServiceCredit
from .sink import Sink

if TYPE_CHECKING:
    from ..access.access import Access

_log = logging.getLogger(__name__)


class SyncTimes(Protocol):
    """Number and duration of a journal's syncs."""

    @property
    def syncs(self) -> int:
        """Number of syncs."""
        ...

    @property
    def sync_s(self) -> float:
        """Total time of syncs, s."""
        ...


class InputJournal(Protocol):
    """Journals messages before they are answered."""

    @property
    def journal(self) -> SyncTimes:
        """The journal."""
        ...

    @property
    def is_full(self) -> bool:
        """Whether so many bytes wait for the disk that no more messages should be read."""
        ...

    @property
    def has_deferred_answers(self) -> bool:
        """Whether processed messages wait for a working disk."""
        ...

    def receive(self, identity: bytes, frames: Sequence[Frame], now_s: float) -> list[Reply]:
        """Journal and process a message; return the answers that need not wait."""
        ...

    def tick(self, now_s: float) -> None:
        """Journal and run a check of collectors for silence."""
        ...

    def sync(self) -> None:
        """Sync records that answers wait for."""
        ...

    def pop_durable(self) -> list[Reply]:
        """Return the answers whose records are on disk now."""
        ...


_MAX_LOGGED: Final = 20
_MESSAGES_PER_TURN: Final = 64
_TURN_S: Final = 0.02
"""Maximum duration of a turn, s: some messages take a tenth of a second."""
_BACKLOG_TURNS: Final = 64  # of that many messages each
_TICK_S: Final = 0.5
_YIELD_S: Final = 0.005
"""Duration of a turn for which other tasks get a turn of the loop, s. An HTTP request needs several."""
_MAX_YIELDS: Final = 8
MAX_GATEWAY_ANSWERS: Final = 1 << 17
"""Maximum number of answers that wait for a gateway, as many as may wait for a snapshot."""
GATEWAY_NAME: Final = 16
"""Bytes of a gateway's routing id, which is followed by the identity of the collector."""


class Ingest:
    """A ROUTER socket and the loop that feeds a sink from it.

    Plain text is only for ipc and loopback; anything else needs CURVE, or settings that allow it.

    Args:
        context: context of the socket.
        endpoint: endpoint to listen at.
        sink: receiver of the streams.
        settings: bounds.
        access: access control.
        stages: work time measurement.
        for_gateways: peers are gateways of a cluster; each message is preceded by its collector's identity and, with
            CURVE, by the user that the gateway found.
    """

    def __init__(
        self,
        context: zmq.asyncio.Context,
        endpoint: str,
        sink: Sink,
        settings: IngestSettings | None = None,
        access: Access | None = None,
        stages: Stages | None = None,
        *,
        for_gateways: bool = False,
        counters: Counter[str] | None = None,
    ) -> None:
        self._for_gateways = for_gateways
        self._stages = stages or Stages(Counter())
        self._access = access
        self._settings = settings or IngestSettings()
        self.core = IngestCore(sink, self._settings)
        self._service = ServiceCredit(self._settings.credit)
        self.core.credit_of = self._service.of
        self._endpoint = endpoint
        self._bound = endpoint
        self._socket: zmq.asyncio.Socket = context.socket(zmq.ROUTER)
        self._socket.linger = 0
        self._socket.setsockopt(zmq.MAXMSGSIZE, 64 << 20)
        self._socket.setsockopt(zmq.BACKLOG, backlog())
        if for_gateways:  # a gateway that reconnects keeps its name
            self._socket.setsockopt(zmq.ROUTER_HANDOVER, 1)
            # One sync answers the messages of all collectors of a gateway. ZeroMQ drops answers above its bound.
            self._socket.sndhwm = MAX_GATEWAY_ANSWERS
        self.peers: PeerBound | None = None
        """Bounds the connections of each peer while its ``run`` goes on. None for gateways, which bound theirs."""
        if not for_gateways:
            most = self._settings.connections_per_peer
            self.peers = PeerBound(self._socket, most, Counter() if counters is None else counters)
        self._messages = LoopSocket(self._socket)
        self._unread_turns = 0
        self._read_all_s = -math.inf
        self._turn_over = asyncio.Event()
        self._waits_for_disk = False
        self._syncs, self._sync_s = 0, 0.0
        self.durability: InputJournal | None = None
        """Journals messages and decides when they may be answered. Without it they are answered at once."""
        self._may_answer, self._written = asyncio.Event(), asyncio.Event()

    def bind(self) -> str:
        """Bind the socket; return the endpoint, with the port chosen by the system.

        Raises:
            ConfigError: the endpoint is malformed, in use, or would be readable by others.
        """
        allowed = self._settings.allow_plaintext or (self._access is not None and self._access.is_encrypted)
        check_private(self._endpoint, allow=allowed, permission="access.key or bounds.allow_plaintext")
        if self._is_for_all and not self._endpoint.startswith("ipc:///"):
            raise ConfigError(f"access.local_users needs ingest = ipc:///PATH, not {self._endpoint}")
        self._socket.setsockopt(zmq.IPV6, is_ipv6(self._endpoint))
        self._secure()
        try:
            self._bind(self._endpoint)
        except zmq.ZMQError as error:
            raise ConfigError(f"cannot listen on {self._endpoint}: {error}") from None
        self._bound = bytes(self._socket.getsockopt(zmq.LAST_ENDPOINT)).rstrip(b"\0").decode()
        return self._bound

    def stop_listening(self) -> None:
        """Stop listening and close existing connections."""
        with contextlib.suppress(zmq.ZMQError):
            self._socket.unbind(self._bound)

    def listen(self) -> None:
        """Listen at the same endpoint again; raise an OSError if that is not yet possible."""
        self._secure()
        try:
            self._bind(self._bound)
        except zmq.ZMQError as error:  # zmq.ZMQError is not an OSError
            raise OSError(error.errno, error.strerror) from None

    async def run(self) -> None:
        """Receive messages until cancelled."""
        next_tick = 0.0
        while True:
            read_all = not await self._messages.wait(_TICK_S) or await self._receive_some()
            if self.durability is not None:
                self.durability.sync()
                while self.durability.is_full:
                    self._waits_for_disk = True
                    self._written.clear()
                    await self._written.wait()
                self._waits_for_disk = False
            if self._unread_turns and read_all:
                self._turn_over.set()
            self._unread_turns = 0 if read_all else self._unread_turns + 1
            now = time.monotonic()
            if read_all:
                self._read_all_s = now
            if now >= next_tick:
                self._service.update(now, self._delay_of_acks(), self._read_all_s)
                (self.durability or self.core).tick(now)
                next_tick = now + _TICK_S

    async def drain(self, limit_s: float) -> None:
        """Process waiting messages for a limited time, and answer all processed ones."""
        until_s = time.monotonic() + limit_s
        while not await self._receive_some() and time.monotonic() < until_s:
            pass
        while self.durability is not None and self.durability.has_deferred_answers:
            self.durability.sync()
            self._may_answer.clear()
            self._send(self.durability.pop_durable())
            if self.durability.has_deferred_answers:
                await self._may_answer.wait()

    def wake(self) -> None:
        """Signal that more records are on disk."""
        self._may_answer.set()
        self._written.set()

    async def answer(self) -> None:
        """Send answers that waited for the disk, until cancelled."""
        while True:
            await self._may_answer.wait()
            self._may_answer.clear()
            if self.durability is not None:
                self._send(self.durability.pop_durable())

    def close(self) -> None:
        """Close the socket."""
        if self.peers is not None:
            self.peers.close()
        self._messages.close()

    @property
    def is_backlogged(self) -> bool:
        """Whether messages have remained after each of many turns.

        Turns are counted, so that a stall of ours does not count.
        """
        return self._unread_turns >= _BACKLOG_TURNS

    @property
    def has_unread(self) -> bool:
        """Whether messages remained after the last turn, and the next turn follows at once."""
        return self._unread_turns > 0 and not self._waits_for_disk

    async def wait_for_turn(self, timeout_s: float) -> bool:
        """Wait until a turn has reached its limit, or has read the last waiting message.

        Returns:
            False if there was no such turn for ``timeout_s``.
        """
        self._turn_over.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                return await self._turn_over.wait()
        return False

    def limit_credit(self, share: float) -> None:
        """Limit collectors to a share of their credit, and of the messages per turn; 1 sets no limit."""
        self.core.credit_share = share

    async def _receive_some(self) -> bool:
        """Process a few messages; return whether these were all."""
        begun_s = now_s = time.monotonic()
        for _ in range(max(1, round(_MESSAGES_PER_TURN * self.core.credit_share))):
            if (parts := self._messages.receive()) is None:
                return True
            identity, parts = parts[0].bytes, parts[1:]
            if self._for_gateways:
                if len(identity) != GATEWAY_NAME or not parts:
                    self.core.stats.malformed += 1
                    continue
                identity, parts = identity + parts[0].bytes, parts[1:]
            frames, refusal = self._admitted(parts)
            if refusal:
                self._send([(identity, refusal)])
                continue
            self._send(self._process(identity, frames))
            began_s, now_s = now_s, time.monotonic()
            if len(frames) > 1:  # a batch
                self._service.processed(identity, now_s - began_s)
            if now_s > begun_s + _TURN_S:
                break
        self._turn_over.set()
        for _ in range(1 + min(int((now_s - begun_s) / _YIELD_S), _MAX_YIELDS)):
            await asyncio.sleep(0)
        return not self._messages.has_message()

    def _delay_of_acks(self) -> float:
        """Return the mean time of a sync since the last call, s; 0 without a journal."""
        if self.durability is None:
            return 0.0
        journal, syncs, sync_s = self.durability.journal, self._syncs, self._sync_s
        self._syncs, self._sync_s = journal.syncs, journal.sync_s
        return max(journal.sync_s - sync_s, 0.0) / max(journal.syncs - syncs, 1)

    def _send(self, replies: list[Reply]) -> None:
        for peer, reply in replies:
            with contextlib.suppress(zmq.ZMQError):  # the peer has disconnected or does not read; it will ask again
                way = [peer[:GATEWAY_NAME], peer[GATEWAY_NAME:]] if self._for_gateways else [peer]
                self._messages.send([*way, *reply])

    @property
    def _is_for_all(self) -> bool:
        return self._access is not None and self._access.settings.local_users

    def _bind(self, endpoint: str) -> None:
        with private_files():
            self._socket.bind(endpoint)
        if self._is_for_all:
            Path(endpoint.removeprefix("ipc://")).chmod(0o666)

    def _secure(self) -> None:
        if self._access is not None:
            self._access.secure(self._socket, "ingest")

    def _admitted(self, parts: Sequence[zmq.Frame]) -> tuple[Sequence[Frame], list[Frame]]:
        """Return the frames to process, and the frames of a refusal."""
        frames: Sequence[Frame] = [part.buffer for part in parts]
        if self._access is None or not parts:
            return frames, []
        if not self._for_gateways:
            return self._access.admit(parts[-1], frames)
        if not self._access.is_encrypted:
            return frames, []
        return self._access.admit_from(parts[0].bytes.decode(errors="replace"), frames[1:])

    def _process(self, identity: bytes, frames: Sequence[Frame]) -> list[Reply]:
        try:
            with self._stages.measure("ingest"):
                return (self.durability or self.core).receive(identity, frames, time.monotonic())
        except Exception:  # a message that causes a failure only affects itself
            self.core.stats.failed += 1
            if self.core.stats.failed <= _MAX_LOGGED:
                _log.exception("ingest: a message could not be processed")
            return []
