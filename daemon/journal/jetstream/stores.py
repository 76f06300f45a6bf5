"""Room in the stores of NATS servers, as far as they report it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import NamedTuple

from nats.js import JetStreamContext, api

from ....events import ConfigError
from ..settings import JournalSettings
from .resources import monitor_data


class StoreUse(NamedTuple):
    """Use of a limited store."""

    name: str
    used: int
    """Bytes."""
    limit: int
    """Bytes."""
    option: str
    """Option that sets the limit."""


async def store_uses(
    jetstream: JetStreamContext, settings: JournalSettings, streams: Iterable[api.StreamInfo]
) -> tuple[StoreUse, ...]:
    """Return the use of each limited store: of the servers in ``journal.monitors``, of the account and of streams.

    Raises:
        ConfigError: a monitoring address does not answer.
        NatsError, TimeoutError: the servers do not answer.
    """
    found = []
    for monitor in settings.monitors:
        address = f"{monitor.rstrip('/')}/jsz?config=true"
        try:
            data = await asyncio.to_thread(monitor_data, address)
            limit = int(data["config"].get("max_storage", 0))
            found.append(StoreUse(f"server at {monitor}", int(data.get("storage", 0)), limit, "max_file_store"))
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise ConfigError(f"{address} does not return the use of the server's store: {error}") from None
    account = await jetstream.account_info()
    found.append(StoreUse("account", account.storage, account.limits.max_storage, "max_file of the account"))
    for each in streams:
        limit = each.config.max_bytes or -1
        found.append(StoreUse(f"stream {each.config.name}", each.state.bytes, limit, "max_bytes of the stream"))
    return tuple(each for each in found if each.limit > 0)
