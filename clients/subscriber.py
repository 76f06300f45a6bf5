"""Subscribe to an aggregator's predictions, blocking or with asyncio.

>>> with Subscriber("tcp://127.0.0.1:9789") as predictions:     # doctest: +SKIP
...     for prediction in predictions:
...         print(prediction.job, prediction.period_s)
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar

import msgspec
import zmq
import zmq.asyncio
from pydantic import ValidationError

from ..events.errors import ConfigError, IotideError, ProtocolError
from ..events.models import Prediction

DEFAULT_ENDPOINT = "tcp://127.0.0.1:9789"
_TOPIC = "prediction."
_Socket = TypeVar("_Socket", bound=zmq.Socket[Any])


class SubscriptionTimeoutError(IotideError):
    """No prediction came within the time allowed."""


class Subscriber:
    """Receives predictions in a thread of its own or any other; reconnects by itself.

    Args:
        endpoint: where the aggregator publishes.
        jobs: only these; None for all.
        timeout_s: longest wait for one prediction; None for ever.

    Iterating yields predictions and raises SubscriptionTimeoutError when none comes in time. Messages that are no
    predictions of a version that we know are counted in ``malformed`` and skipped.
    """

    def __init__(
        self, endpoint: str = DEFAULT_ENDPOINT, *, jobs: Iterable[str] | None = None, timeout_s: float | None = None
    ) -> None:
        self.malformed = 0
        self._wanted = None if jobs is None else frozenset(jobs)
        self._timeout_s = timeout_s
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self._socket = _subscribed(self._context.socket(zmq.SUB), endpoint, self._wanted)

    def receive(self) -> Prediction:
        """Returns the next prediction.

        Raises:
            SubscriptionTimeoutError: none came in time.
        """
        while True:
            if not self._socket.poll(None if self._timeout_s is None else int(self._timeout_s * 1000)):
                raise SubscriptionTimeoutError(f"no prediction within {self._timeout_s} s")
            frames = self._socket.recv_multipart()
            try:
                prediction = prediction_of(frames)
            except ProtocolError:
                self.malformed += 1
                continue
            if self._wanted is None or prediction.job in self._wanted:
                return prediction

    def close(self) -> None:
        """Closes the connection."""
        self._socket.close(0)
        self._context.term()

    def __iter__(self) -> Iterator[Prediction]:
        while True:
            yield self.receive()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()


class AsyncSubscriber:
    """The same for asyncio: ``async with`` and ``async for``."""

    def __init__(
        self, endpoint: str = DEFAULT_ENDPOINT, *, jobs: Iterable[str] | None = None, timeout_s: float | None = None
    ) -> None:
        self.malformed = 0
        self._wanted = None if jobs is None else frozenset(jobs)
        self._timeout_s = timeout_s
        self._context = zmq.asyncio.Context()
        self._socket = _subscribed(self._context.socket(zmq.SUB), endpoint, self._wanted)

    async def receive(self) -> Prediction:
        """Returns the next prediction.

        Raises:
            SubscriptionTimeoutError: none came in time.
        """
        while True:
            if not await self._socket.poll(None if self._timeout_s is None else int(self._timeout_s * 1000)):
                raise SubscriptionTimeoutError(f"no prediction within {self._timeout_s} s")
            frames = await self._socket.recv_multipart()
            try:
                prediction = prediction_of(frames)
            except ProtocolError:
                self.malformed += 1
                continue
            if self._wanted is None or prediction.job in self._wanted:
                return prediction

    def close(self) -> None:
        """Closes the connection."""
        self._socket.close(0)
        self._context.term()

    async def __aiter__(self) -> AsyncIterator[Prediction]:
        while True:
            yield await self.receive()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
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


def _subscribed(socket: _Socket, endpoint: str, jobs: frozenset[str] | None) -> _Socket:
    socket.setsockopt(zmq.LINGER, 0)
    for topic in [_TOPIC] if jobs is None else [f"{_TOPIC}{job}" for job in sorted(jobs)]:
        socket.setsockopt(zmq.SUBSCRIBE, topic.encode())
    try:
        socket.connect(endpoint)
    except zmq.ZMQError as error:
        socket.close()
        raise ConfigError(f"{endpoint!r} is no endpoint such as {DEFAULT_ENDPOINT}: {error}") from None
    return socket
