"""The per-node agent: polls sources and ships their events. Owns the socket around ``Shipper``."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import os
import secrets
import time
from collections import Counter, deque
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

import zmq

from ...events import NODE_COLLECTOR, InputError, StreamInfo
from ...events.network.connection_events import CONNECTED, DISCONNECTED, KEY_REFUSED, ConnectionEvents
from ...events.network.endpoints import is_ipv6
from ...events.network.key_source import KeyFiles, KeySource
from ...events.network.wire import Frame
from ..settings import CollectorSettings
from ..source import (
    BufferingSource,
    Closed,
    CollectedProblems,
    Opened,
    Source,
    SourceItem,
    WaitingSource,
    WakeableSource,
)
from .aggregator_selection import Route
from .shipper import Shipper
from .shipper_state import ShipperState
from .source_resumption import SourceResumption

if TYPE_CHECKING:
    from ..pacing.pacer import Pacer

_log = logging.getLogger(__name__)
_RECEIVES_A_PUMP: Final = 1000
_READ_FOR: Final = 3
_CLOSED: Final = int(zmq.EVENT_CLOSED)
_RETRIED: Final = int(zmq.EVENT_CONNECT_RETRIED)
"""Event of a refused connection, after ``_CLOSED``."""
_LOOK_S: Final = 0.5
"""Time between looks at connection events where there is no other aggregator, s."""
_QUIET_PUMPS_BEFORE_SLOWING: Final = 50
"""Pumps without new data after which sources are polled less often."""
_SLOWER_EACH: Final = 4
_KEPT_BYTES: Final = 1 << 30
"""Bound on data stored for the next collector if none is configured."""
_OWN: Final = "(collector)"
"""Name of the collector's own stream. It introduces its job before the first program is traced."""
_MAX_LONGER: Final = 10.0
"""Maximum factor by which the poll interval of silent sources grows."""


