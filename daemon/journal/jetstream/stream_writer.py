"""Appends records to a stream, in the connection's loop. Records that arrive meanwhile form one message.

One message is in flight at a time, and names the sequence number of the previous one. The stream therefore has each
message once, in order and without gaps, even if answers are lost; messages after another writer's claim are refused.
Several messages in flight would not be faster: the servers write them one after the other.

A small message costs client and server as much CPU time as about 100 KiB more in a message. While records keep coming,
messages therefore begin at least ``_GATHER_S`` apart, or contain 256 KiB. A record after a pause is appended at once.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Final, NamedTuple

from nats.errors import Error as NatsError
from nats.js import api
from nats.js.errors import NoStreamResponseError, NotFoundError

from ..segment_writer import Pending
from .link import NatsLink
from .messages import Message, pack

_log = logging.getLogger(__name__)
_MAX_MESSAGE_BYTES: Final = 1 << 20
"""Maximum size of a message, bytes. From 256 KiB on the disk's throughput limits, not its syncs."""
_HEADER_BYTES: Final = 1 << 10
_LAZY_BYTES: Final = 1 << 18
"""Bytes of records above which they are appended without further ones, and without a waiting answer."""
_GATHER_S: Final = 0.01
"""Least time between the beginnings of two messages below this size, s."""
_PAUSE_S: Final = 0.2
_ANSWER_S: Final = 2.0
"""Timeout of the answer to a small message, s. A server that has just failed does not answer."""
_ANSWER_S_PER_BYTE: Final = 3.0 / _MAX_MESSAGE_BYTES
"""Additional time for a larger message."""
_SILENT_S: Final = 5.0
"""Time without an answer after which it is logged, s."""


class Stored(NamedTuple):
    """A message in the stream."""

    sequence: int
    last: int
    """Number of the last record that is complete with it."""
    size: int


class FencedError(Exception):
    """Another writer has claimed the stream."""


