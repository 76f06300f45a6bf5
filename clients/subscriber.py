"""Subscribe to an aggregator's predictions, blocking or with asyncio.

>>> with Subscriber("tcp://127.0.0.1:9789") as predictions:     # doctest: +SKIP
...     for prediction in predictions:
...         print(prediction.job, prediction.period_s)
"""

from __future__ import annotations

import math
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from typing import Any, Self, TypeVar

import msgspec
import zmq
import zmq.asyncio
from pydantic import ValidationError

from ..events.endpoints import check_endpoint, is_ipv6
from ..events.errors import ConfigError, IotideError, ProtocolError
from ..events.models import Prediction

DEFAULT_ENDPOINT = "tcp://127.0.0.1:9789"
_TOPIC = "prediction."
_Socket = TypeVar("_Socket", bound=zmq.Socket[Any])


class SubscriptionTimeoutError(IotideError):
    """No prediction came within the time allowed."""


class _Subscription:
    """What both subscribers share: which jobs are wanted, how long to wait, what was not understood."""

    def __init__(self, endpoint: str, jobs: Iterable[str] | None, timeout_s: float | None) -> None:
        check_endpoint(endpoint, connects=True)
        self.malformed = 0
        """Messages that are no predictions of a version that we know; they are skipped."""
        self._wanted = None if jobs is None else frozenset(jobs)
        self._timeout_s = timeout_s

    def _deadline(self) -> float | None:
        return None if self._timeout_s is None else time.monotonic() + self._timeout_s

    def _late(self) -> SubscriptionTimeoutError:
        return SubscriptionTimeoutError(f"no prediction within {self._timeout_s} s")

    def _accept(self, frames: Sequence[bytes]) -> Prediction | None:
        try:
            prediction = prediction_of(frames)
        except ProtocolError:
            self.malformed += 1
            return None
        # ZeroMQ subscribes to prefixes: job 47 would also get what job 4711 does.
        return prediction if self._wanted is None or prediction.job in self._wanted else None


class Subscriber(_Subscription):
    """Receives predictions in any one thread; reconnects by itself. A context manager, and iterable.

    Args:
        endpoint: where the aggregator publishes.
        jobs: only these; None for all.
        timeout_s: longest wait for one prediction; None for ever.

    Raises:
        ConfigError: the endpoint is malformed.
    """

    def __init__(
        self, endpoint: str = DEFAULT_ENDPOINT, *, jobs: Iterable[str] | None = None, timeout_s: float | None = None
    ) -> None:
        super().__init__(endpoint, jobs, timeout_s)
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self._socket = _subscribed(self._context.socket(zmq.SUB), endpoint, self._wanted)

    def receive(self) -> Prediction:
        """Returns the next prediction.

        Raises:
            SubscriptionTimeoutError: none came in time.
        """
        deadline = self._deadline()
        while self._socket.poll(_left_ms(deadline)):
            if (prediction := self._accept(self._socket.recv_multipart())) is not None:
                return prediction
            if deadline is not None and time.monotonic() >= deadline:
                break
        raise self._late()

    def close(self) -> None:
        """Closes the connection."""
        self._socket.close(0)
        self._context.term()

    def __iter__(self) -> Iterator[Prediction]:
        while True:
            yield self.receive()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncSubscriber(_Subscription):
    """The same for asyncio: ``async with`` and ``async for``."""

    def __init__(
        self, endpoint: str = DEFAULT_ENDPOINT, *, jobs: Iterable[str] | None = None, timeout_s: float | None = None
    ) -> None:
        super().__init__(endpoint, jobs, timeout_s)
        self._context = zmq.asyncio.Context()
        self._socket = _subscribed(self._context.socket(zmq.SUB), endpoint, self._wanted)

    async def receive(self) -> Prediction:
        """Returns the next prediction.

        Raises:
            SubscriptionTimeoutError: none came in time.
        """
        deadline = self._deadline()
        while await self._socket.poll(_left_ms(deadline)):
            if (prediction := self._accept(await self._socket.recv_multipart())) is not None:
                return prediction
            if deadline is not None and time.monotonic() >= deadline:
                break
        raise self._late()

    def close(self) -> None:
        """Closes the connection."""
        self._socket.close(0)
        self._context.term()

    async def __aiter__(self) -> AsyncIterator[Prediction]:
        while True:
            yield await self.receive()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()


def prediction_of(frames: Sequence[bytes]) -> Prediction:
    """Decodes one published message.

    Raises:
        ProtocolError: it is not a prediction.
    """
    if len(frames) != 2 or not frames[0].startswith(_TOPIC.encode()):
        raise ProtocolError("a prediction is two frames, a topic 'prediction.<job>' and a map")
    try:
        return Prediction.model_validate(msgspec.msgpack.decode(frames[1]))
    except (msgspec.DecodeError, ValidationError, UnicodeDecodeError) as error:
        raise ProtocolError(f"not a prediction that this version knows: {error}") from None


def _left_ms(deadline: float | None) -> int | None:
    return None if deadline is None else max(0, math.ceil((deadline - time.monotonic()) * 1000))


def _subscribed(socket: _Socket, endpoint: str, jobs: frozenset[str] | None) -> _Socket:
    socket.setsockopt(zmq.LINGER, 0)
    socket.setsockopt(zmq.IPV6, is_ipv6(endpoint))
    for topic in [_TOPIC] if jobs is None else [f"{_TOPIC}{job}" for job in sorted(jobs)]:
        socket.setsockopt(zmq.SUBSCRIBE, topic.encode())
    try:
        socket.connect(endpoint)
    except zmq.ZMQError as error:
        socket.close()
        raise ConfigError(f"{endpoint!r} is no endpoint such as {DEFAULT_ENDPOINT}: {error}") from None
    return socket
