"""HTTP connections: their maximum number, and timeouts of clients."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
import ssl
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final, Literal
from urllib.parse import quote

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from ....events.network import descriptors
from ....events.network.endpoints import unix_path
from ....events.network.peers import name_of_peer, peer_of, peer_user
from ...access.settings import AccessSettings
from .authentication import UID
from .client_error_log import ConditionLog, QuietLogger
from .http_settings import HttpSettings
from .listening_sockets import Certificate, bind_tcp, bind_unix
from .request_bounds import RequestBounds

_START_S: Final = 10.0
_BACKLOG: Final = 128
_ACCEPTS_PER_TURN: Final = 64
_RETRY_S: Final = 1.0
_MIN_CONNECTIONS: Final = 4
_EXHAUSTED: Final = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
_DISCARDED_BYTES: Final = 65_536
_LOGGER: Final = QuietLogger()
_REFUSAL: Final = (
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 5\r\nconnection: close\r\n"
    b"content-type: application/json\r\ncontent-length: 68\r\n\r\n"
    b'{"error": "too many connections", "expected": "another try in 5 s"}\n'
)
_TIMEOUT_RESPONSE: Final = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"

_Waiting = Literal["header", "body", "idle", "reading", "closing", ""]


class TimedProtocol(H11Protocol):
    """uvicorn's protocol with a deadline for each action of a client. After a deadline the connection is closed."""

    def __init__(self, *arguments: Any, limits: HttpSettings, server: _Server, peer: str, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.logger = _LOGGER
        self._limits = limits
        self._owner = server
        self._peer = peer
        self._timer: asyncio.TimerHandle | None = None
        self._waits_for: _Waiting = ""
        self._is_stalled = False
        self.began = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start waiting for a request."""
        super().connection_made(transport)
        self.began = True
        if (uid := peer_user(transport.get_extra_info("socket"))) is not None:
            self.app_state = {UID: uid}  # the application finds it in a request's state
        self._check_timeout()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        super().connection_lost(exc)
        self._owner.connection_ended(self._peer)
        self._wait_for("")

    def data_received(self, data: bytes) -> None:
        """Process a part of a request."""
        super().data_received(data)
        self._check_timeout()

    def send_400_response(self, msg: str) -> None:
        """Refuse a malformed request, and count it."""
        peer = f"{self.client[0]}:{self.client[1]}" if self.client else "a Unix socket"
        self._owner.malformed(peer, msg)
        cycle = self.cycle
        if cycle is not None and not cycle.response_complete:  # its body is malformed
            cycle.disconnected = True  # otherwise the application would answer a second time
            cycle.message_event.set()
            if cycle.response_started:
                self.transport.close()
                return
        super().send_400_response(msg)

    def _unsupported_upgrade_warning(self) -> None:
        """Ignore the wish for another protocol: the request is answered as HTTP/1.1."""

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._unset_keepalive_if_required()  # replaced by our own deadline
        self._check_timeout()

    def pause_writing(self) -> None:
        """Wait for the client to read."""
        super().pause_writing()
        self._is_stalled = True
        self._check_timeout()

    def resume_writing(self) -> None:
        """End the wait: the client has read."""
        super().resume_writing()
        self._is_stalled = False
        self._check_timeout()

    def _check_timeout(self) -> None:
        if self.transport.is_closing():
            self._wait_for("closing")
        elif self._is_stalled:
            self._wait_for("reading")
        elif self.conn.their_state is h11.SEND_BODY and self.cycle is not None and self.cycle.response_complete:
            self._wait_for("body")  # the rest of a body that was not waited for
        elif self.cycle is None or self.cycle.response_complete:
            has_begun = self.cycle is None or bool(self.conn.trailing_data[0])
            self._wait_for("header" if has_begun else "idle")
        else:
            self._wait_for("body" if self.cycle.more_body else "")

    def _wait_for(self, what: _Waiting) -> None:
        """Start waiting; if the reason is unchanged, the elapsed time counts."""
        if what == self._waits_for:
            return
        self._waits_for = what
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        limits = self._limits
        seconds = {"header": limits.header_timeout_s, "idle": limits.idle_timeout_s}.get(what, limits.body_timeout_s)
        if what:
            self._timer = self.loop.call_later(seconds, self._time_out)

    def _time_out(self) -> None:
        self._timer = None
        self._owner.counters["http_timeouts"] += self._waits_for != "idle"
        if self._waits_for in ("closing", "reading"):
            self.transport.abort()
            return
        if self._waits_for != "idle" and not (self.cycle and self.cycle.response_started):
            self.transport.write(_TIMEOUT_RESPONSE)
        self.transport.close()
        self._wait_for("closing")


class _Server(uvicorn.Server):
    """uvicorn without its signal handling. It has a start notification, and a limited number of connections.

    asyncio's own server accepts all connections, and without a free descriptor it retries thousands of times.
    """

    def __init__(self, config: uvicorn.Config, limits: HttpSettings, counters: Counter[str]) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()
        self.counters = counters
        self.open = 0
        self._connections: Counter[str] = Counter()
        self.tls: ssl.SSLContext | None = None
        self._limits = limits
        self._listener: socket.socket | None = None
        self._retry: asyncio.TimerHandle | None = None
        self._accepting: set[asyncio.Task[Any]] = set()
        self._malformed = ConditionLog(
            "HTTP: a malformed request from %s is refused: %s; iotide_http_malformed_total counts further ones",
            "HTTP: %d malformed requests were refused within %.0f s",
        )
        self._descriptor_log = ConditionLog(
            "HTTP: no connection can be accepted: %s; raise ulimit -n (LimitNOFILE= of the unit) (tried each second)",
            "HTTP: connections are accepted again, after %d attempts without within %.0f s",
        )

    def connection_ended(self, peer: str) -> None:
        """Note that a connection of a peer has ended."""
        self.open -= 1
        self._connections[peer] -= 1
        if not self._connections[peer]:
            del self._connections[peer]

    def malformed(self, peer: str, reason: str) -> None:
        """Count a malformed request."""
        self.counters["http_malformed"] += 1
        self._malformed.occurred(peer, reason)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture no signals."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start and signal it."""
        await self.lifespan.startup()
        (self._listener,) = sockets or []
        self._listener.setblocking(False)
        self._listener.listen(_BACKLOG)
        self.servers = []
        self._listen()
        self.started = True
        self.ready.set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept no further connections, and close the open ones."""
        if self._retry is not None:
            self._retry.cancel()
        self._malformed.close()
        self._descriptor_log.close()
        if self._listener is not None:
            asyncio.get_running_loop().remove_reader(self._listener)
        await super().shutdown(sockets)

    @property
    def max_connections(self) -> int:
        """Maximum number of connections: others must have twice as many descriptors left."""
        return min(self._limits.connections, max((self.open + descriptors.free()) // 3, _MIN_CONNECTIONS))

    def _listen(self) -> None:
        self._retry = None
        if self._listener is not None:
            asyncio.get_running_loop().add_reader(self._listener, self._accept, self._listener)

    def _accept(self, listener: socket.socket) -> None:
        most = self.max_connections
        for _ in range(_ACCEPTS_PER_TURN):
            try:
                accepted, _ = listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                if error.errno not in _EXHAUSTED:
                    raise
                self._descriptor_log.occurred(error.strerror)
                loop = asyncio.get_running_loop()
                loop.remove_reader(listener)
                self._retry = loop.call_later(_RETRY_S, self._listen)
                return
            accepted.setblocking(False)
            peer = peer_of(accepted)
            is_full = self.open >= most
            if is_full or self._connections[peer] >= self._limits.connections_per_peer:
                self.counters["http_refused" if is_full else "http_peer_refused"] += 1
                _refuse(accepted)
                continue
            self.open += 1
            self._connections[peer] += 1
            task = asyncio.get_running_loop().create_task(self._begin(accepted, peer))
            self._accepting.add(task)
            task.add_done_callback(self._accepting.discard)

    async def _begin(self, accepted: socket.socket, peer: str) -> None:
        made: list[TimedProtocol] = []

        def make() -> TimedProtocol:
            made.append(TimedProtocol(self.config, self.server_state, {}, limits=self._limits, server=self, peer=peer))
            return made[-1]

        try:
            await asyncio.get_running_loop().connect_accepted_socket(
                make,
                accepted,
                ssl=self.tls,
                ssl_handshake_timeout=self._limits.header_timeout_s if self.tls is not None else None,
            )
        except OSError as error:  # also of TLS
            self.counters["http_timeouts"] += isinstance(error, ConnectionAbortedError)  # it took too long
            if isinstance(error, ssl.SSLError):
                self.malformed(name_of_peer(accepted), f"TLS: {error.reason or error}")
            if not (made and made[-1].began):
                self.connection_ended(peer)
            accepted.close()


def _refuse(accepted: socket.socket) -> None:
    """Refuse a connection and close it. The client's data is read, otherwise it would not see the answer."""
    with accepted, contextlib.suppress(OSError):
        accepted.send(_REFUSAL)
        accepted.shutdown(socket.SHUT_WR)
        accepted.recv(_DISCARDED_BYTES)


class HttpServer:
    """Serves an application in our event loop; failures are logged.

    Args:
        app: the application.
        address: HOST:PORT, or unix:PATH.
        access: access settings, with the certificate.
        allow_remote: whether other machines may connect in plain text.
        limits: limits of clients.
        counters: counters ``http_refused``, ``http_timeouts``, ``http_malformed`` and ``http_bodies_refused``.
        member_token: token for internal paths; None outside of a cluster.

    Raises:
        ConfigError: the address cannot be bound, others could connect, or the certificate cannot be used.
    """

    def __init__(
        self,
        app: ASGIApp,
        address: str,
        access: AccessSettings | None = None,
        *,
        allow_remote: bool,
        limits: HttpSettings | None = None,
        counters: Counter[str] | None = None,
        member_token: str | None = None,
    ) -> None:
        access = access or AccessSettings()
        self._certificate = Certificate(access.certificate, access.certificate_key) if access.certificate else None
        self._path = unix_path(address)
        if self._path is not None:
            for_all = access.visibility != "all"  # then the system identifies users, who see only some jobs
            self._socket, self.url = bind_unix(self._path, for_all=for_all), f"http+unix://{quote(str(self._path), '')}"
        else:
            self._socket, self.url = bind_tcp(
                address,
                is_remote_allowed=allow_remote or (self._certificate is not None and access.principals is not None),
                scheme="http" if self._certificate is None else "https",
            )
        self._limits = limits or HttpSettings()
        self._counters = Counter[str]() if counters is None else counters
        self._config = uvicorn.Config(
            RequestBounds(app, self._limits.body_bytes, self._counters, member_token),
            log_config=None,
            log_level="warning",
            access_log=False,
            lifespan="off",
            ws="none",
            timeout_graceful_shutdown=2,
        )
        self._server = self._new()
        self._task: asyncio.Task[None] | None = None

    def _new(self) -> _Server:
        server = _Server(self._config, self._limits, self._counters)
        if self._certificate is not None and self._path is None:
            server.tls = self._certificate.context
        return server

    def reload(self) -> bool:
        """Read the certificate again if it has changed, for later connections; return whether it has."""
        return self._certificate is not None and self._certificate.reload()

    async def start(self) -> None:
        """Start serving."""
        self._server = self._new()
        self._task = asyncio.create_task(self._server.serve([self._socket.dup()]))  # it closes the duplicate at its end
        async with asyncio.timeout(_START_S):
            await self._server.ready.wait()

    async def run(self) -> None:
        """Serve until it fails or ends by itself; restart it if it had ended before."""
        if self._task is None or self._task.done():
            await self.start()
        if self._task is not None:
            await asyncio.wait([self._task])
            self._task.result()

    async def stop_answering(self) -> None:
        """End open answers."""
        self._server.should_exit = True
        if self._task is not None:
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def stop(self) -> None:
        """End open answers and close the socket."""
        await self.stop_answering()
        self._socket.close()
        if self._path is not None:
            self._path.unlink(missing_ok=True)
