"""The wire codec: decoding reverses encoding, and any other input raises a protocol error."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.events import (
    COLUMNS,
    Definitions,
    EventBatch,
    FileInfo,
    FileType,
    HandleInfo,
    Layer,
    ProtocolError,
    StreamInfo,
    make_batch,
)
from iotide.events.network.wire import (
    MAX_BATCH_EVENTS,
    MAX_HEADER_BYTES,
    MAX_STREAM_ID,
    Ack,
    Batch,
    Bye,
    Frame,
    Heartbeat,
    Hello,
    Message,
    Reject,
    decode,
    encode,
    encode_batch,
)
from support.jobs.batches import batches, rows

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
SEQ = st.integers(0, 2**62)
DEFINITIONS = st.builds(
    Definitions,
    st.lists(st.tuples(SEQ, TEXT), max_size=3),
    st.lists(
        st.tuples(
            SEQ,
            st.builds(FileInfo, TEXT, st.sampled_from(FileType), TEXT, TEXT, st.none() | st.booleans(), SEQ, SEQ, TEXT),
        ),
        max_size=3,
    ),
    st.lists(st.tuples(SEQ, st.builds(HandleInfo, SEQ, SEQ, st.sampled_from(Layer), TEXT, SEQ, SEQ)), max_size=3),
    st.lists(st.tuples(SEQ, TEXT), max_size=3),
)
INFO = st.builds(
    StreamInfo, job=TEXT, source=TEXT, command=TEXT, rank=st.integers(-1, 2**31), clock_offset_ns=st.none() | SEQ
)
PLAIN_MESSAGES: st.SearchStrategy[Hello | Heartbeat | Bye | Ack | Reject] = st.one_of(
    st.builds(Hello, collector=TEXT, stream=TEXT, info=INFO, next_seq=SEQ, definitions=DEFINITIONS),
    st.builds(Heartbeat, collector=TEXT, host=TEXT, counters=st.dictionaries(TEXT, SEQ, max_size=3)),
    st.builds(Bye, stream=TEXT, last_seq=SEQ),
    st.builds(Ack, stream=TEXT, seq=SEQ, credit=SEQ),
    st.builds(Reject, stream=TEXT, seq=SEQ, code=TEXT, reason=TEXT),
)


def flat(frames: list[Frame]) -> list[bytes]:
    return [bytes(frame) for frame in frames]


def header(**changes: object) -> bytes:
    """A valid header of two events, with the given changes."""
    fields = {"type": "batch", "stream": "s", "seq": 1, "length": 2, "columns": [("start", 5)]} | changes
    return msgspec.msgpack.encode(fields)


@settings(deadline=None)
@given(PLAIN_MESSAGES)
def test_message_without_events_comes_back(message: Hello | Heartbeat | Bye | Ack | Reject) -> None:
    assert decode(flat(encode(message))) == (message, None)


@pytest.mark.slow
@settings(deadline=None)
@given(TEXT, st.integers(1, 2**62), batches(min_size=1), DEFINITIONS)
def test_batch_comes_back_with_its_definitions(
    stream: str, seq: int, batch: EventBatch, definitions: Definitions
) -> None:
    info = StreamInfo(job="job", source="test", rank=seq % 8)
    message, events = decode(flat(encode_batch(stream, seq, batch, definitions, info if seq % 2 else None)))
    assert isinstance(message, Batch)
    assert message.info == (info if seq % 2 else None)
    assert events is not None
    assert (message.stream, message.seq, message.length) == (stream, seq, len(batch))
    assert message.definitions == definitions
    assert rows(events) == rows(batch)
    assert {name: column.dtype for name, column in events.columns().items()} == {
        name: dtype for name, (dtype, _) in COLUMNS.items()
    }


def decode_or_refuse(frames: list[bytes]) -> Message | None:
    try:
        message, events = decode(frames)
    except ProtocolError as error:
        assert str(error)  # noqa: PT017  (a damaged frame may still be valid)
        return None
    assert isinstance(message, Batch) == (events is not None)
    return message


@pytest.mark.slow
@settings(deadline=None, max_examples=300)
@given(st.lists(st.binary(max_size=60), max_size=4))
def test_random_frames_are_decoded_or_refused(frames: list[bytes]) -> None:
    decode_or_refuse(frames)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | TEXT | st.binary(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=8,
)
FIELDS = ["stream", "seq", "length", "columns", "definitions", "version", "collector", "info", "next_seq", "counters"]


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(
    st.sampled_from(["hello", "batch", "heartbeat", "bye", "ack", "reject"]),
    st.dictionaries(st.sampled_from(FIELDS), ANYTHING),
    st.lists(st.binary(max_size=16), max_size=3),
)
def test_headers_with_anything_in_their_fields_are_decoded_or_refused(
    tag: str, fields: dict[str, object], columns: list[bytes]
) -> None:
    base = {"stream": "s", "seq": 1, "length": 2, "columns": [("start", None)], "credit": 1, "code": "", "reason": ""}
    decode_or_refuse([msgspec.msgpack.encode(base | fields | {"type": tag}), *columns])


@pytest.mark.slow
@settings(deadline=None, max_examples=300)
@given(batches(min_size=1), DEFINITIONS, st.data())
def test_damaged_batch_is_decoded_or_refused(batch: EventBatch, definitions: Definitions, data: st.DataObject) -> None:
    frames = flat(encode_batch("s", 1, batch, definitions))
    at = data.draw(st.integers(0, len(frames) - 1))
    place = data.draw(st.integers(0, len(frames[at]) - 1))
    damage = data.draw(st.binary(max_size=3))
    frames[at] = frames[at][:place] + damage + frames[at][place + len(damage) :]
    if data.draw(st.booleans()):
        frames[at] = frames[at][:place]
    decode_or_refuse(frames)


@pytest.mark.parametrize(
    ("frames", "rule"),
    [
        ([], "at least one frame"),
        ([b""], "not a message"),
        ([b"\x91" * 100_000], "not a message"),
        ([bytes(MAX_HEADER_BYTES + 1)], "at most"),
        ([*flat(encode(Heartbeat())), b"x"], "only a batch"),
        (flat(encode(Bye(stream="s" * (MAX_STREAM_ID + 1), last_seq=0))), "characters"),
        ([header(type="shout")], "not a message"),
        ([header(seq=0)], "seq from 1"),
        ([header(length=MAX_BATCH_EVENTS + 1)], f"{MAX_BATCH_EVENTS} events"),
        ([header(length=-1)], "events"),
        ([header(columns=[("speed", 1)])], "no column"),
        ([header(columns=[("start", 1), ("start", 2)])], "stands twice"),
        ([header(columns=[("depth", 256)])], "cannot hold 256"),
        ([header(columns=[("start", None)])], "16 bytes"),
        ([header(columns=[("start", None)]), bytes(15)], "16 bytes"),
        ([header(), bytes(16)], "more frames"),
        ([header(columns=[("bytes", -1)])], "outside"),
        ([header(columns=[("start", 2**62 + 1)])], "outside"),
        ([header(columns=[("kind", 200)])], "kind or layer"),
    ],
)
def test_broken_rule_is_named(frames: list[bytes], rule: str) -> None:
    with pytest.raises(ProtocolError, match=rule):
        decode(frames)


def test_longer_batch_is_not_encoded() -> None:
    with pytest.raises(ValueError, match="at most"):
        encode_batch("s", 1, make_batch(MAX_BATCH_EVENTS + 1, {}), Definitions())


def test_constant_columns_cost_no_frame_and_unknown_ones_nothing() -> None:
    frames = encode_batch("s", 1, make_batch(4096, {"start": np.arange(4096), "pid": 7}), Definitions())
    assert [len(frame) for frame in frames[1:]] == [8 * 4096]
    assert len(frames[0]) < 100


def test_columns_of_few_events_travel_in_the_header() -> None:
    batch = make_batch(8, {"start": np.arange(8), "call": 1})
    (header,) = flat(encode_batch("s", 1, batch, Definitions()))
    _, events = decode([header])
    assert events is not None
    assert events.start.tolist() == list(range(8))
    assert events.call.tolist() == [1] * 8


def test_columns_in_the_header_have_their_length_checked() -> None:
    header = Batch(stream="s", seq=1, length=3, columns=[("start", bytes(23))])
    with pytest.raises(ProtocolError, match="column start needs 24 bytes, not 23"):
        decode([msgspec.msgpack.encode(header)])


def test_decoded_columns_share_the_memory_of_the_frames() -> None:
    frames = flat(encode_batch("s", 1, make_batch(800, {"start": np.arange(800)}), Definitions()))
    _, events = decode(frames)
    assert events is not None
    assert np.shares_memory(events.start, np.frombuffer(frames[1], np.int64))
    assert not events.start.flags.writeable
