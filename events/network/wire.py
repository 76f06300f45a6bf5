"""The wire between collectors and the aggregator: messages, their frames, and validation of received messages.

A message is one ZeroMQ multipart: a MessagePack header, then, for BATCH only, one raw little-endian frame for each
column that is not constant. A column that is absent from the header has its "unknown" value throughout.

Limits apply at both ends, so that no peer can make the other allocate without bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

from ..batch import EventBatch, empty_batch, is_constant, make_batch, representatives
from ..definitions import Definitions, FileInfo
from ..errors import ProtocolError
from ..schema import COLUMNS, Kind, Layer
from ..stream import StreamInfo
from .limits import MAX_BATCH_EVENTS as MAX_BATCH_EVENTS
from .limits import MAX_HEADER_BYTES as MAX_HEADER_BYTES
from .limits import MAX_STREAM_ID as MAX_STREAM_ID
from .malformed import MALFORMED

PROTOCOL_VERSION: Final = 1
_INLINE_BYTES: Final = 1024
LATEST_NS: Final = 2**62  # leaves room for start + duration in int64 (the year 2116)

Frame: TypeAlias = bytes | bytearray | memoryview


class Hello(msgspec.Struct, tag="hello", kw_only=True):
    """Introduces a stream, also to an aggregator that does not know it any more."""

    version: int = PROTOCOL_VERSION
    collector: str
    stream: str
    info: StreamInfo
    next_seq: int = 1
    """Sequence number of the batch that follows."""
    definitions: Definitions = msgspec.field(default_factory=Definitions)
    """All definitions of the batches before ``next_seq``."""
    losses: dict[str, int] = {}
    """As in a batch."""
    voucher: str = ""
    """Proof of the job's user and account, made by root of the node (``events/network/vouchers.py``)."""
    as_user: str = ""
    """User whose rights the message has, although the key of its sender is that of a node. "": those of the key."""


class Batch(msgspec.Struct, tag="batch", kw_only=True, omit_defaults=True):
    """Header of a batch of events; the columns follow as frames. Without events it carries definitions alone."""

    stream: str
    seq: int
    """1, 2, 3 ... within the stream."""
    length: int
    columns: list[tuple[str, int | bytes | None]]
    """Name and constant value; or the values themselves, little-endian, if they are few. None if they follow as a
    frame, in this order."""
    definitions: Definitions = msgspec.field(default_factory=Definitions)
    info: StreamInfo | None = None
    """New StreamInfo, if it has changed since HELLO; the job stays the same."""
    losses: dict[str, int] = {}
    """Cumulative losses of the stream, by the collector's counters; present if they have grown."""
    made: int = 0
    """Events that the collector has received of the stream so far, before, in or after this batch; 0: unknown."""


class Heartbeat(msgspec.Struct, tag="heartbeat", kw_only=True):
    """Shows that a peer is alive. A collector's carries its counters; the aggregator answers with an empty one."""

    collector: str = ""
    host: str = ""
    counters: dict[str, int] = {}
    """Cumulative; keys as in ``collectors.counters`` (``events_dropped:ring_full`` ...)."""
    losses: dict[str, dict[str, int]] = {}
    """By job, losses in the collector that no stream reports; cumulative."""
    job: str = ""
    """Job whose programs on ``host`` the collector serves, even while there are none. "": no particular job."""
    paces: FileInfo | None = None
    """From a collector: a folder on the file system whose jobs it can make wait."""
    asked_ns: int = 0
    """From a collector: sending time by its steady clock. The answer repeats it."""
    as_user: str = ""
    """As in HELLO."""
    time_ns: int = 0
    """In the aggregator's answer: its time of day."""
    plan: bytes = b""
    """In the aggregator's answer: a ``PacingPlan`` as JSON; "": there is none."""


