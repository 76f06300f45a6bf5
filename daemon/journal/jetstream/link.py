"""The connection to NATS, in a thread with its own event loop. Usable from any thread."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import logging
import ssl
import threading
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar

from nats.aio.client import Client
from nats.errors import Error as NatsError
from nats.js import JetStreamContext

from ....events import ConfigError
from ...background_tasks import cancel_all, complete_within
from ..settings import JournalSettings

_log = logging.getLogger(__name__)
_T = TypeVar("_T")
_OLDEST: Final = (2, 10)
"""Oldest supported version of the servers: earlier ones have no setting ``sync_interval``."""
_CONNECT_S: Final = 10.0
_CONNECT_ONE_S: Final = 2.0
_PING_S: Final = 2.0
_PINGS: Final = 2
"""Number of unanswered pings after which a server counts as gone."""
_RECONNECT_S: Final = 0.2
_REQUEST_S: Final = 5.0
"""Timeout of a JetStream answer, s; a megabyte may be written before it."""
_QUICK_REQUEST_S: Final = 1.5
"""Timeout of an answer to a small write, s. A server that has just failed does not answer, and the request is
repeated."""


class NatsLink:
    """A connection that reconnects whenever it breaks.

    Args:
        settings: servers and credentials.

    Raises:
        ConfigError: no server answers, or none accepts us.
    """

    def __init__(self, settings: JournalSettings) -> None:
        self._settings = settings
        self._client: Client | None = None
        self._logged_problem = ""
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="nats", daemon=True)
        self._thread.start()
        try:
            self.call(self._connect())
        except BaseException:
            self.close()
            raise

    @property
    def client(self) -> Client:
        """The NATS client."""
        if self._client is None:
            raise ConfigError("there is no connection to NATS")
        return self._client

    @property
    def jetstream(self) -> JetStreamContext:
        """The JetStream context."""
        return self.client.jetstream(timeout=_REQUEST_S)

    @property
    def quick_jetstream(self) -> JetStreamContext:
        """A JetStream context with a short timeout, for requests that are repeated."""
        return self.client.jetstream(timeout=_QUICK_REQUEST_S)

    def begin(self, work: Coroutine[Any, Any, _T]) -> concurrent.futures.Future[_T]:
        """Run a coroutine in the thread's loop. Raises RuntimeError if the connection is closed."""
        try:
            return asyncio.run_coroutine_threadsafe(work, self.loop)
        except RuntimeError:
            work.close()  # otherwise Python prints that it was never awaited
            raise

    def call(self, work: Coroutine[Any, Any, _T], within_s: float | None = None) -> _T:
        """Return the result of a coroutine. Raise TimeoutError if it takes too long, or its exception."""
        found = self.begin(work)
        try:
            return found.result(within_s)
        except concurrent.futures.TimeoutError:
            found.cancel()
            raise TimeoutError from None

    def call_soon(self, work: Callable[[], object]) -> None:
        """Call a function in the thread's loop."""
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self.loop.call_soon_threadsafe(work)

    def close(self) -> None:
        """Close the connection and end the thread."""
        if self._thread.is_alive():
            with contextlib.suppress(Exception):
                if self._client is not None:
                    self.call(self._client.close(), _REQUEST_S)
            self._end()

    def _end(self) -> None:
        self.call_soon(self.loop.stop)
        self._thread.join()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        try:
            self.loop.run_forever()
            left = asyncio.all_tasks(self.loop)
            self.loop.run_until_complete(cancel_all(left))
            self.loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        finally:
            self.loop.close()

    async def _connect(self) -> None:
        settings = self._settings
        options: dict[str, Any] = {
            "reconnect_time_wait": _RECONNECT_S,
            "connect_timeout": _CONNECT_ONE_S,
            "ping_interval": _PING_S,
        }
        if settings.credentials is not None:
            options["user_credentials"] = str(settings.credentials)
        if settings.token is not None:
            try:
                options["token"] = settings.token.read_text(encoding="utf-8").strip()
            except (OSError, UnicodeDecodeError) as error:
                raise ConfigError(f"journal.token = {settings.token}: {error}") from None
        if any(server.startswith("tls:") for server in settings.servers):
            options["tls"] = tls_context(settings)
        client = _EncryptedClient()
        try:
            await complete_within(
                client.connect(
                    list(settings.servers),
                    name="iotide",
                    allow_reconnect=True,
                    max_reconnect_attempts=-1,
                    max_outstanding_pings=_PINGS,
                    error_cb=self._failed,
                    disconnected_cb=self._on_disconnected,
                    reconnected_cb=self._on_reconnected,
                    **options,
                ),
                _CONNECT_S,
            )
        except Exception as error:  # any exception of the library: there is no connection
            reason = self._logged_problem or str(error) or type(error).__name__
            raise ConfigError(f"no NATS server of {', '.join(settings.servers)} can be used: {reason}") from None
        self._client = client
        check_version(client)

    async def _failed(self, error: Exception) -> None:
        self._logged_problem = str(error) or type(error).__name__
        _log.debug("NATS: %s", self._logged_problem)

    async def _on_disconnected(self) -> None:
        if self._client is not None and not self._client.is_closed:
            _log.warning("the connection to NATS was lost; reconnecting, and messages wait meanwhile")

    async def _on_reconnected(self) -> None:
        url = self.client.connected_url
        _log.warning("the connection to NATS is restored: %s", "" if url is None else url.netloc)


def check_version(client: Client) -> str:
    """Return the version of the connected server. Raises ConfigError if it is too old."""
    version = client.connected_server_version
    text = f"{version.major}.{version.minor}.{version.patch}"
    if (version.major, version.minor) < _OLDEST:
        url = client.connected_url
        raise ConfigError(
            f"the NATS server {'' if url is None else url.netloc} is of version {text}; "
            f"update it to {'.'.join(map(str, _OLDEST))} or later"
        )
    return text


class _EncryptedClient(Client):
    """Client that refuses a ``tls://`` server that does not encrypt. The library would send plain text to it."""

    async def _process_info(self, info: dict[str, Any], initial_connection: bool = False) -> None:
        server = self._current_server
        if server is not None and server.uri.scheme == "tls" and not info.get("tls_required"):
            raise NatsError(
                f"{server.uri.netloc} does not use TLS: enable it at the server, or use nats:// on loopback"
            )
        await super()._process_info(info, initial_connection)


def tls_context(settings: JournalSettings) -> ssl.SSLContext:
    """Return the TLS context for the NATS servers. Raises ConfigError if a file cannot be used."""
    try:
        authority = None if settings.authority is None else str(settings.authority)
        context = ssl.create_default_context(cafile=authority)
    except OSError as error:
        raise ConfigError(f"journal.authority = {settings.authority}: {error.strerror or error}") from None
    if settings.certificate is not None and settings.certificate_key is not None:
        try:
            context.load_cert_chain(settings.certificate, settings.certificate_key, password="")
        except OSError as error:
            names = (
                f"journal.certificate = {settings.certificate}, journal.certificate_key = {settings.certificate_key}"
            )
            raise ConfigError(f"{names}: {error.strerror or error}") from None
    return context
