"""An aggregator's way to a shared journal: connects, waits until it is the one that has the jobs, and opens it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from ....events import ConfigError
from ..settings import JournalSettings
from .holding import Holding
from .link import NatsLink
from .places import prepare
from .readiness import when_ready
from .stream_journal import StreamJournal


async def stand_by(settings: JournalSettings, told: Callable[[str], None]) -> StreamJournal:
    """Returns the journal once this aggregator holds the lease; to be cancelled without harm until then.

    Args:
        settings: name the servers and the journal.
        told: is called with the holder while another one has it.

    Raises:
        ConfigError: the servers cannot be used, or keep less safely than asked for.
    """
    link = await asyncio.to_thread(NatsLink, settings)
    try:
        places = await asyncio.wrap_future(link.begin(when_ready(lambda: prepare(link, settings))))
        holding = Holding(link, places.leases, settings.lease_s)
        await asyncio.wrap_future(link.begin(holding.take(told)))
    except BaseException as error:
        await asyncio.to_thread(link.close)
        if isinstance(error, TimeoutError):
            raise ConfigError("the NATS servers do not answer") from None
        raise
    return StreamJournal(link, places, holding, settings.name)
