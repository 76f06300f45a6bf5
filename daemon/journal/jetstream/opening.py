"""Opening of a shared journal: connect, wait for the lease, and open it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from ....events import ConfigError
from ..settings import JournalSettings
from .lease_holder import LeaseHolder
from .link import NatsLink
from .readiness import retry_until_ready
from .resources import prepare
from .stream_journal import StreamJournal


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