class Bye(msgspec.Struct, tag="bye", kw_only=True, omit_defaults=True):
    """Ends a stream: nothing follows its last sequence number. Its ack has the next number."""

    stream: str
    last_seq: int
    losses: dict[str, int] = {}
    """Cumulative losses of the stream, by the collector's counters, including those that batches reported."""
    made: int = 0
    """Events that the collector has received of the stream; 0: unknown."""


class Ack(msgspec.Struct, tag="ack", kw_only=True):
    """Acknowledges all batches of a stream up to ``seq``. ``credit`` is the maximum number of unacknowledged batches of
    the collector over all its streams.
    """

    stream: str
    seq: int
    credit: int


class Reject(msgspec.Struct, tag="reject", kw_only=True):
    """Reports that a message was rejected, and why.

    Codes: ``malformed`` and ``failed`` (the batch is skipped for good: it is malformed, or it caused an error at this
    end), ``unknown_stream`` (send HELLO again, then resend unacknowledged batches), ``gap`` (resend from ``seq``),
    ``version`` (no common protocol version), ``full`` (the aggregator accepts no more streams), ``foreign`` (a HELLO
    for a stream of another collector).
    """

    stream: str
    seq: int
    code: str
    reason: str


Message: TypeAlias = Hello | Batch | Heartbeat | Bye | Ack | Reject

_encoder = msgspec.msgpack.Encoder()
_decoder: msgspec.msgpack.Decoder[Message] = msgspec.msgpack.Decoder(Message)


def encode(message: Hello | Heartbeat | Bye | Ack | Reject) -> list[Frame]:
    """Encode a message without columns as its one frame."""
    return [_encoder.encode(message)]


def encode_batch(
    stream: str,
    seq: int,
    batch: EventBatch,
    definitions: Definitions,
    info: StreamInfo | None = None,
    losses: Mapping[str, int] | None = None,
    made: int = 0,
) -> list[Frame]:
    """Encode events as a header frame and one frame for each varying column. Frames share the arrays' memory.

    Args:
        stream: id of the stream.
        seq: number of the batch.
        batch: the events.
        definitions: new definitions.
        info: new StreamInfo, if it has changed.
        losses: losses of the stream so far, if they have grown.
        made: events of the stream so far.

    Raises:
        ValueError: the batch has more than MAX_BATCH_EVENTS events.
    """
    length = len(batch)
    if length > MAX_BATCH_EVENTS:
        raise ValueError(f"a batch carries at most {MAX_BATCH_EVENTS} events, not {length}")
    columns: list[tuple[str, int | bytes | None]] = []
    frames: list[Frame] = []
    for name, (_, unknown) in COLUMNS.items():
        array = getattr(batch, name)
        if is_constant(array):
            value = int(array[0])
            if value != unknown:
                columns.append((name, value))
        elif length and array.nbytes <= _INLINE_BYTES:
            columns.append((name, array.tobytes()))  # a frame costs more than so few bytes
        elif length:
            columns.append((name, None))
            frames.append(np.ascontiguousarray(array).data.cast("B"))
    header = Batch(
        stream=stream,
        seq=seq,
        length=length,
        columns=columns,
        definitions=definitions,
        info=info,
        losses=dict(losses or {}),
        made=made,
    )
    return [_encoder.encode(header), *frames]


def decode(frames: Sequence[Frame]) -> tuple[Message, EventBatch | None]:
    """Decode one multipart message; the events' arrays share the frames' memory and are read-only.

    Returns:
        The message, and for a Batch its events.

    Raises:
        ProtocolError: the frames violate the protocol; the text names the rule.
    """
    if not frames:
        raise ProtocolError("a message has at least one frame")
    message = decode_header(frames[0])
    if isinstance(message, Batch):
        return message, decode_columns(message, frames[1:])
    if len(frames) > 1:
        raise ProtocolError(f"only a batch has column frames, but {len(frames) - 1} follow")
    return message, None