class StreamWriter:
    """Appends records; ``put``, ``sync`` and the attributes are for one thread, the owner's.

    Args:
        link: the connection.
        stream, subject: destination.
        epoch: epoch of this writer.
        first: number of the first record.
        sequence: sequence number of the last message, which is this writer's claim or later.
        earlier: earlier messages.
        on_synced: called from the connection's thread when more is stored, and when appending ends.

    Attributes:
        synced: number of the last record stored at the servers.
        syncs, sync_s: number of appended messages, and the total time.
        problem: reason why nothing more is appended, permanently; "" if all is well. Servers that do not answer, or are
            full, are no problem: records wait for them.
        delay: reason why the servers have stored nothing for seconds; "" if they store records.
        sequence: sequence number of our last message.
    """

    def __init__(
        self,
        link: NatsLink,
        stream: str,
        subject: str,
        epoch: int,
        first: int,
        sequence: int,
        earlier: deque[Stored],
        on_synced: Callable[[], None],
    ) -> None:
        self.synced = first - 1
        self.syncs, self.sync_s = 0, 0.0
        self.problem = self.delay = ""
        self.sequence = sequence
        self.stored = earlier
        self._link, self._stream, self._subject, self._epoch = link, stream, subject, epoch
        self._on_synced = on_synced
        self._limit = min(_MAX_MESSAGE_BYTES, link.client.max_payload) - _HEADER_BYTES
        self._changed = threading.Condition()
        self._pending: list[Pending] = []
        self._pending_bytes = 0
        self._total_bytes = sum(each.size for each in earlier)
        self._sync_target = first - 1
        self._is_closing = self._is_flushing = False
        self._is_idle = self._is_gathering = False
        """Whether the connection's thread waits, or will wait, until it is woken: by work, or by large work only."""
        self._begun_s = -math.inf
        """Beginning of the last message, by the monotonic clock."""
        self._work_added = asyncio.Event()
        self._done = link.begin(self._run())

    @property
    def pending_bytes(self) -> int:
        """Bytes that are not yet appended."""
        return self._pending_bytes

    @property
    def total_bytes(self) -> int:
        """Bytes of all messages."""
        return self._total_bytes

    def put(self, record: Pending) -> None:
        """Add a record. It is appended when an answer waits for it, or when many are waiting."""
        with self._changed:
            self._pending.append(record)
            self._pending_bytes += record.size
            is_large = self._pending_bytes > _LAZY_BYTES
        if is_large:
            self._wake_if_idle(or_gathering=True)

    def sync(self, number: int, *, wait: bool = False) -> None:
        """Store all records up to a number."""
        with self._changed:
            is_new = number > self._sync_target
            self._sync_target = max(self._sync_target, number)
        if is_new:
            self._wake_if_idle()
        with self._changed:
            while wait and self.synced < number and not self.problem:
                self._changed.wait()

    def flush(self) -> None:
        """Append all added records."""
        self._is_flushing = bool(self._pending)
        if self._is_flushing:
            self._wake_if_idle()

    def fence(self) -> None:
        """Stop appending: another aggregator has the lease."""
        self._stop("another aggregator has the lease")

    def on_trimmed(self, gone: list[Stored]) -> None:
        """Account for removed messages; in the connection's thread."""
        self._total_bytes -= sum(each.size for each in gone)

    def close(self, within_s: float) -> None:
        """Append the remaining records, for a bounded time, and end."""
        self._is_closing = True
        self._wake()
        try:
            self._done.result(within_s)
        except concurrent.futures.CancelledError:  # an earlier call gave up
            return
        except TimeoutError:
            self._done.cancel()
            self._stop("the servers did not answer")

    def _wake(self) -> None:
        self._link.call_soon(self._work_added.set)

    def _wake_if_idle(self, *, or_gathering: bool = False) -> None:
        """Wake the connection's thread once, and not while it appends: it then finds further work itself."""
        with self._changed:
            is_waiting = self._is_idle or (or_gathering and self._is_gathering)
            if is_waiting:
                self._is_idle = self._is_gathering = False
        if is_waiting:
            self._wake()

    # ---- in the connection's thread ----

    async def _run(self) -> None:
        while not (self._is_closing and not self._pending) and not self.problem:
            with self._changed:  # work that is added from now on wakes this thread
                self._is_idle = not self._has_work
            if self._is_idle:
                await self._work_added.wait()
            self._work_added.clear()
            while self._has_work and not self.problem:
                await self._gather()
                with self._changed:
                    records, self._pending = self._pending, []
                    self._pending_bytes = 0
                    self._is_flushing = False
                try:
                    await self._append_all(records)
                except Exception as error:  # no caller may wait for a writer that has ended
                    self._stop(str(error) or repr(error))
            if self._is_closing:
                return

    async def _gather(self) -> None:
        """Wait for further records if the last message has just begun and few records are waiting."""
        self._work_added.clear()
        rest_s = self._begun_s + _GATHER_S - time.monotonic()
        with self._changed:
            is_small = self._pending_bytes <= _LAZY_BYTES
            self._is_gathering = is_small and rest_s > 0 and not self._is_closing and not self.problem
        if self._is_gathering:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(rest_s):
                    await self._work_added.wait()
            self._is_gathering = False

    @property
    def _has_work(self) -> bool:
        is_wanted = self._sync_target > self.synced or self._is_flushing or self._is_closing
        return bool(self._pending) and (is_wanted or self._pending_bytes > _LAZY_BYTES)

    async def _append_all(self, records: list[Pending]) -> None:
        for message in pack(records, self._epoch, self._limit):
            begun_s = self._begun_s = time.monotonic()
            await self._append(message, begun_s)
            if self.delay:
                self.delay = ""
                _log.warning(
                    "the stream %s accepts messages again after %.0f s", self._stream, time.monotonic() - begun_s
                )
            self.sync_s += time.monotonic() - begun_s
            self.syncs += 1
            self.stored.append(Stored(self.sequence, message.last, len(message.payload)))
            self._total_bytes += len(message.payload)
            with self._changed:
                self.synced = message.last
                self._changed.notify_all()
            self._on_synced()

    async def _append(self, message: Message, begun_s: float) -> None:
        """Append a message after our last one, for as long as it takes."""
        is_uncertain = False
        reason = "it does not answer"
        timeout_s = _ANSWER_S + _ANSWER_S_PER_BYTE * len(message.payload)
        while not self.problem:
            try:
                answer = await self._link.jetstream.publish(
                    self._subject,
                    message.payload,
                    timeout=timeout_s,
                    stream=self._stream,
                    headers={api.Header.EXPECTED_LAST_SEQUENCE: str(self.sequence)},
                )
                self.sequence = answer.seq
                return
            except NoStreamResponseError:  # no server has received it, as the stream has no leader now
                reason = "no server leads it"
            except (NatsError, TimeoutError, OSError) as error:
                reason = getattr(error, "description", None) or str(error) or reason
                is_uncertain = True
            if is_uncertain and await self._was_stored(message):
                self.sequence += 1
                return
            if time.monotonic() - begun_s > _SILENT_S:
                if not self.delay:
                    _log.warning(
                        "the stream %s accepts no messages: %s; they wait and are retried (logged once)",
                        self._stream, reason,
                    )  # fmt: skip
                self.delay = reason
            await asyncio.sleep(_PAUSE_S)

    async def _was_stored(self, message: Message) -> bool:
        """Return whether a message without an answer was stored; raise FencedError if another one was."""
        try:
            found = await self._link.quick_jetstream.get_msg(self._stream, seq=self.sequence + 1)
        except NotFoundError:
            return False
        except (NatsError, TimeoutError, OSError):
            return False
        if (found.data or b"") == message.payload:
            return True
        raise FencedError("another aggregator has taken over the stream")

    def _stop(self, reason: str) -> None:
        with self._changed:
            self.problem = self.problem or reason
            self._changed.notify_all()
        self._wake()
        self._on_synced()
