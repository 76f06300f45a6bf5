"""Subscribe to an aggregator's predictions, to the states of its jobs, or to its alerts. Blocking or with asyncio.

>>> with Subscriber("tcp://127.0.0.1:9789") as predictions:     # doctest: +SKIP
...     for prediction in predictions:
...         print(prediction.job, prediction.period_s)
>>> with JobSubscriber("tcp://127.0.0.1:9789") as jobs:         # doctest: +SKIP
...     for job in jobs:
...         print(job.job, job.state, job.last_word)
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from typing import Any, ClassVar, Final, Generic, Self, TypeVar

import msgspec
import zmq
import zmq.asyncio
from pydantic import ValidationError

from ..events.errors import ConfigError, IotideError, ProtocolError
from ..events.network.connection_events import ConnectionEvents
from ..events.network.curve import ClientKeys
from ..events.network.endpoints import check_endpoint, is_ipv6
from ..events.network.key_source import FixedKeys, KeySource
from ..events.network.malformed import MALFORMED
from ..results.alerts import Alert
from ..results.jobs.job import JobSummary
from ..results.prediction import Prediction
from .connection_report import ConnectionReport, Line, connection_problem
from .text.printable import printable

_log = logging.getLogger(__name__)
DEFAULT_ENDPOINT = "tcp://127.0.0.1:9789"
_PREDICTION: Final = "prediction."
_JOB: Final = "job."
_ALERT: Final = "alert."
_Message = TypeVar("_Message", Prediction, JobSummary, Alert)
_LOOK_S: Final = 0.5
"""Time between looks at the connection, s."""
_PATIENCE_S: Final = 1.0
"""Maximum time of a search for the cause of a missing connection, s."""
_KEEPALIVE: Final[dict[int, int]] = {
    zmq.TCP_KEEPALIVE: 1,
    zmq.TCP_KEEPALIVE_IDLE: 10,
    zmq.TCP_KEEPALIVE_INTVL: 5,
    zmq.TCP_KEEPALIVE_CNT: 4,
}
"""A connection to a host that vanished is given up after 30 s."""


class SubscriptionTimeoutError(IotideError):
    """No message arrived within the timeout."""


class _Subscription(Generic[_Message]):
    """Common part of all subscribers: selected jobs, timeout, unknown messages, state of the connection."""

    _topic: ClassVar[str]
    _model: type[_Message]
    _nothing_yet: ClassVar[str]

    _events: ConnectionEvents

    def __init__(
        self, endpoint: str, jobs: Iterable[str] | None, timeout_s: float | None, keys: ClientKeys | KeySource | None
    ) -> None:
        check_endpoint(endpoint, connects=True)
        self.malformed = 0
        """Skipped messages of an unknown version."""
        self._key_source = FixedKeys(keys) if keys is None or isinstance(keys, ClientKeys) else keys
        self._endpoint, self._keys = endpoint, self._key_source.keys
        self._wanted = None if jobs is None else frozenset(jobs)
        self._timeout_s = timeout_s
        of_jobs = "" if self._wanted is None else f" of {', '.join(map(printable, sorted(self._wanted)))}"
        self._report = ConnectionReport(endpoint, self._nothing_yet.format(of_jobs=of_jobs), time.monotonic())
        self._look_at_s = -math.inf

    def _deadline(self) -> float | None:
        return None if self._timeout_s is None else time.monotonic() + self._timeout_s

    def _timeout_error(self) -> SubscriptionTimeoutError:
        what = f"no {self._topic.rstrip('.')} within {self._timeout_s} s"
        return SubscriptionTimeoutError(": ".join(filter(None, (what, self._report.trouble()))))

    def _look(self) -> None:
        """Report what has become of the connection."""
        now_s = time.monotonic()
        if now_s < self._look_at_s:
            return
        self._look_at_s = now_s + _LOOK_S
        for event, _ in self._events.poll(now_s):
            _tell(self._report.handle(event, now_s))
        _tell(self._report.silence(now_s))

    def _update_keys(self, socket: zmq.Socket[Any]) -> None:
        """Connect with other keys, if there are any now."""
        self._key_source.refresh()
        keys = self._key_source.keys
        if keys is not None and keys != self._keys:
            self._keys = keys
            keys.secure(socket)
            self._events.disconnect(self._endpoint)
            self._events.connect(self._endpoint)

    def _find_cause(self, deadline: float | None) -> str:
        patience_s = _PATIENCE_S if deadline is None else min(_PATIENCE_S, max(0.001, deadline - time.monotonic()))
        return connection_problem(self._endpoint, self._keys, self._report.failure, patience_s)

    def _decode(self, frames: Sequence[bytes]) -> _Message | None:
        try:
            news = _decoded(frames, self._topic, self._model)
        except ProtocolError:
            self.malformed += 1
            return None
        # ZeroMQ matches prefixes: a subscription to job 47 also receives job 4711.
        if self._wanted is not None and news.job not in self._wanted:
            return None
        self._report.received()
        return news


class _Blocking(_Subscription[_Message]):
    """Receives messages in any single thread; reconnects automatically. A context manager, and iterable.

    The log (``iotide.clients.subscriber``) has why there is no connection, and when it is lost or made again.

    Args:
        endpoint: the aggregator's publish endpoint.
        jobs: only these; None for all.
        timeout_s: maximum wait for one message; None for no limit.
        keys: CURVE keys, if the aggregator requires them: those of ``iotide.events.network.key_source.KeyFiles``, whose
            files are read again while there is no connection, or fixed ones.

    Raises:
        ConfigError: the endpoint is malformed.
    """

    def __init__(
        self,
        endpoint: str = DEFAULT_ENDPOINT,
        *,
        jobs: Iterable[str] | None = None,
        timeout_s: float | None = None,
        keys: ClientKeys | KeySource | None = None,
    ) -> None:
        super().__init__(endpoint, jobs, timeout_s, keys)
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self._socket = self._context.socket(zmq.SUB)
        self._events = _subscribed(self._socket, endpoint, self._topic, self._wanted, self._keys)

    def receive(self) -> _Message:
        """Return the next message.

        Raises:
            SubscriptionTimeoutError: none arrived within the timeout.
        """
        deadline = self._deadline()
        while True:
            is_ready = self._socket.poll(_wait_ms(deadline))
            self._look()
            if is_ready:
                if (news := self._decode(self._socket.recv_multipart())) is not None:
                    return news
            elif self._report.asks_why(time.monotonic()):
                self._update_keys(self._socket)
                _tell(self._report.explain(self._find_cause(deadline)))
            if deadline is not None and time.monotonic() >= deadline:
                raise self._timeout_error()

    def close(self) -> None:
        """Close the connection."""
        self._events.close()
        self._socket.close(0)
        self._context.term()

    def __iter__(self) -> Iterator[_Message]:
        while True:
            yield self.receive()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Subscriber(_Blocking[Prediction]):
    """Receives predictions."""

    _topic = _PREDICTION
    _nothing_yet = "no prediction{of_jobs} yet; predictions come while calls arrive"
    _model = Prediction


class JobSubscriber(_Blocking[JobSummary]):
    """Receives jobs when they appear or change state; an ended job has its ``last_word``."""

    _topic = _JOB
    _nothing_yet = "no job{of_jobs} has appeared or changed its state yet"
    _model = JobSummary


class AlertSubscriber(_Blocking[Alert]):
    """Receives alerts on contention of all jobs when they are raised or resolved."""

    _topic = _ALERT
    _nothing_yet = "no alert has been raised or resolved yet"
    _model = Alert

    def __init__(
        self,
        endpoint: str = DEFAULT_ENDPOINT,
        *,
        timeout_s: float | None = None,
        keys: ClientKeys | KeySource | None = None,
    ) -> None:
        super().__init__(endpoint, timeout_s=timeout_s, keys=keys)


class _Async(_Subscription[_Message]):
    """asyncio version: ``async with`` and ``async for``."""

    def __init__(
        self,
        endpoint: str = DEFAULT_ENDPOINT,
        *,
        jobs: Iterable[str] | None = None,
        timeout_s: float | None = None,
        keys: ClientKeys | KeySource | None = None,
    ) -> None:
        super().__init__(endpoint, jobs, timeout_s, keys)
        self._context = zmq.asyncio.Context()
        self._socket = self._context.socket(zmq.SUB)
        self._events = _subscribed(self._socket, endpoint, self._topic, self._wanted, self._keys)

    async def receive(self) -> _Message:
        """Return the next message.

        Raises:
            SubscriptionTimeoutError: none arrived within the timeout.
        """
        deadline = self._deadline()
        while True:
            is_ready = await self._socket.poll(_wait_ms(deadline))
            self._look()
            if is_ready:
                if (news := self._decode(await self._socket.recv_multipart())) is not None:
                    return news
            elif self._report.asks_why(time.monotonic()):
                self._update_keys(self._socket)
                _tell(self._report.explain(await asyncio.to_thread(self._find_cause, deadline)))
            if deadline is not None and time.monotonic() >= deadline:
                raise self._timeout_error()

    def close(self) -> None:
        """Close the connection."""
        self._events.close()
        self._socket.close(0)
        self._context.term()

    async def __aiter__(self) -> AsyncIterator[_Message]:
        while True:
            yield await self.receive()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()


class AsyncSubscriber(_Async[Prediction]):
    """Receives predictions like ``Subscriber``."""

    _topic, _nothing_yet, _model = Subscriber._topic, Subscriber._nothing_yet, Subscriber._model


class AsyncJobSubscriber(_Async[JobSummary]):
    """Receives jobs like ``JobSubscriber``."""

    _topic, _nothing_yet, _model = JobSubscriber._topic, JobSubscriber._nothing_yet, JobSubscriber._model


def prediction_of(frames: Sequence[bytes]) -> Prediction:
    """Decode one published prediction.

    Raises:
        ProtocolError: it is not one.
    """
    return _decoded(frames, _PREDICTION, Prediction)


def _decoded(frames: Sequence[bytes], topic: str, model: type[_Message]) -> _Message:
    """Decode one published message.

    Raises:
        ProtocolError: it has another topic or an unknown version.
    """
    if len(frames) != 2 or not frames[0].startswith(topic.encode()):
        raise ProtocolError(f"a message is two frames, a topic '{topic}<job>' and a map")
    try:
        return model.model_validate(msgspec.msgpack.decode(frames[1]))
    except (ValidationError, *MALFORMED) as error:
        raise ProtocolError(f"not a {topic.rstrip('.')} that this version knows: {error}") from None


def _wait_ms(deadline: float | None) -> int:
    """Return how long to wait for a message before the next look at the connection."""
    left_s = _LOOK_S if deadline is None else min(_LOOK_S, deadline - time.monotonic())
    return max(0, math.ceil(left_s * 1000))


def _tell(lines: Iterable[Line]) -> None:
    for level, text in lines:
        _log.log(level, "%s", text)


def _subscribed(
    socket: zmq.Socket[Any], endpoint: str, topic: str, jobs: frozenset[str] | None, keys: ClientKeys | None
) -> ConnectionEvents:
    socket.setsockopt(zmq.LINGER, 0)
    if keys is not None:
        keys.secure(socket)
    socket.setsockopt(zmq.IPV6, is_ipv6(endpoint))
    socket.setsockopt(zmq.RECONNECT_IVL_MAX, 2000)
    socket.setsockopt(zmq.CONNECT_TIMEOUT, 5000)
    for option, value in _KEEPALIVE.items():
        socket.setsockopt(option, value)
    for wanted in [topic] if jobs is None else [f"{topic}{job}" for job in sorted(jobs)]:
        socket.setsockopt(zmq.SUBSCRIBE, wanted.encode())
    events = ConnectionEvents(socket)
    try:
        events.connect(endpoint)
    except zmq.ZMQError as error:
        events.close()
        socket.close()
        raise ConfigError(f"{endpoint!r} is no endpoint such as {DEFAULT_ENDPOINT}: {error}") from None
    return events