class Agent:
    """Runs sources and one connection to an aggregator in an asyncio loop.

    A source that raises is closed and counted; the others continue. ``pump`` does one round of work and never blocks.

    Args:
        sources: the sources to poll.
        settings: settings of the connection.
        context: context of the socket; by default a new one.
        waits: poll sources only while there is room for their events, so that none are dropped.
        keys: origin of CURVE keys; by default the files that the settings name.
        pacer: receiver of the aggregator's plan; started here, and closed with the agent.

    Attributes:
        unread: sources that had not ended when the time for draining was over.

    Raises:
        ConfigError: the keys cannot be read.
    """

    def __init__(
        self,
        sources: Iterable[Source],
        settings: CollectorSettings,
        context: zmq.Context[zmq.Socket[bytes]] | None = None,
        *,
        waits: bool = False,
        keys: KeySource | None = None,
        pacer: Pacer | None = None,
    ) -> None:
        self._problems = CollectedProblems()
        self.unread = 0
        self._waits = waits
        self._settings = settings
        self._own_context = context is None
        self._context: zmq.Context[zmq.Socket[bytes]] = context or zmq.Context()
        self._socket = self._context.socket(zmq.DEALER)
        self._socket.linger = 0
        # Queue messages only on completed connections: none accumulate for an unreachable aggregator.
        self._socket.setsockopt(zmq.IMMEDIATE, 1)
        self._socket.setsockopt(zmq.RECONNECT_IVL, 50)
        self._socket.setsockopt(zmq.RECONNECT_IVL_MAX, 2000)
        endpoints = (settings.endpoint, *settings.others)
        self._socket.setsockopt(zmq.IPV6, any(map(is_ipv6, endpoints)))
        self._route = Route(endpoints, settings.away_after_s, time.monotonic())
        # Where there is another aggregator to connect to, refused connections matter too.
        self._connection = ConnectionEvents(self._socket, _CLOSED | _RETRIED if self._route.has_others else 0)
        self._look_at_s = -math.inf
        self._last_event = 0
        self._is_key_refused = False
        self._key_source = keys or KeyFiles(settings.key, settings.server_key)
        self._keys = self._key_source.keys
        self._refresh_keys_at_s = -math.inf
        self._connect()
        # The name is secret and random: a peer that sends it is this collector, also over another connection.
        name = f"{settings.host}:{os.getpid()}:{secrets.token_hex(16)}"
        most = settings.spool_bytes or _KEPT_BYTES
        state = None if settings.state is None else ShipperState(settings.state, most, name)
        self._shipper = Shipper(name if state is None else state.collector, settings, state)
        self._resumption = SourceResumption(self._shipper, state)
        self._sources: list[Source] = []
        self._open: dict[int, set[str]] = {}
        self._finished: Counter[str] = Counter()
        self._quiet_pumps = 0
        self._begun_s = time.monotonic()
        self._is_unreachable = False
        self._pending: deque[list[Frame]] = deque()
        self._pacer = pacer
        self._plans_received = 0
        if pacer is not None:
            self._shipper.beats.paces = pacer.place
            pacer.start()
        if settings.serves_job:
            info = StreamInfo(
                job=settings.serves_job, source=NODE_COLLECTOR, host=settings.host, user=settings.user, pid=os.getpid()
            )
            opened = Opened(_OWN, info)
            self._resumption.opened(opened)
            self._shipper.take([opened], self._begun_s)
        for source in sources:
            self.add(source)

    def add(self, source: Source) -> None:
        """Add a source."""
        self._sources.append(source)
        self._open[id(source)] = set()
        self._resumption.add(source)

    @property
    def finished(self) -> bool:
        """True when every source has ended and everything was acknowledged."""
        return not self._sources and self._shipper.flushed

    @property
    def silence_s(self) -> float | None:
        """Seconds since the aggregator last sent something; None: it never has."""
        heard = self._shipper.last_heard_s
        return None if heard is None else time.monotonic() - heard

    @property
    def unacknowledged(self) -> int:
        """Number of events that the aggregator has not acknowledged."""
        return self._shipper.unacknowledged

    @property
    def problems(self) -> CollectedProblems:
        """Problems of all sources so far, also of closed ones."""
        for source in self._sources:
            self._problems.take(source)
        return self._problems

    def counters(self) -> Counter[str]:
        """Return the counters of all sources, including closed ones, and of the shipper."""
        return self._source_counters() + self._shipper.counters

    async def run(self, *, until_finished: bool = False) -> None:
        """Pumps until cancelled, or until every source has ended and everything was acknowledged."""
        while not (until_finished and self.finished):
            busy = self.pump()
            self._quiet_pumps = 0 if busy or self._is_reading else self._quiet_pumps + 1
            await self._wait_for_pump(busy=busy)

    async def _wait_for_pump(self, *, busy: bool) -> None:
        """Wait for the next pump, longer after longer silence. Sources that can notify interrupt the wait."""
        settings = self._settings
        if busy or self._quiet_pumps < _QUIET_PUMPS_BEFORE_SLOWING:
            await asyncio.sleep(0 if busy else settings.poll_interval_s)
            return
        longer = min(_MAX_LONGER, 1.0 + (self._quiet_pumps - _QUIET_PUMPS_BEFORE_SLOWING) / _SLOWER_EACH)
        waking = [source for source in self._sources if isinstance(source, WakeableSource)]
        if not all([source.sleep() for source in waking]):  # noqa: C419  (each is to be asked)
            longer = 1.0
        loop, news = asyncio.get_running_loop(), asyncio.Event()
        for source in waking:
            loop.add_reader(source.fileno(), news.set)
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(longer * settings.idle_interval_s):
                    await news.wait()
        finally:
            for source in waking:
                loop.remove_reader(source.fileno())

    async def drain(self, deadline_s: float) -> bool:
        """Read all sources to their present end, close them, and waits until everything is acknowledged.

        A source without an end is read for three times ``deadline_s``. An unreachable aggregator is not waited for if
        no call is unacknowledged.

        Returns:
            False if nothing was acknowledged for ``deadline_s``; the rest is lost when the agent closes.
        """
        await self._read_to_end(deadline_s)
        self.unread = len(self._sources)
        self._shipper.flush(time.monotonic())
        self._resumption.end()
        self._resumption.keep(time.monotonic())
        for source in list(self._sources):
            self._close_source(source)
        self._shipper.take([Closed(_OWN)], time.monotonic())
        self._shipper.flush(time.monotonic())
        return await self._wait_for_acknowledgements(deadline_s)

    @property
    def _is_reading(self) -> bool:
        """Whether a poll of a source has not returned yet."""
        return any(isinstance(source, WaitingSource) and source.is_waiting for source in self._sources)

    async def _read_to_end(self, deadline_s: float) -> None:
        """Read all sources to their present end, or for three times ``deadline_s``."""
        for source in self._sources:
            if isinstance(source, BufferingSource):
                source.stop_buffering()
        start = had_news = time.monotonic()
        while (now := time.monotonic()) < start + _READ_FOR * deadline_s:
            busy = self.pump()
            had_news = now if busy else had_news
            is_held_up = (self._waits and not self._shipper.has_room) or self._is_reading
            if not busy and (not is_held_up or now > had_news + deadline_s):
                break
            await asyncio.sleep(0 if busy else 0.001)

    async def _wait_for_acknowledgements(self, deadline_s: float) -> bool:
        """Return False if nothing was acknowledged for ``deadline_s``."""
        limit, least = time.monotonic() + deadline_s, self._shipper.outstanding
        while not self._shipper.flushed:
            if self._shipper.outstanding < least:
                limit, least = time.monotonic() + deadline_s, self._shipper.outstanding
            if self._is_unreachable and self._shipper.lacks_only_byes:
                return True  # no call is lost
            if time.monotonic() > limit:
                return False
            self.pump()
            await asyncio.sleep(0.001)
        return True

    def pump(self) -> bool:
        """Do one round: receives, polls, sends. Returns whether a source had new data."""
        now = time.monotonic()
        self._receive(now)
        self._watch_connection(now)
        self._log_reachability(now)
        if self._pacer is not None and self._plans_received != self._shipper.beats.plans_received:
            self._plans_received = self._shipper.beats.plans_received
            self._pacer.receive_plan(self._shipper.beats.plan)
        if self._keys is not None:
            self._update_keys(now)
        busy = self._poll_all() if self._shipper.has_room or not self._waits else False
        self._shipper.tick(now)
        if self._send():
            self._pending.extend(self._shipper.outgoing(now, self._source_counters))
        self._resumption.keep(now)
        self._send()
        return busy

    def close(self) -> None:
        """Close sources and the socket; unacknowledged data is lost."""
        if self._pacer is not None:
            self._pacer.close()
        for source in list(self._sources):
            self._close_source(source)
        self._resumption.keep(time.monotonic())
        self._shipper.close()
        self._connection.close()
        self._socket.close()
        if self._own_context:
            self._context.term()

    def _connect(self) -> None:
        if self._keys is not None:
            self._keys.secure(self._socket)
        self._connection.connect(self._route.endpoint)

    def _watch_connection(self, now_s: float) -> None:
        """Connect again after a refusal, or to the next aggregator if the current one does not answer."""
        if now_s < self._look_at_s:
            return
        self._look_at_s = now_s if self._route.has_others else now_s + _LOOK_S
        for event, endpoint in self._connection.poll(now_s):
            if event & (CONNECTED | DISCONNECTED):
                self._route.connection(is_made=bool(event & CONNECTED), now_s=now_s)
            elif event & _RETRIED and self._last_event & _CLOSED and endpoint == self._route.endpoint:
                self._route.refused()
            if event & KEY_REFUSED and not self._is_key_refused and self._keys is not None:
                key = self._keys.own.public.decode()
                _log.warning("the aggregator at %s does not accept the key %s (`iotide keys allow`)", endpoint, key)
            if event & (CONNECTED | KEY_REFUSED):
                self._is_key_refused = bool(event & KEY_REFUSED)
            self._last_event = event
        before = self._route.endpoint
        if self._route.moves_on(self._shipper.last_heard_s, now_s):
            self._connection.disconnect(before)
            self._connect()

    def _log_reachability(self, now_s: float) -> None:
        """Log when the aggregator becomes unreachable and when it is back."""
        heard_s = self._shipper.last_heard_s
        is_away = now_s - (self._begun_s if heard_s is None else heard_s) >= self._settings.away_after_s
        if is_away == self._is_unreachable:
            return
        self._is_unreachable = is_away
        endpoint = self._route.endpoint
        if is_away:
            text = "the aggregator at %s has not responded for %g s; calls are buffered, up to backlog_bytes = %d"
            _log.warning(text, endpoint, self._settings.away_after_s, self._settings.backlog_bytes)
        else:
            _log.warning("the aggregator at %s responds again; %d calls are buffered", endpoint, self.unacknowledged)

    def _update_keys(self, now_s: float) -> None:
        """Reconnect if there are new keys. They are looked for while the aggregator does not answer."""
        silence = self.silence_s
        if now_s >= self._refresh_keys_at_s and (silence is None or silence >= self._settings.away_after_s):
            self._refresh_keys_at_s = now_s + self._settings.away_after_s
            self._key_source.refresh()
        if self._key_source.keys != self._keys:
            self._keys = self._key_source.keys
            self._connection.disconnect(self._route.endpoint)
            self._connect()

    def _send(self) -> bool:
        """Send pending messages; returns whether all were sent. No further messages are made before that."""
        with contextlib.suppress(zmq.Again):
            while self._pending:
                self._socket.send_multipart(self._pending[0], flags=zmq.NOBLOCK, copy=False)
                self._pending.popleft()
        return not self._pending

    def _receive(self, now_s: float) -> None:
        with contextlib.suppress(zmq.Again):
            for _ in range(_RECEIVES_A_PUMP):
                self._shipper.receive(self._socket.recv_multipart(zmq.NOBLOCK), now_s)

    def _poll_all(self) -> bool:
        busy = False
        for source in list(self._sources):
            try:
                items = source.poll()
            except Exception as error:  # a failing source must not affect the others
                self._fail_source(source, error)
                self._close_source(source)
                continue
            self._take(source, items)
            busy = busy or bool(items)
            if source.finished:
                self._close_source(source)
        return busy

    def _take(self, source: Source, items: list[SourceItem]) -> None:
        still_open = self._open[id(source)]
        for item in items:
            if isinstance(item, Opened):
                still_open.add(item.stream)
                self._resumption.opened(item)
            elif isinstance(item, Closed):
                still_open.discard(item.stream)
        self._shipper.take(items, time.monotonic())

    def _close_source(self, source: Source) -> None:
        """Close a source and its open streams."""
        try:
            source.close()
        except Exception as error:
            self._fail_source(source, error)
        self._sources.remove(source)
        self._shipper.take([Closed(stream) for stream in sorted(self._open.pop(id(source)))], time.monotonic())
        self._resumption.remove(source)
        self._finished.update(source.counters)
        self._problems.forget(source)

    def _fail_source(self, source: Source, error: Exception) -> None:
        self._finished["sources_failed"] += 1
        self._problems.add(InputError(type(source).__name__, None, repr(error), "a source that does not raise"))

    def _source_counters(self) -> Counter[str]:
        total = Counter(self._finished)
        if self._pacer is not None:
            total.update(self._pacer.counters())
        for source in self._sources:
            total.update(source.counters)
        return total
