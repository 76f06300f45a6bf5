"""A journal's lease, held in the connection's loop. The loop waits for it, renews it, and reports its loss."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import secrets
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from nats.errors import Error as NatsError
from nats.js.errors import APIError, KeyNotFoundError, KeyWrongLastSequenceError
from nats.js.kv import KeyValue

from .lease import NO_ENTRY, Action, Entry, Lease
from .link import NatsLink

_log = logging.getLogger(__name__)
KEY: Final = "owner"
"""Key of the entry."""
_RELEASE_TIMEOUT_S: Final = 2.0
_RELEASE_ATTEMPTS: Final = 3
_RELEASE_PAUSE_S: Final = 0.1


def owner_prefix(pid: int) -> str:
    """Return the beginning of the owner's name in the entry of a process on this machine.

    Containers may share the name of the host, and each counts its processes from 1: their pid namespaces differ.
    """
    try:
        namespace = Path("/proc/self/ns/pid").stat().st_ino
    except OSError:
        namespace = 0
    return f"{socket.gethostname()}:{pid}:{namespace:x}-"


async def release_lease_of(leases: KeyValue, pid: int) -> bool:
    """Release the lease of a process of this machine that has ended, so that its successor need not wait.

    Returns:
        Whether the process had the lease.

    Raises:
        NatsError, TimeoutError: the servers do not answer.
    """
    for _ in range(_RELEASE_ATTEMPTS):
        try:
            entry = await leases.get(KEY)
        except KeyNotFoundError:
            return False
        if not (entry.value or b"").startswith(owner_prefix(pid).encode()):
            return False
        with contextlib.suppress(KeyWrongLastSequenceError):  # its last renewal was under way, or another one takes it
            await leases.update(KEY, b"", last=entry.revision)
            return True
        await asyncio.sleep(_RELEASE_PAUSE_S)
    return False


class LeaseHolder:
    """An aggregator's side of its journal's lease.

    Args:
        link: the connection.
        leases: bucket of the entry.
        lease_s: as for ``Lease``.

    Attributes:
        owner: unique name of this aggregator in the entry.
        on_lost: called from the connection's thread when another aggregator has taken the lease.
    """

    def __init__(self, link: NatsLink, leases: KeyValue, lease_s: float) -> None:
        self.owner = f"{owner_prefix(os.getpid())}{secrets.token_hex(8)}"
        self.on_lost: Callable[[], None] = lambda: None
        self._link, self._leases = link, leases
        self._lease = Lease(self.owner, lease_s)
        self._renewing: asyncio.Task[None] | None = None

    @property
    def is_lost(self) -> bool:
        """Whether another aggregator has the lease now."""
        return self._lease.is_lost

    @property
    def is_valid(self) -> bool:
        """Whether no other aggregator can have the lease now."""
        return self._lease.is_valid(time.monotonic())

    @property
    def holder(self) -> str:
        """Current holder, where known: host and process."""
        return self._lease.entry.owner.rpartition(":")[0]

    async def acquire(self, on_holder: Callable[[str], None] = lambda _: None) -> None:
        """Wait for the lease, then keep renewing it; ``on_holder`` is called with the current holder."""
        known = ""
        while not self._lease.is_held:
            await self._step()
            if not self._lease.is_held and self.holder != known:
                known = self.holder
                if known:
                    on_holder(known)
        self._renewing = asyncio.create_task(self._renew())

    def check(self) -> None:
        """Call ``on_lost`` if the lease was lost before it was set."""
        if self.is_lost:
            self.on_lost()

    def release(self) -> None:
        """Release the lease, so that another aggregator need not wait."""
        with contextlib.suppress(TimeoutError, NatsError, RuntimeError):
            self._link.call(self._delete_entry(), _RELEASE_TIMEOUT_S)

    async def _delete_entry(self) -> None:
        if self._renewing is not None:
            self._renewing.cancel()
        if self._lease.is_held:
            await self._leases.update(KEY, b"", last=self._lease.entry.revision)

    async def _renew(self) -> None:
        while not self._lease.is_lost:
            await self._step()
        _log.error(
            "the lease was taken over by %s: this aggregator's state is no longer valid",
            self.holder or "another aggregator",
        )
        self.on_lost()

    async def _step(self) -> None:
        await asyncio.sleep(max(0.0, self._lease.next_s - time.monotonic()))
        lease = self._lease
        match lease.due(time.monotonic()):
            case Action.READ:
                try:
                    entry = await self._leases.get(KEY)
                    found = Entry(entry.revision or 0, (entry.value or b"").decode(errors="replace"))
                except KeyNotFoundError:
                    found = NO_ENTRY
                except (NatsError, TimeoutError):
                    lease.on_unanswered(time.monotonic())
                    return
                lease.on_read(found, time.monotonic())
            case Action.WRITE:
                requested_s = time.monotonic()
                try:
                    revision = await self._leases.update(KEY, self.owner.encode(), last=lease.entry.revision)
                except KeyWrongLastSequenceError:
                    lease.on_refused(time.monotonic())
                except (APIError, NatsError, TimeoutError):
                    lease.on_unanswered(time.monotonic())
                else:
                    lease.on_written(revision, requested_s, time.monotonic())
            case None:
                pass