def decode_header(frame: Frame) -> Message:
    """Decode a message's first frame alone.

    Raises:
        ProtocolError: the frame violates the protocol.
    """
    if len(frame) > MAX_HEADER_BYTES:
        raise ProtocolError(f"a header has at most {MAX_HEADER_BYTES} bytes, not {len(frame)}")
    try:
        message = _decoder.decode(frame)
    except MALFORMED as error:
        raise ProtocolError(f"the header is not a message of protocol {PROTOCOL_VERSION}: {error}") from None
    stream = getattr(message, "stream", "")
    if len(stream) > MAX_STREAM_ID:
        raise ProtocolError(f"a stream's id has at most {MAX_STREAM_ID} characters, not {len(stream)}")
    return message


_LAST_KIND: Final = max(Kind)
_LAST_LAYER: Final = max(Layer)
_LIMITS: Final = {name: (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)) for name, (dtype, _) in COLUMNS.items()}


def decode_columns(header: Batch, frames: Sequence[Frame]) -> EventBatch:
    """Decode the events of a batch from the frames after its header.

    Raises:
        ProtocolError: the frames do not match the header, or a value is out of range.
    """
    if not 0 <= header.length <= MAX_BATCH_EVENTS or header.seq < 1:
        raise ProtocolError(
            f"a batch has 0 to {MAX_BATCH_EVENTS} events and a seq from 1, not {header.length}, {header.seq}"
        )
    if not header.length:
        if header.columns or frames:
            raise ProtocolError("a batch without events has no columns")
        return empty_batch()
    waiting = iter(frames)
    columns: dict[str, Any] = {}
    for name, value in header.columns:
        if name not in COLUMNS or name in columns:
            raise ProtocolError(f"{name[:40]!r} is no column, or stands twice")
        columns[name] = _decode_column(name, value, header.length, waiting)
    if next(waiting, None) is not None:
        raise ProtocolError("more frames than columns")
    batch = make_batch(header.length, columns)
    _check_values(batch)
    return batch


def _decode_column(name: str, value: bytes | int | None, length: int, frames: Iterator[Frame]) -> Any:
    """Return a column from the header: its bytes, its only value, or None if the next frame has its bytes."""
    dtype = COLUMNS[name][0]
    if isinstance(value, bytes):
        if len(value) != length * dtype.itemsize:
            raise ProtocolError(f"column {name} needs {length * dtype.itemsize} bytes, not {len(value)}")
        return np.frombuffer(value, dtype)
    if value is not None:
        least, most = _LIMITS[name]
        if not least <= value <= most:
            raise ProtocolError(f"column {name} cannot hold {value}")
        return value
    frame = next(frames, None)
    if frame is None or len(frame) != length * dtype.itemsize:
        raise ProtocolError(f"column {name} needs a frame of {length * dtype.itemsize} bytes")
    return np.frombuffer(frame, dtype)


def sendable_events(batch: EventBatch) -> npt.NDArray[np.bool_] | None:
    """Return which events the wire accepts, because it refuses a batch with one invalid event. None: all."""
    if not len(batch):
        return None
    good = np.ones(len(batch), bool)
    for name in ("start", "duration", "bytes"):
        # as unsigned numbers, negative ones are larger
        good &= getattr(batch, name).astype(np.uint64, copy=False) <= LATEST_NS
    good &= (batch.kind <= _LAST_KIND) & (batch.layer <= _LAST_LAYER)
    return None if good.all() else good


def _check_values(batch: EventBatch) -> None:
    for name in ("start", "duration", "bytes"):
        column = representatives(getattr(batch, name))
        if len(column) == 1:
            if not 0 <= int(column[0]) <= LATEST_NS:
                raise ProtocolError(f"column {name} lies outside 0 .. 2**62")
        elif int(column.view(np.uint64).max()) > LATEST_NS:  # as unsigned numbers, negative ones are the largest
            raise ProtocolError(f"column {name} lies outside 0 .. 2**62")
    if int(representatives(batch.kind).max()) > _LAST_KIND or int(representatives(batch.layer).max()) > _LAST_LAYER:
        raise ProtocolError("a kind or layer is not one of the protocol's")
