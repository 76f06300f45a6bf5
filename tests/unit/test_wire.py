"""The wire codec: what goes in comes out, and nothing but ProtocolError comes of anything else."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.events import Definitions, EventBatch, FileInfo, FileType, ProtocolError, StreamInfo, make_batch
from iotide.events.wire import (
    MAX_BATCH_EVENTS,
    MAX_HEADER_BYTES,
    Ack,
    Batch,
    Bye,
    Heartbeat,
    Hello,
    Reject,
    decode,
    encode,
    encode_batch,
)
from support.batches import batches, rows

DEFINITIONS = Definitions([(1, "write")], [(1, FileInfo("/scratch/ä", FileType.REGULAR, "/scratch", "lustre", True))])


@settings(deadline=None)
@given(batches(min_size=1), st.integers(1, 2**40))
def test_batch_survives_the_wire(batch: EventBatch, seq: int) -> None:
    frames = [bytes(frame) for frame in encode_batch("stream", seq, batch, DEFINITIONS)]
    header, decoded = decode(frames)
    assert isinstance(header, Batch)
    assert (header.stream, header.seq, header.definitions) == ("stream", seq, DEFINITIONS)
    assert decoded is not None
    assert rows(decoded) == rows(batch)


@pytest.mark.parametrize(
    "message",
    [
        Hello(collector="c", stream="s", info=StreamInfo(job="j", source="jsonl", rank=3, clock_offset_ns=None)),
        Heartbeat(collector="c", host="h", counters={"events": 2**60}),
        Bye(stream="s", last_seq=9),
        Ack(stream="s", seq=4, credit=7),
        Reject(stream="s", seq=4, code="gap", reason="4 is missing"),
    ],
)
def test_message_survives_the_wire(message: Hello | Heartbeat | Bye | Ack | Reject) -> None:
    assert decode(encode(message)) == (message, None)


def test_constant_columns_cost_no_frame() -> None:
    frames = encode_batch("s", 1, make_batch(1000, {"start": range(1000), "pid": 7}), Definitions([], []))
    assert len(frames) == 2
    assert sum(len(frame) for frame in frames) < 8200


@settings(deadline=None, max_examples=300)
@given(st.lists(st.binary(max_size=60), max_size=4))
def test_random_frames_are_refused_and_nothing_else(frames: list[bytes]) -> None:
    with pytest.raises(ProtocolError):
        decode(frames)


@settings(deadline=None, max_examples=300)
@given(batches(min_size=1, max_size=3), st.data())
def test_damaged_batch_is_refused_or_still_valid(batch: EventBatch, data: st.DataObject) -> None:
    frames = [bytearray(frame) for frame in encode_batch("s", 1, batch, DEFINITIONS)]
    which = data.draw(st.integers(0, len(frames) - 1))
    at = data.draw(st.integers(0, len(frames[which]) - 1))
    frames[which][at] ^= data.draw(st.integers(1, 255))
    try:
        _, decoded = decode(frames)
    except ProtocolError:
        return
    if decoded is not None:
        assert decoded.duration.min() >= 0
        assert decoded.bytes.min() >= 0


def header(**changes: object) -> bytes:
    fields = {"type": "batch", "stream": "s", "seq": 1, "length": 2, "columns": [("pid", 1)], "definitions": [[], []]}
    return msgspec.msgpack.encode(fields | changes)


@pytest.mark.parametrize(
    ("frames", "rule"),
    [
        ([], "at least one frame"),
        ([bytes(MAX_HEADER_BYTES + 1)], "at most"),
        ([header(length=0)], "1 to"),
        ([header(length=MAX_BATCH_EVENTS + 1)], "1 to"),
        ([header(seq=0)], "seq from 1"),
        ([header(columns=[("speed", 1)])], "no column"),
        ([header(columns=[("pid", 1), ("pid", 2)])], "twice"),
        ([header(columns=[("pid", 2**40)])], "cannot hold"),
        ([header(columns=[("pid", None)])], "needs a frame of 8 bytes"),
        ([header(columns=[("pid", None)]), bytes(7)], "needs a frame of 8 bytes"),
        ([header(), bytes(8)], "more frames"),
        ([header(columns=[("kind", 99)])], "kind or layer"),
        ([header(columns=[("duration", -1)])], "outside"),
        ([header(stream="x" * 500)], "at most 200 characters"),
        ([*encode(Bye(stream="s", last_seq=1)), b"x"], "only a batch"),
    ],
)
def test_broken_rule_is_named(frames: list[bytes], rule: str) -> None:
    with pytest.raises(ProtocolError, match=rule):
        decode(frames)


def test_batch_that_is_too_large_is_not_sent() -> None:
    with pytest.raises(ValueError, match="at most"):
        encode_batch("s", 1, make_batch(MAX_BATCH_EVENTS + 1, {}), Definitions([], []))
