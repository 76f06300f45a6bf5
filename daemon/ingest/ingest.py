"""The socket that collectors connect to: the shell around ``IngestCore``."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import zmq
import zmq.asyncio

from ...events import ConfigError
from ...events.network.descriptors import backlog
from ...events.network.endpoints import check_private, is_ipv6, private_files
from ...events.network.wire import Frame
from ..stages import Stages
from .ingest_core import IngestCore, IngestSettings, Reply
from .sink import Sink

if TYPE_CHECKING:
    from ..access.access import Access
    from ..journal.durability import Durability

_log = logging.getLogger(__name__)
_MOST_LOGGED: Final = 20
_MESSAGES_A_TURN: Final = 64
_TURN_S: Final = 0.02
"""After which others have a turn, however few messages that were: some take a tenth of a second."""
_CROWDED_TURNS: Final = 64  # of that many messages each
_TICK_S: Final = 0.5
GATEWAY_NAME: Final = 16
"""Bytes of the routing id by which a gateway names itself; behind it the identity of the collector follows."""


class Ingest:
    """A ROUTER socket and the loop that feeds a sink from it.

    Plain text is for ipc and loopback; anything else needs CURVE, or settings that allow it.

    Args:
        context: of the socket.
        endpoint: where it is to listen.
        sink: gets what comes.
        settings: bounds.
        access: who may connect.
        stages: what the work takes.
        for_gateways: gateways of a cluster connect in place of collectors; before each message stands whose it is.
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
    ) -> None:
        self._for_gateways = for_gateways
        self._stages = stages or Stages(Counter())
        self._access = access
        self._settings = settings or IngestSettings()
        self.core = IngestCore(sink, self._settings)
        self._endpoint = endpoint
        self._bound = endpoint
        self._socket: zmq.asyncio.Socket = context.socket(zmq.ROUTER)
        self._socket.linger = 0
        self._socket.setsockopt(zmq.MAXMSGSIZE, 64 << 20)
        self._socket.setsockopt(zmq.BACKLOG, backlog())
        if for_gateways:  # one that connects again goes on under its name
            self._socket.setsockopt(zmq.ROUTER_HANDOVER, 1)
        self._unread_turns = 0
        self.durability: Durability | None = None
        """Journals what comes, and says when it may be answered; without it that is at once."""
        self._may_answer, self._written = asyncio.Event(), asyncio.Event()

    def bind(self) -> str:
        """Binds the socket; returns the endpoint, with the port that the system chose.

        Raises:
            ConfigError: the endpoint is malformed, in use, or would be readable by others.
        """
        allowed = self._settings.allow_plaintext or (self._access is not None and self._access.is_encrypted)
        check_private(self._endpoint, allow=allowed, permission="access.key or bounds.allow_plaintext")
        self._socket.setsockopt(zmq.IPV6, is_ipv6(self._endpoint))
        self._secure()
        try:
            with private_files():
                self._socket.bind(self._endpoint)
        except zmq.ZMQError as error:
            raise ConfigError(f"cannot listen on {self._endpoint}: {error}") from None
        self._bound = bytes(self._socket.getsockopt(zmq.LAST_ENDPOINT)).rstrip(b"\0").decode()
        return self._bound

    def stop_listening(self) -> None:
        """Takes no connections, and ends those that there are."""
        with contextlib.suppress(zmq.ZMQError):
            self._socket.unbind(self._bound)

    def listen(self) -> None:
        """Listens again where it did; raises an OSError where that does not work yet."""
        self._secure()
        try:
            with private_files():
                self._socket.bind(self._bound)
        except zmq.ZMQError as error:  # which is no OSError
            raise OSError(error.errno, error.strerror) from None

    async def run(self) -> None:
        """Receives until cancelled."""
        next_tick = 0.0
        while True:
            read_all = not await self._socket.poll(int(_TICK_S * 1000)) or await self._receive_some()
            if self.durability is not None:
                self.durability.sync()
                while self.durability.is_full:
                    self._written.clear()
                    await self._written.wait()
            self._unread_turns = 0 if read_all else self._unread_turns + 1
            now = time.monotonic()
            if now >= next_tick:
                (self.durability or self.core).tick(now)
                next_tick = now + _TICK_S

    async def drain(self, limit_s: float) -> None:
        """Takes in what waits, for some time, and answers all that was taken in."""
        until_s = time.monotonic() + limit_s
        while not await self._receive_some() and time.monotonic() < until_s:
            pass
        while self.durability is not None and self.durability.holds_answers:
            self.durability.sync()
            self._may_answer.clear()
            await self._send(self.durability.released())
            if self.durability.holds_answers:
                await self._may_answer.wait()

    def wake(self) -> None:
        """Takes in that more is on disk."""
        self._may_answer.set()
        self._written.set()

    async def answer(self) -> None:
        """Sends what was held back until a message was on disk; until cancelled."""
        while True:
            await self._may_answer.wait()
            self._may_answer.clear()
            if self.durability is not None:
                await self._send(self.durability.released())

    def close(self) -> None:
        """Closes the socket."""
        self._socket.close()

    @property
    def crowded(self) -> bool:
        """Whether messages have waited at the end of each turn for long; turns, as a pause of ours is no crowd."""
        return self._unread_turns >= _CROWDED_TURNS

    def hold_back(self, share: float) -> None:
        """Has collectors get a share of their credit, and a share of the messages taken in at a time; 1 is all."""
        self.core.share = share

    async def _receive_some(self) -> bool:
        """Takes in a few messages; tells whether these were all."""
        until_s = time.monotonic() + _TURN_S
        for _ in range(max(1, round(_MESSAGES_A_TURN * self.core.share))):
            try:
                parts: Sequence[zmq.Frame] = await self._socket.recv_multipart(zmq.NOBLOCK, copy=False)
            except zmq.Again:
                return True
            identity, parts = parts[0].bytes, parts[1:]
            if self._for_gateways:
                if len(identity) != GATEWAY_NAME or not parts:
                    self.core.stats.malformed += 1
                    continue
                identity, parts = identity + parts[0].bytes, parts[1:]
            frames: Sequence[Frame] = [part.buffer for part in parts]
            if self._access is not None and parts:
                frames, refusal = self._access.admit(parts[-1], frames)
                if refusal:
                    await self._send([(identity, refusal)])
                    continue
            await self._send(self._answers(identity, frames))
            if time.monotonic() > until_s:
                break
        await asyncio.sleep(0)
        return False

    async def _send(self, replies: list[Reply]) -> None:
        for peer, reply in replies:
            with contextlib.suppress(zmq.ZMQError):  # the peer is gone, or does not read: it will ask again
                way = [peer[:GATEWAY_NAME], peer[GATEWAY_NAME:]] if self._for_gateways else [peer]
                await self._socket.send_multipart([*way, *reply], zmq.NOBLOCK)

    def _secure(self) -> None:
        if self._access is not None:
            self._access.secure(self._socket, "ingest")

    def _answers(self, identity: bytes, frames: Sequence[Frame]) -> list[Reply]:
        try:
            with self._stages.of("ingest"):
                return (self.durability or self.core).receive(identity, frames, time.monotonic())
        except Exception:  # one message that breaks something costs itself
            self.core.stats.failed += 1
            if self.core.stats.failed <= _MOST_LOGGED:
                _log.exception("a message could not be taken in")
            return []
