"""Reading of a traced process's memory: rings of records and the log of definitions."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.collectors.sources.preload.records.definition_log import Entry, entries_of
from iotide.collectors.sources.preload.records.lines import split
from iotide.collectors.sources.preload.records.ring_layout import BOUNDS, ENTRY_FILE, RECORD
from iotide.collectors.sources.preload.rings.region import Region
from iotide.events import ProtocolError
from iotide.events.losses import DETAILS, LAST_CHARACTERS, LAST_CHARACTERS_BYTES
from support.tracing.regions import PAGE, MadeRegion, words_lines


@pytest.mark.slow
@settings(deadline=None, max_examples=100)
@given(
    st.lists(st.tuples(st.integers(0, 1), st.integers(0, 5), st.integers(0, 14)), max_size=40),
    st.sampled_from([1, 3, 7, 1 << 20]),
)
def test_records_come_out_once_in_order_and_with_their_words(bursts: list[tuple[int, int, int]], most: int) -> None:
    with MadeRegion(lines=16) as made:
        region = Region(made.descriptor)
        seen: dict[int, list[tuple[int, list[int]]]] = {0: [], 1: []}
        put: dict[int, list[tuple[int, list[int]]]] = {0: [], 1: []}
        made.slots["tid"] = [0, 1]
        for slot, count, length in bursts:
            words = [len(put[slot]) * 100 + place for place in range(length)]
            put[slot] += [(len(put[slot]) + place, words) for place in range(count)]
            made.put(count, slot, words=words)
            while not region.drained:
                for tid, lines in region.drain(most):
                    records, malformed = split(lines)
                    assert malformed == 0
                    for row, at in zip(records.rows, records.at.tolist(), strict=True):
                        seen[tid].append((int(row["start"]), records.words[at : at + int(row["words"])].tolist()))
        assert seen == put
        assert (made.slots["tail"] == made.slots["head"]).all()
        assert (made.slots["taken"] == made.slots["made"]).all()
        assert not region.counters
        region.close()


@pytest.mark.slow
@settings(deadline=None, max_examples=200)
@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 4), st.booleans()), max_size=12))
def test_record_without_the_words_that_it_announces_costs_itself(parts: list[tuple[int, int, bool]]) -> None:
    lines = [np.zeros((0, 8), np.uint64)]
    good, broken = [], 0
    for number, (announced, following, right) in enumerate(parts):
        row = np.zeros(1, RECORD)
        needed = -(-announced // 7)
        following = needed if right else following
        row["start"], row["words"] = number, announced
        lines += [row.view(np.uint64).reshape(1, 8), words_lines([number] * 7 * following)]
        good += [number] if following == needed else []
        broken += following != needed
    records, malformed = split(np.concatenate(lines))
    assert records.rows["start"].tolist() == good
    assert malformed == broken
    for row, at in zip(records.rows, records.at.tolist(), strict=True):
        assert set(records.words[at : at + int(row["words"])].tolist()) <= {int(row["start"])}


def test_record_that_announces_more_words_than_any_call_has_is_malformed() -> None:
    row = np.zeros(1, RECORD)
    row["words"] = 70
    records, malformed = split(np.concatenate([row.view(np.uint64).reshape(1, 8), words_lines([1] * 70)]))
    assert (len(records), malformed) == (0, 1)


def test_words_ahead_of_the_first_record_are_not_taken_for_its_own() -> None:
    row = np.zeros(1, RECORD)
    row["words"] = 2
    lines = [words_lines([1] * 9), row.view(np.uint64).reshape(1, 8), words_lines([5, 6])]
    records, malformed = split(np.concatenate(lines))
    assert malformed == 0
    assert records.words[records.at[0] : records.at[0] + 2].tolist() == [5, 6]


@settings(deadline=None, max_examples=50)
@given(st.lists(st.binary(min_size=1, max_size=300), max_size=60))
def test_definitions_come_out_once_and_in_order_around_the_end_of_the_log(names: list[bytes]) -> None:
    with MadeRegion(calls=False) as made:
        region = Region(made.descriptor)
        for number, name in enumerate(names, 1):
            made.define(number, name)
            assert list(entries_of(b"".join(iter(region.log.take, b"")))) == [Entry(ENTRY_FILE, number, 0, name)]
        region.close()


@pytest.mark.parametrize(
    "wrong",
    [
        {"magic": 1},
        {"layout": 1},
        {"region_bytes": PAGE},
        {"slot_count": 0},
        {"slot_count": 5000},
        {"ring_lines": 3},
        {"ring_lines": 1 << 21},
        {"log_bytes": PAGE + 8},
        {"log_bytes": 1 << 25},
        {"log_tail": 8},
        {"slots_offset": 2**63},
        {"rings_offset": 2**64 - 8},
        {"log_offset": 4097},
    ],
)
def test_header_that_breaks_the_layout_is_refused(made: MadeRegion, wrong: dict[str, int]) -> None:
    made.set(**wrong)
    with pytest.raises(ProtocolError):
        Region(made.descriptor)


def test_memory_that_can_shrink_under_us_is_refused() -> None:
    with MadeRegion(sealed=False) as made, pytest.raises(ProtocolError, match="sealed"):
        Region(made.descriptor)


@pytest.mark.slow
@settings(deadline=None, max_examples=200)
@given(st.data())
def test_random_memory_never_breaks_the_collector(data: st.DataObject) -> None:
    with MadeRegion(slots=2, lines=16) as made:
        region = Region(made.descriptor)
        made.define(1, b"/before")
        made.put(3)
        for _ in range(data.draw(st.integers(1, 6))):
            at = data.draw(st.integers(0, made.size - 8))
            made.memory[at : at + 8] = data.draw(st.sampled_from([b"\xff" * 8, bytes(8), b"\x10" + bytes(7)]))
        made.set(log_head=data.draw(st.integers(0, 2**64 - 1)))
        made.slots["head"][1] = data.draw(st.integers(0, 2**64 - 1))
        for _ in range(3):
            for _, lines in region.drain(1 << 20):
                assert len(lines) <= 16
                split(lines)
            with contextlib.suppress(ProtocolError):
                assert len(list(entries_of(region.log.take()))) <= PAGE // 16
            region.counts()
        region.close()


OF_HEADER = {
    "events_dropped:no_slot": "dropped_no_slot",
    "events_dropped:reentrant": "dropped_reentrant",
    "events_dropped:collector_gone": "lost_before",
    "bytes_dropped:no_slot": "dropped_no_slot_bytes",
    "bytes_dropped:reentrant": "dropped_reentrant_bytes",
    "bytes_dropped:collector_gone": "lost_before_bytes",
    "processes_unheard": "children_unheard",
    "events_dropped:collector_late": "missed_before",
    "events_left_out": "left_out",
    "definitions_dropped": "definitions_dropped",
}
OF_SLOTS = {
    "events_dropped:ring_full": "dropped_full",
    "bytes_dropped:ring_full": "dropped_bytes",
    "events_sampled_out": "sampled_out",
    "bytes_sampled_out": "sampled_out_bytes",
}


@given(st.lists(st.integers(0, 2**64 - 1), min_size=18, max_size=18))
def test_counts_are_those_of_the_header_and_of_all_slots(values: list[int]) -> None:
    with MadeRegion(slots=2) as made:
        region = Region(made.descriptor)
        made.set(**dict(zip(OF_HEADER.values(), values, strict=False)))
        for place, field in enumerate(OF_SLOTS.values()):
            made.slots[field] = values[10 + 2 * place : 12 + 2 * place]
        of_slots = [sum(values[10 + 2 * place : 12 + 2 * place]) % 2**64 for place in range(4)]
        expected = {**dict(zip(OF_HEADER, values, strict=False)), **dict(zip(OF_SLOTS, of_slots, strict=True))}
        assert region.counts() == expected
        region.close()


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
def test_characters_that_are_not_recorded_are_lost_when_the_process_has_ended(streams: int, most: int) -> None:
    with MadeRegion(slots=2) as made:
        region = Region(made.descriptor)
        made.set(unrecorded_streams=streams, unrecorded_bytes=most)
        told = region.counts(ended=True)
        running = region.counts()
        region.close()
    valid = 0 < streams < 2**63 and 0 < most < 2**63
    lost = {LAST_CHARACTERS: streams, LAST_CHARACTERS_BYTES: most} if valid else {}
    assert {name: count for name, count in told.items() if name.startswith(DETAILS)} == lost
    assert told == running | lost


@given(st.lists(st.integers(0, 2**64 - 1), min_size=16, max_size=16))
def test_bounds_that_were_met_are_counted_by_name(met: list[int]) -> None:
    with MadeRegion(slots=2) as made:
        region = Region(made.descriptor)
        made.header["bounds_met"] = met
        counted = {name: count for name, count in region.counts().items() if name.startswith(DETAILS)}
        assert counted == {DETAILS + name: count for name, count in zip(BOUNDS, met, strict=False) if count}
        region.close()
