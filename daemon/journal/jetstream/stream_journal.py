"""A journal in a NATS JetStream stream, opened with a lease, with the snapshots in an object store."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, Final, TypeVar

from nats.errors import Error as NatsError
from nats.js import api
from nats.js.errors import NotFoundError

from ....events import ConfigError
from ..appending_journal import AppendingJournal
from ..contract import JournalError, Position, Replayed
from ..settings import JournalSettings
from .lease_holder import LeaseHolder
from .link import NatsLink
from .messages import Flag, Unpacker, claim, head_of
from .readiness import retry_until_ready
from .resources import JournalResources, prepare, snapshot_bucket
from .snapshots import Snapshots, StoredSnapshot, messages
from .stream_writer import Stored, StreamWriter

_log = logging.getLogger(__name__)
_END_S: Final = 10.0
"""Timeout for storing appended records when an aggregator ends, s."""
_TIMEOUT_S: Final = 600.0
_RETRY_S: Final = 1.0
_READ_AHEAD: Final = 8  # messages that are read ahead
_T = TypeVar("_T")


class StreamJournal(AppendingJournal[StreamWriter]):
    """A shared journal whose lease this aggregator holds.

    Args:
        link, places, holding: parts of the journal; released with it.
        name: its name.
    """

    def __init__(self, link: NatsLink, places: JournalResources, holding: LeaseHolder, name: str) -> None:
        super().__init__()
        self._link, self._resources, self._lease = link, places, holding
        self._snapshots = Snapshots(link.quick_jetstream, places.snapshots, snapshot_bucket(name))
        self._fetched: StoredSnapshot | None = None
        self._snapshot: Path | None = None
        self._stored: deque[Stored] = deque()
        self._sequence = 0
        self._first_sequence = 1
        self._skips_replay = False
        self._storing: asyncio.Task[None] | None = None
        holding.on_lost = self._on_lease_lost

    @property
    def link(self) -> NatsLink:
        """The connection to the servers."""
        return self._link

    # ---- take-over ----

    def fetch_snapshot(self, snapshot: Path) -> None:
        """Claim the stream, and fetch the last snapshot to a file. Without a snapshot the file is removed.

        Raises:
            JournalError: the servers do not answer, or another aggregator claims it, too.
        """
        self._snapshot = snapshot
        self._retry(self._claim)
        self._fetched = self._retry(lambda: self._fetch_latest(snapshot))
        # A new journal continues with the contents of the folder.
        if self._fetched is None and self._retry(self._has_records):
            snapshot.unlink(missing_ok=True)

    def _retry(self, work: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
        """Return the result of a request, repeated as necessary: a server may have failed."""
        until_s = time.monotonic() + _TIMEOUT_S
        while True:
            try:
                return self._link.call(work(), _TIMEOUT_S)
            except (NatsError, TimeoutError) as error:
                reason = str(error) or "no answer"
                if time.monotonic() > until_s or self._lease.is_lost:
                    raise JournalError(f"the stream {self._resources.stream} cannot be taken over: {reason}") from None
                _log.warning("the stream %s cannot be taken over yet: %s; retrying", self._resources.stream, reason)
                time.sleep(_RETRY_S / 4)

    async def _claim(self) -> None:
        """Make the stream refuse later messages of earlier writers."""
        kept = await self._snapshots.list_stored()
        while True:
            await self._confirm_lease()
            last = await self._last()
            known = [each.at.epoch for each in kept]
            if last is not None and (head := head_of(last.data or b"")) is not None:
                known.append(head.epoch)
            self._epoch = max(known, default=0) + 1
            state = (await self._link.quick_jetstream.stream_info(self._resources.stream)).state
            sequence = state.last_seq
            try:
                answer = await self._link.quick_jetstream.publish(
                    self._resources.subject,
                    claim(self._epoch, self._lease.owner),
                    stream=self._resources.stream,
                    headers={api.Header.EXPECTED_LAST_SEQUENCE: str(sequence)},
                )
            except (NatsError, TimeoutError) as error:  # the earlier writer appended, or our answer was lost
                _log.info("the claim of stream %s is retried: %s", self._resources.stream, error or "no answer")
                if self.is_fenced:
                    raise JournalError("another aggregator has the lease") from None
                await asyncio.sleep(_RETRY_S / 4)
            else:
                self._sequence = answer.seq
                self._first_sequence = max(state.first_seq, 1)
                return

    async def _confirm_lease(self) -> None:
        """Wait until no other aggregator can have the lease: a claim would end it."""
        while not self._lease.is_valid:
            if self.is_fenced:
                raise JournalError("another aggregator has the lease")
            await asyncio.sleep(_RETRY_S / 10)

    async def _last(self) -> api.RawStreamMsg | None:
        try:
            return await self._link.quick_jetstream.get_last_msg(self._resources.stream, self._resources.subject)
        except NotFoundError:
            return None

    async def _fetch_latest(self, path: Path) -> StoredSnapshot | None:
        """Fetch the latest snapshot; records after earlier ones may be missing."""
        kept = await self._snapshots.list_stored()
        if not kept:
            return None
        await self._snapshots.fetch(kept[-1], path)
        return kept[-1]

    async def _has_records(self) -> bool:
        async for _, found in self._messages():
            head = None if found is None else head_of(found.data or b"")
            if head is not None and not head.flags & Flag.CLAIM:
                return True
        return False

    def _messages(self) -> AsyncIterator[tuple[int, api.RawStreamMsg | None]]:
        return messages(self._link.quick_jetstream, self._resources.stream, self._first_sequence, self._sequence)

    def skip_replay(self) -> None:
        """Skip the replay."""
        self._skips_replay = True

    @property
    def start(self) -> Position:
        """The position of the fetched snapshot, or before everything."""
        return Position(0, 0) if self._fetched is None else self._fetched.at

    def replay(self, after: Position) -> Iterator[Replayed]:
        """Yield the records after a position up to the claim, in order.

        Raises:
            JournalError: the servers do not answer, or the previous writer removes records covered by a snapshot of its
                own, which must be fetched first.
        """
        unpacking = Unpacker(after)
        for sequence, found in self._read_ahead(self._messages()):
            if found is None:
                self._check_latest()
                continue
            payload = found.data or b""
            for each in unpacking.unpack(payload, f"{self._resources.stream}, message {sequence}"):
                if not self._skips_replay:
                    yield each
            self._stored.append(Stored(sequence, unpacking.last, len(payload)))
        self._next = unpacking.last + 1

    def _check_latest(self) -> None:
        kept = self._retry(self._snapshots.list_stored)
        if kept and (self._fetched is None or kept[-1].at > self._fetched.at):
            raise JournalError(
                f"the stream {self._resources.stream} was shortened by another aggregator; restart this one"
            )

    def _read_ahead(self, reading: AsyncIterator[_T]) -> Iterator[_T]:
        """Yield items read by the connection's loop, some of them ahead."""

        async def some() -> list[_T]:
            found: list[_T] = []
            async for each in reading:
                found.append(each)
                if len(found) == _READ_AHEAD:
                    break
            return found

        coming = self._link.begin(some())
        try:
            while found := coming.result(_TIMEOUT_S):
                coming = self._link.begin(some())
                yield from found
        except (NatsError, TimeoutError) as error:
            raise JournalError(f"the stream {self._resources.stream} cannot be read: {error or 'no answer'}") from None

    # ---- the writer ----

    def begin(self, after: Position, on_synced: Callable[[], None]) -> Position:
        """Start appending after the replayed records and a position known from elsewhere."""
        self._next = max(self._next, after.record + 1)
        where = self._link, self._resources.stream, self._resources.subject
        self._writer = StreamWriter(*where, self._epoch, self._next, self._sequence, self._stored, on_synced)
        self._lease.check()
        return Position(self._epoch, self._next - 1)

    @property
    def is_fenced(self) -> bool:
        """Whether another aggregator has taken over, or may do so."""
        return self._lease.is_lost or (self._writer is not None and bool(self._writer.problem))

    def restart(self, on_synced: Callable[[], None]) -> Position:
        """Raise JournalError: if nothing can be appended, another aggregator must take over."""
        raise JournalError(self.problem)

    def accept(self) -> None:
        """Do nothing: this journal never restarts."""

    def close(self) -> None:
        """Append the remaining records, as far as the servers answer."""
        if self._writer is not None:
            self._writer.close(_END_S)

    # ---- snapshots ----

    def trim(self, until: Position) -> None:
        """Store the snapshot file, then remove records up to its position; neither is waited for."""
        if self._snapshot is None:
            return
        descriptor = os.open(self._snapshot, os.O_RDONLY | os.O_CLOEXEC)

        def begin() -> None:
            if self._storing is None or self._storing.done():
                self._storing = asyncio.ensure_future(self._store(until, descriptor))
            else:  # the previous one is still being stored; there will be another
                os.close(descriptor)

        self._open_writer.sync(until.record)
        self._link.call_soon(begin)

    def has_stored(self) -> bool:
        """Return whether the last snapshot is stored, or failed."""
        return self._storing is not None and self._storing.done()

    def remove(self) -> None:
        """Store the snapshot file as the complete state. If the servers do not answer, the stream has it."""
        if self._snapshot is None or self._writer is None or self._open_writer.problem or self.synced != self.last:
            return
        descriptor = os.open(self._snapshot, os.O_RDONLY | os.O_CLOEXEC)
        with contextlib.suppress(TimeoutError):
            self._link.call(self._store(self.last, descriptor), _END_S)

    async def _store(self, until: Position, descriptor: int) -> None:
        try:
            while (
                self._open_writer.synced < until.record
            ):  # records that were not stored must not be in a snapshot either
                if self.is_fenced:
                    os.close(descriptor)
                    return
                await asyncio.sleep(_RETRY_S / 10)
            await self._snapshots.put(until, descriptor)
            gone = []
            while len(self._stored) > 1 and self._stored[0].last <= until.record:
                gone.append(self._stored.popleft())
            if gone:
                await self._link.jetstream.purge_stream(self._resources.stream, seq=gone[-1].sequence + 1)
                self._open_writer.on_trimmed(gone)
        except (NatsError, TimeoutError, OSError) as error:
            _log.error("the snapshot could not be stored: %s; the next one is tried as usual", error or "no answer")

    def release(self) -> None:
        """Release the lease, and close the connection."""
        self.close()
        self._lease.release()
        self._link.close()

    def _on_lease_lost(self) -> None:
        if self._writer is not None:
            self._writer.fence()


async def wait_for_lease(settings: JournalSettings, on_holder: Callable[[str], None]) -> StreamJournal:
    """Return the journal once this aggregator holds the lease; may be cancelled safely before.

    Args:
        settings: servers and journal name.
        on_holder: callback with the current holder while waiting.

    Raises:
        ConfigError: the servers cannot be used, or are less durable than configured.
    """
    link = await asyncio.to_thread(NatsLink, settings)
    try:
        places = await asyncio.wrap_future(link.begin(retry_until_ready(lambda: prepare(link, settings))))
        holding = LeaseHolder(link, places.leases, settings.lease_s)
        await asyncio.wrap_future(link.begin(holding.acquire(on_holder)))
    except BaseException as error:
        await asyncio.to_thread(link.close)
        if isinstance(error, TimeoutError):
            raise ConfigError("the NATS servers do not answer") from None
        raise
    return StreamJournal(link, places, holding, settings.name)
