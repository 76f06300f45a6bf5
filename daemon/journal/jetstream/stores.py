"""Room in the stores of NATS servers, as far as they report it."""

from __future__ import annotations

import asyncio
import json
import urllib.error
from collections.abc import Iterable
from typing import Final, NamedTuple

from nats.js import JetStreamContext, api

from ..settings import JournalSettings
from .resources import MONITOR_ERRORS, monitor_data, store_address

_MAX_FAULT_BYTES: Final = 1 << 16


class StoreUse(NamedTuple):
    """Use of a limited store."""

    name: str
    used: int
    """Bytes."""
    limit: int
    """Bytes."""
    option: str
    """Option that sets the limit."""


class Stores(NamedTuple):
    """Use of the stores, as far as it is known."""

    limited: tuple[StoreUse, ...] = ()
    unknown: tuple[str, ...] = ()
    """Servers in ``journal.monitors`` that do not return the use of their store: address and reason."""
    unhealthy: tuple[str, ...] = ()
    """Servers in ``journal.monitors`` that report a fault, such as a full disk: address and fault."""


async def store_uses(
    jetstream: JetStreamContext, settings: JournalSettings, streams: Iterable[api.StreamInfo]
) -> Stores:
    """Return the use of each limited store: of the servers in ``journal.monitors``, of the account and of streams.

    Raises:
        NatsError, TimeoutError: the servers do not answer.
    """
    answers = await asyncio.gather(*(_server_store(monitor) for monitor in settings.monitors))
    faults = await asyncio.gather(*(asyncio.to_thread(server_fault, monitor) for monitor in settings.monitors))
    found = [each for each in answers if isinstance(each, StoreUse)]
    account = await jetstream.account_info()
    found.append(StoreUse("account", account.storage, account.limits.max_storage, "max_file of the account"))
    for stream in streams:
        limit = stream.config.max_bytes or -1
        found.append(StoreUse(f"stream {stream.config.name}", stream.state.bytes, limit, "max_bytes of the stream"))
    limited = tuple(each for each in found if each.limit > 0)
    unknown = tuple(each for each in answers if isinstance(each, str))
    return Stores(limited, unknown, tuple(fault for fault in faults if fault))


def server_fault(monitor: str) -> str:
    """Return the fault that a server reports at its monitoring address; "" if it reports none, or does not answer.

    A server with a full disk goes on to run without JetStream, and the other servers do not know why.
    """
    address = f"{monitor.rstrip('/')}/healthz"
    try:
        monitor_data(address)
    except urllib.error.HTTPError as error:
        try:
            return f"{address}: {json.loads(error.read(_MAX_FAULT_BYTES))['error']}"
        except MONITOR_ERRORS:
            return f"{address}: {error}"
    except MONITOR_ERRORS:
        return ""
    return ""


async def _server_store(monitor: str) -> StoreUse | str:
    """Return the use of a server's store, or why it is unknown."""
    address = store_address(monitor)
    try:
        data = await asyncio.to_thread(monitor_data, address)
        limit = int(data["config"].get("max_storage", 0))
        return StoreUse(f"server at {monitor}", int(data.get("storage", 0)), limit, "max_file_store")
    except MONITOR_ERRORS as error:
        return f"{address} does not return the use of the server's store: {error}"
