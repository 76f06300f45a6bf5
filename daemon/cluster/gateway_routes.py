"""Routing of collectors' messages to partitions, and of answers back: a state machine without sockets.

The gateway has no persistent state. It forwards messages and the owners' answers unchanged, so that an acknowledgement
has the same meaning as without a gateway. If an owner changes, or a message is lost, the collector is asked for HELLO
again, or detects the gap by the next answer, and sends unacknowledged data again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import msgspec
from msgspec import Struct

from ...events import ProtocolError
from ...events.network.malformed import MALFORMED
from ...events.network.wire import (
    MAX_HEADER_BYTES,
    MAX_STREAM_ID,
    Frame,
    Heartbeat,
    Hello,
    Reject,
    decode_header,
    encode,
)
from ..jobs.job_ids import clean_job
from .partitions import partition_for, partition_of


class Addressed(NamedTuple):
    """A message for a partition."""

    partition: int
    frames: Sequence[Frame]


class _Head(Struct):
    """Header fields needed for routing; the others are skipped."""

    type: str
    stream: str = ""
    seq: int = 0
    last_seq: int = 0


class _Stream(Struct):
    partition: int
    peer: bytes
    last_seq: int | None = None
    """Sequence number of its BYE, once sent."""


class _Peer(Struct):
    last_heard_s: float
    home: int | None = None
    """Partition that receives its counters, and sends it plans."""
    partitions: set[int] = msgspec.field(default_factory=set)
    """Partitions of the jobs that it has reported."""


_head: Final = msgspec.msgpack.Decoder(_Head)
_ALIVE: Final = encode(Heartbeat())


class GatewayRoutes:
    """The streams of one gateway.

    Args:
        count: number of partitions.
        is_reachable: returns whether a partition has an owner.
        max_streams: maximum number of known streams; messages of others are answered with a request for HELLO.
        forget_after_s: silence of a connection after which its streams are removed, s.
        counters: gets the counters.

    Attributes:
        counters: ``forwarded``, ``answered``, ``malformed``, ``unreachable`` and ``streams_moved``.
    """

    def __init__(
        self,
        count: int,
        is_reachable: Callable[[int], bool],
        max_streams: int,
        forget_after_s: float,
        counters: Counter[str] | None = None,
    ) -> None:
        self.counters: Counter[str] = Counter() if counters is None else counters
        self._count, self._is_reachable = count, is_reachable
        self._max_streams, self._forget_after_s = max_streams, forget_after_s
        self._streams: dict[str, _Stream] = {}
        self._peers: dict[bytes, _Peer] = {}

    @property
    def streams(self) -> int:
        """Number of known streams."""
        return len(self._streams)

    @property
    def peers(self) -> int:
        """Number of active collector connections."""
        return len(self._peers)

    def receive(
        self, peer: bytes, frames: Sequence[Frame], now_s: float, user: str = ""
    ) -> tuple[list[Addressed], list[list[Frame]]]:
        """Process a collector's message.

        Args:
            peer: its connection.
            frames: the message.
            now_s: monotonic time, s.
            user: user of its key; "" for a node or without keys.

        Returns:
            Messages for partitions, and immediate answers.
        """
        known = self._peers.setdefault(peer, _Peer(now_s))
        known.last_heard_s = now_s
        try:
            if not frames or len(frames[0]) > MAX_HEADER_BYTES:
                raise ProtocolError("the header is missing or too long")
            try:
                head = _head.decode(frames[0])
            except MALFORMED as error:
                raise ProtocolError(str(error)) from None
            if len(head.stream) > MAX_STREAM_ID:  # an answer with it would be malformed, too
                raise ProtocolError(f"a stream's id has at most {MAX_STREAM_ID} characters, not {len(head.stream)}")
            if head.type in ("batch", "bye"):
                return self._of_stream(peer, head, frames)
            message = decode_header(frames[0])
            if isinstance(message, Hello):
                return self._hello(peer, known, message, frames, user or message.as_user)
            if isinstance(message, Heartbeat):
                return self._heartbeat(known, message, user or message.as_user)
            raise ProtocolError(f"a collector does not send {head.type}")
        except ProtocolError as error:
            self.counters["malformed"] += 1
            return [], [encode(Reject(stream="", seq=0, code="malformed", reason=str(error)))]

    def answer(self, peer: bytes, partition: int, frames: Sequence[Frame]) -> bool:
        """Process an owner's answer; return whether to forward it."""
        known = self._peers.get(peer)
        if known is None or not frames:
            return False
        try:
            head = _head.decode(frames[0])
        except MALFORMED:
            return False
        if head.type == "heartbeat":  # one of them is enough
            return partition == known.home
        stream = self._streams.get(head.stream)
        if stream is not None and head.type == "ack" and stream.last_seq is not None and head.seq > stream.last_seq:
            del self._streams[head.stream]
        self.counters["answered"] += 1
        return True

    def on_owner_changed(self, partition: int) -> list[tuple[bytes, list[Frame]]]:
        """Return the messages for collectors when a partition has a new owner."""
        rejects = [
            (stream.peer, encode(Reject(stream=name, seq=0, code="unknown_stream", reason="another owner has the job")))
            for name, stream in self._streams.items()
            if stream.partition == partition
        ]
        self.counters["streams_moved"] += len(rejects)
        return rejects

    def forget(self, now_s: float) -> None:
        """Remove collectors that have been silent too long; call it periodically."""
        for peer in [peer for peer, known in self._peers.items() if now_s - known.last_heard_s > self._forget_after_s]:
            del self._peers[peer]
        self._streams = {name: stream for name, stream in self._streams.items() if stream.peer in self._peers}

    def _of_stream(
        self, peer: bytes, head: _Head, frames: Sequence[Frame]
    ) -> tuple[list[Addressed], list[list[Frame]]]:
        stream = self._streams.get(head.stream)
        if stream is None:
            seq = head.seq or head.last_seq
            return [], [encode(Reject(stream=head.stream, seq=seq, code="unknown_stream", reason="say HELLO first"))]
        stream.peer = peer
        if head.type == "bye":
            stream.last_seq = head.last_seq
        return self._deliver(stream.partition, frames), []

    def _hello(
        self, peer: bytes, known: _Peer, hello: Hello, frames: Sequence[Frame], user: str
    ) -> tuple[list[Addressed], list[list[Frame]]]:
        stream = self._streams.get(hello.stream)
        if stream is None:
            if len(self._streams) >= self._max_streams:
                reason = f"bounds.max_streams = {self._max_streams} is reached at the gateway; raise it"
                return [], [encode(Reject(stream=hello.stream, seq=0, code="full", reason=reason))]
            stream = _Stream(partition_for(clean_job(hello.info.job), user, self._count), peer)
            self._streams[hello.stream] = stream
        stream.peer, stream.last_seq = peer, None
        known.partitions.add(stream.partition)
        return self._deliver(stream.partition, frames), []

    def _heartbeat(self, known: _Peer, message: Heartbeat, user: str) -> tuple[list[Addressed], list[list[Frame]]]:
        """Forward counters to one partition, so that sums are correct.

        Losses are forwarded to the partitions of their jobs.
        """
        known.home = partition_of(message.collector, self._count)
        losses: dict[int, dict[str, dict[str, int]]] = {}
        for job, lost in message.losses.items():
            losses.setdefault(partition_for(clean_job(job), user, self._count), {})[job] = lost
        sent: list[Addressed] = []
        for number in sorted({known.home, *known.partitions, *losses}):
            is_home = number == known.home
            part = msgspec.structs.replace(
                message,
                losses=losses.get(number, {}),
                counters=message.counters if is_home else {},
                paces=message.paces if is_home else None,
            )
            sent += self._deliver(number, encode(part))
        is_answered = message.paces is not None and self._is_reachable(known.home)
        return sent, [] if is_answered else [_ALIVE]

    def _deliver(self, partition: int, frames: Sequence[Frame]) -> list[Addressed]:
        if not self._is_reachable(partition):  # it will be requested again when there is an owner
            self.counters["unreachable"] += 1
            return []
        self.counters["forwarded"] += 1
        return [Addressed(partition, frames)]
