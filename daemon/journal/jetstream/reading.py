"""Messages of a stream, one by one. They come from any replica, in the end from the leader."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Final

from nats.errors import Error as NatsError
from nats.js import JetStreamContext, api
from nats.js.errors import NotFoundError

_ATTEMPTS: Final = 40
_PAUSE_S: Final = 0.25
_MAX_CONCURRENT: Final = 32
"""Number of messages requested concurrently."""


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
