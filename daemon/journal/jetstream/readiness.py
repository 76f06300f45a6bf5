"""Retries of requests that NATS servers refuse. They elect a leader, or do not answer yet."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar

from nats.errors import Error as NatsError
from nats.js.errors import APIError, NotFoundError, ServiceUnavailableError

from ....events import ConfigError

_log = logging.getLogger(__name__)
_T = TypeVar("_T")
_FIRST_PAUSE_S: Final = 0.25
_MAX_PAUSE_S: Final = 4.0
_REPEAT_S: Final = 30.0
"""Time between two log lines on servers that stay unready, s."""
_NO_PEERS: Final = 10005
"""Error code of the server: fewer servers are online than a stream has replicas."""
_SWITCHED_OFF: Final = (10039, 10076)
"""Error codes: JetStream is not enabled for the account, or on the server."""


class ServersNotReadyError(ConfigError):
    """NATS servers refuse a request now and may accept it later."""


def is_transient(error: Exception) -> bool:
    """Return whether a request that failed with this error may succeed later. It must not need a change of settings."""
    if isinstance(error, NotFoundError):  # the server that answered has not yet heard of what was just created
        return True
    if isinstance(error, APIError):
        unavailable = isinstance(error, ServiceUnavailableError) and error.err_code not in _SWITCHED_OFF
        return unavailable or error.err_code == _NO_PEERS
    return isinstance(error, (NatsError, TimeoutError))


def error_text(error: Exception) -> str:
    """Return the text of an error of the client library. It is for a message to the user."""
    return getattr(error, "description", None) or str(error) or "no answer"


def error_for(what: str, error: Exception) -> ConfigError:
    """Return the error to raise where something at the servers cannot be used.

    It cannot be used now, or with these settings.
    """
    kind = ServersNotReadyError if is_transient(error) else ConfigError
    return kind(f"{what} cannot be used: {error_text(error)}")


async def retry_until_ready(work: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
    """Repeat work until the servers are ready for it; the refusals are logged.

    Args:
        work: makes a coroutine that raises ServersNotReadyError while they are not.
    """
    pause_s, logged_s = _FIRST_PAUSE_S, 0.0
    while True:
        try:
            return await work()
        except ServersNotReadyError as error:
            now_s = time.monotonic()
            if not logged_s or now_s - logged_s > _REPEAT_S:
                logged_s = now_s
                _log.warning("the NATS servers are not ready: %s; retrying", error)
        await asyncio.sleep(pause_s)
        pause_s = min(2 * pause_s, _MAX_PAUSE_S)
