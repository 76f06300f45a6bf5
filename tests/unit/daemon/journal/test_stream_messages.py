"""Messages of the journal's stream: unpacking reverses packing, and missing or truncated data is reported."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from iotide.daemon.jobs.lifecycle.recorded_steps import Kind
from iotide.daemon.journal.contract import Gap, Moment, Position, Record
from iotide.daemon.journal.jetstream.messages import HEAD_BYTES, Message, Unpacker, claim, head_of, pack
from iotide.daemon.journal.segment_writer import Pending

MOMENT = Moment(1.5, 2.5, 3.5)
FRAMES = st.lists(st.binary(max_size=700), max_size=4)


def pending(frames: list[list[bytes]], first: int = 1) -> list[Pending]:
    return [
        Pending(number, Kind.MESSAGE, b"peer", MOMENT, each, sum(map(len, each)))
        for number, each in enumerate(frames, first)
    ]


def unpacked(payloads: list[bytes], after: int = 0) -> list[Record | Gap]:
    unpacking = Unpacker(Position(1, after))
    return [each for number, payload in enumerate(payloads) for each in unpacking.unpack(payload, f"message {number}")]


def numbers(found: list[Record | Gap]) -> list[int]:
    return [each.position.record for each in found if isinstance(each, Record)]


@given(st.lists(FRAMES, max_size=20), st.integers(100, 2000))
def test_records_come_back_as_they_were_however_large_messages_are(frames: list[list[bytes]], limit: int) -> None:
    records = pending(frames)
    messages = list(pack(records, 3, limit))
    assert all(len(each.payload) <= limit for each in messages)
    found = unpacked([each.payload for each in messages])
    assert found == [
        Record(Position(3, each.number), each.kind, each.sender, each.moment, list(each.frames)) for each in records
    ]
    if messages:
        assert [each.last for each in messages] == sorted(each.last for each in messages)
        assert messages[-1].last == len(records)


@given(st.lists(FRAMES, min_size=1, max_size=20), st.integers(100, 2000), st.data())
def test_each_message_says_which_records_are_whole_with_it(
    frames: list[list[bytes]], limit: int, data: st.DataObject
) -> None:
    messages = list(pack(pending(frames), 3, limit))
    kept = data.draw(st.integers(1, len(messages)))
    assert numbers(unpacked([each.payload for each in messages[:kept]])) == list(range(1, messages[kept - 1].last + 1))


@given(st.lists(FRAMES, min_size=2, max_size=20), st.integers(100, 2000), st.data())
def test_message_that_is_missing_is_told_and_costs_its_records_alone(
    frames: list[list[bytes]], limit: int, data: st.DataObject
) -> None:
    messages = list(pack([*pending(frames)], 3, limit))
    gone = data.draw(st.integers(0, len(messages) - 1))
    found = unpacked([each.payload for number, each in enumerate(messages) if number != gone])
    told = {
        number for each in found if isinstance(each, Gap) for number in range(each.first, each.first + each.missing)
    }
    whole = set(numbers(found))
    assert not told & whole
    last = max(whole, default=0)
    assert told | whole == set(range(1, last + 1))
    assert set(range(1, len(frames) + 1)) - whole <= _of(messages, gone)


def _of(messages: list[Message], gone: int) -> set[int]:
    """Numbers of the records with a part in a message."""
    before = messages[gone - 1].last if gone else 0
    return set(range(before + 1, messages[gone].last + 2))


def test_record_of_a_writer_that_was_fenced_within_it_is_none() -> None:
    first = list(pack(pending([[bytes(500)]]), 1, 200))
    assert len(first) > 2
    second = list(pack(pending([[b"other"]]), 2, 200))
    payloads = [first[0].payload, first[1].payload, claim(2, "host:1:x"), *(each.payload for each in second)]
    (found,) = unpacked(payloads)
    assert isinstance(found, Record)
    assert (found.position, found.frames) == (Position(2, 1), [b"other"])


def test_records_that_a_snapshot_holds_are_passed_over() -> None:
    payloads = [each.payload for each in pack(pending([[b"a"], [b"b"], [b"c"]]), 1, 1000)]
    assert numbers(unpacked(payloads, after=2)) == [3]


def test_foreign_messages_are_ignored() -> None:
    for strange in (b"", b"x" * 3, b"x" * 100, claim(1, "a")[: HEAD_BYTES - 1]):
        assert head_of(strange) is None
        assert unpacked([strange]) == []
