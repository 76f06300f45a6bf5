"""Snapshots of the jobs in an object store, one per position. The latest one is used.

A stalled aggregator may store one late. It has an earlier position, and its data was in the stream, so it does no harm.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import os
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final, NamedTuple

from nats.errors import Error as NatsError
from nats.js import JetStreamContext, api
from nats.js.errors import NotFoundError
from nats.js.object_store import ObjectStore

from ..contract import JournalError, Position

_ATTEMPTS: Final = 40
_PAUSE_S: Final = 0.25
_MAX_CONCURRENT: Final = 32
"""Number of messages requested concurrently."""
_NAME: Final = re.compile(r"(\d+)-(\d+)")
_CHUNK: Final = 1 << 19
_TIMEOUT_S: Final = 600.0
_DIGEST: Final = "SHA-256="


async def message(
    jetstream: JetStreamContext, stream: str, sequence: int, subject: str | None = None
) -> api.RawStreamMsg | None:
    """Return a message, or with a subject the first one from there on. Return None if there is none.

    Raises:
        NatsError, TimeoutError: no server answered for 10 s.
    """
    failed: Exception | None = None
    for attempt in range(_ATTEMPTS):
        is_direct = attempt < 1  # a replica that lags behind lacks later messages
        try:
            return await jetstream.get_msg(
                stream, seq=sequence, subject=subject, direct=is_direct, next=subject is not None
            )
        except NotFoundError:
            if not is_direct:
                return None
        except (NatsError, TimeoutError) as error:
            failed = error
            await asyncio.sleep(_PAUSE_S)
    raise failed or TimeoutError(f"{stream}: no answer")


async def messages(
    jetstream: JetStreamContext, stream: str, first: int, last: int
) -> AsyncIterator[tuple[int, api.RawStreamMsg | None]]:
    """Yield the messages of a range of sequence numbers, in order. Missing ones are None."""
    for at in range(first, last + 1, _MAX_CONCURRENT):
        numbers = range(at, min(at + _MAX_CONCURRENT, last + 1))
        found = await asyncio.gather(*(message(jetstream, stream, number) for number in numbers))
        for number, each in zip(numbers, found, strict=True):
            yield number, each


class StoredSnapshot(NamedTuple):
    """A stored snapshot."""

    at: Position
    info: api.ObjectInfo


class Snapshots:
    """The snapshots of one journal.

    Args:
        jetstream: JetStream context of the store.
        store: object store without other objects.
        bucket: its name.
    """

    def __init__(self, jetstream: JetStreamContext, store: ObjectStore, bucket: str) -> None:
        self._jetstream, self._store, self._bucket = jetstream, store, bucket

    async def put(self, at: Position, descriptor: int) -> None:
        """Store a file as the snapshot of a position, and remove those of earlier ones. Close the file."""
        name = f"{at.epoch}-{at.record}"
        options = api.ObjectMetaOptions(max_chunk_size=_CHUNK)
        with os.fdopen(descriptor, "rb") as file:
            async with asyncio.timeout(_TIMEOUT_S):
                await self._store.put(name, file, meta=api.ObjectMeta(name=name, options=options))
        for each in await self.list_stored():
            if each.at < at:
                await self._remove(each.info)

    async def list_stored(self) -> list[StoredSnapshot]:
        """Return the stored snapshots, ordered by position.

        The library would use a consumer, which hangs if it is created at a server that has just failed.
        """
        about = await self._jetstream.stream_info(self._stream, subjects_filter=f"$O.{self._bucket}.M.>")
        kept = []
        for subject in about.state.subjects or {}:
            try:
                message = await self._jetstream.get_last_msg(self._stream, subject)
            except NotFoundError:  # it was removed in the meantime
                continue
            info = api.ObjectInfo.from_response(json.loads(message.data or b""))
            name = _NAME.fullmatch(info.name)
            if name is not None and not info.deleted:
                kept.append(StoredSnapshot(Position(int(name[1]), int(name[2])), info))
        return sorted(kept, key=lambda each: each.at)

    async def fetch(self, kept: StoredSnapshot, path: Path) -> None:
        """Write a snapshot to a file, completely or not at all.

        Raises:
            JournalError: it cannot be read.
        """
        partial = path.with_suffix(".fetched")
        try:
            await self._write(kept.info, partial)
            partial.replace(path)
        except (NatsError, TimeoutError, OSError) as error:
            partial.unlink(missing_ok=True)
            raise JournalError(f"the snapshot {kept.info.name} cannot be read: {error or 'no answer'}") from None

    async def _write(self, info: api.ObjectInfo, path: Path) -> None:
        digest, next_sequence = hashlib.sha256(), 1
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            for number in range(info.chunks or 0):
                found = await message(self._jetstream, self._stream, next_sequence, self._chunk_subject(info))
                if found is None or found.seq is None:
                    raise JournalError(f"the snapshot {info.name} lacks its part {number + 1} of {info.chunks}")
                data = found.data or b""
                digest.update(data)
                file.write(data)
                next_sequence = found.seq + 1
            file.flush()
            os.fsync(file.fileno())
        if info.digest != _DIGEST + base64.urlsafe_b64encode(digest.digest()).decode():
            raise JournalError(f"the snapshot {info.name} is damaged: its checksum differs")

    async def _remove(self, info: api.ObjectInfo) -> None:
        """Remove an object with its name; the library would keep a deletion mark forever."""
        name = base64.urlsafe_b64encode(info.name.encode()).decode()
        await self._jetstream.purge_stream(self._stream, subject=f"$O.{self._bucket}.M.{name}")
        await self._jetstream.purge_stream(self._stream, subject=self._chunk_subject(info))

    @property
    def _stream(self) -> str:
        return f"OBJ_{self._bucket}"

    def _chunk_subject(self, info: api.ObjectInfo) -> str:
        return f"$O.{self._bucket}.C.{info.nuid}"
