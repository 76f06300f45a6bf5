"""ZeroMQ PUB with two frames per message. They are a topic and a MessagePack map of the public model.

Topics: ``prediction.<job>`` for each prediction, ``job.<job>`` when a job appears or changes its state,
``alert.<kind>.<file system>`` when an alert on contention is raised or resolved.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from typing import TYPE_CHECKING, Final

import msgspec
import zmq

from ...events import ConfigError
from ...events.network.descriptors import backlog
from ...events.network.endpoints import check_private, is_ipv6, private_files
from ...results.alerts import Alert
from ...results.jobs.job import JobSummary
from ...results.prediction import Prediction
from .publish_queue import PublishQueue

if TYPE_CHECKING:
    from ..access.access import Access

DEFAULT_QUEUE: Final = 10_000
"""Default number of messages that may wait for a subscriber."""


class Publisher:
    """A PUB socket. A subscriber that does not read is cut off once its queue is full, and others wait a second.

    Args:
        context: ZeroMQ context.
        endpoint: where subscribers connect.
        allow_remote: whether it may be one that others can reach in plain text.
        access: who may connect.
        behind: messages that may wait for a subscriber.
        counters: gets ``subscribers_cut_off`` and ``published_missed``.
    """

    def __init__(
        self,
        context: zmq.Context[zmq.Socket[bytes]],
        endpoint: str,
        *,
        allow_remote: bool,
        access: Access | None = None,
        behind: int = DEFAULT_QUEUE,
        counters: Counter[str] | None = None,
    ) -> None:
        self._access = access
        allowed = allow_remote or (access is not None and access.is_encrypted)
        check_private(endpoint, allow=allowed, permission="access.key or allow_remote")
        self._socket = context.socket(zmq.PUB)
        self._socket.linger = 200  # the final prediction of a job should still be sent
        self._socket.setsockopt(zmq.SNDHWM, behind)
        self._socket.setsockopt(zmq.XPUB_NODROP, 1)  # otherwise a full queue would not be reported
        self._socket.setsockopt(zmq.BACKLOG, backlog())
        self._socket.setsockopt(zmq.IPV6, is_ipv6(endpoint))
        self._secure()
        try:
            with private_files():
                self._socket.bind(endpoint)
        except zmq.ZMQError as error:
            self._socket.close(0)
            raise ConfigError(f"cannot publish on {endpoint}: {error}") from None
        self.endpoint = bytes(self._socket.getsockopt(zmq.LAST_ENDPOINT)).rstrip(b"\0").decode()
        self._queue = PublishQueue(self._pass, self.endpoint, behind, Counter() if counters is None else counters)

    def prediction(self, prediction: Prediction) -> None:
        """Publish a prediction."""
        self._send(f"prediction.{prediction.job}", prediction)

    def job(self, summary: JobSummary) -> None:
        """Publish a job's state."""
        self._send(f"job.{summary.job}", summary)

    def alert(self, alert: Alert) -> None:
        """Publish an alert that was raised or resolved."""
        self._send(f"alert.{alert.kind}.{alert.file_system}", alert)

    def flush(self) -> None:
        """Send messages that wait because the queue of a subscriber was full. To be called a few times per second.

        ZeroMQ itself would drop messages for the slow subscriber, and some for the others as well.
        """
        self._queue.flush()

    def stop_listening(self) -> None:
        """Stop listening and close existing connections."""
        with contextlib.suppress(zmq.ZMQError):
            self._socket.unbind(self.endpoint)

    def listen(self) -> None:
        """Listen at the same endpoint again; raise an OSError if that is not yet possible."""
        self._secure()
        try:
            with private_files():
                self._socket.bind(self.endpoint)
        except zmq.ZMQError as error:  # zmq.ZMQError is not an OSError
            raise OSError(error.errno, error.strerror) from None

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()

    def _secure(self) -> None:
        if self._access is not None:
            self._access.secure(self._socket, "publish")

    def _send(self, topic: str, model: Prediction | JobSummary | Alert) -> None:
        self._queue.put([topic.encode(), msgspec.msgpack.encode(model.model_dump())])

    def _pass(self, message: list[bytes]) -> None:
        self._socket.send_multipart(message, zmq.NOBLOCK)
