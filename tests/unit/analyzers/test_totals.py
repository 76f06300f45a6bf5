from __future__ import annotations

import pickle
from collections import defaultdict

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.analyzers.file_groups import READS, WRITES
from iotide.analyzers.totals import OTHER, Totals, mapped_for_reading, mapped_stores
from iotide.events import EventBatch, Flag, Kind, Layer, concatenate, make_batch
from support.jobs.batches import rows

ROWS = st.lists(
    st.tuples(
        st.sampled_from([Kind.OTHER, Kind.SYNC]),
        st.sampled_from(
            [Flag.BLOCKING, Flag.STORES, Flag.MAPS | Flag.FAILED, Flag.STORES | Flag.BLOCKING, Flag.LOADS, Flag.MAPS]
        ),
        st.integers(0, 2**45),
        st.integers(0, 1),
        st.integers(0, 4),
    ),
    min_size=1,
    max_size=20,
)
LEFT_OUT = np.array([0, READS, WRITES, READS | WRITES], np.uint8)
event = st.tuples(
    st.integers(0, 6),  # call
    st.integers(0, 9),  # file
    st.sampled_from([Kind.READ, Kind.WRITE, Kind.CREATE]),
    st.integers(0, 2**57),  # bytes: beyond the exact integers of a float
    st.integers(0, 10**12),  # duration
    st.integers(0, 2),  # errno
    st.integers(0, 1),  # depth
)


def batch_of(events: list[tuple[int, ...]]) -> EventBatch:
    names = ("call", "file", "kind", "bytes", "duration", "errno", "depth")
    columns = {name: np.array([row[i] for row in events]) for i, name in enumerate(names)}
    return make_batch(len(events), {**columns, "layer": Layer.POSIX})


@given(st.lists(event, max_size=7 * 3), st.integers(0, 20))
@settings(deadline=None)
def test_sums_are_exact_in_any_batching(events: list[tuple[int, ...]], cut: int) -> None:
    totals = Totals()
    for part in (events[:cut], events[cut:]):
        totals.update(batch_of(part))
    calls: dict[int, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    files: dict[int, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for call, file, kind, moved, duration, errno, depth in events:
        for i, value in enumerate((1, int(errno != 0), moved, duration)):
            calls[call][i] += value
        if depth == 0:
            read, written = moved * (kind == Kind.READ), moved * (kind == Kind.WRITE)
            for i, value in enumerate((1, read, written, duration)):
                files[file][i] += value
    found_calls = {row.number: [row.calls, row.failed, row.bytes, round(row.seconds * 1e9)] for row in totals.calls()}
    assert {key: value[:3] for key, value in found_calls.items()} == {key: value[:3] for key, value in calls.items()}
    found_files = {row.number: [row.calls, row.bytes_read, row.bytes_written] for row in totals.files()}
    assert found_files == {key: value[:3] for key, value in files.items()}
    assert totals.events == len(events)
    assert totals.bytes_read == sum(value[1] for value in files.values())
    assert totals.bytes_written == sum(value[2] for value in files.values())


def test_largest_come_first() -> None:
    totals = Totals()
    totals.update(
        make_batch(4, {"call": np.array([1, 2, 3, 3]), "file": 1, "bytes": np.array([5, 9, 0, 0]), "kind": 7})
    )
    assert [row.number for row in totals.calls()] == [2, 1, 3]
    assert [row.number for row in totals.calls(top=1)] == [2]


def test_ids_beyond_the_bound_share_a_slot_and_are_counted() -> None:
    totals = Totals(max_files=3)
    totals.update(make_batch(5, {"file": np.array([1, 2, 3, 4, 2**32 - 1]), "bytes": 10, "kind": Kind.WRITE}))
    written = {row.number: row.bytes_written for row in totals.files()}
    assert written == {1: 10, 2: 10, 3: 10, OTHER: 20}
    assert totals.overflowed == 2
    assert totals.bytes_written == 50


def test_failures_are_told_by_errno_or_flag() -> None:
    totals = Totals()
    totals.update(make_batch(3, {"call": 1, "errno": np.array([0, 2, 0]), "flags": np.array([0, 0, Flag.FAILED])}))
    (row,) = totals.calls()
    assert (row.calls, row.failed) == (3, 2)


def test_call_keeps_its_layer() -> None:
    totals = Totals()
    totals.update(make_batch(2, {"call": np.array([1, 2]), "layer": np.array([Layer.MPIIO, Layer.STDIO])}))
    assert {row.number: row.layer for row in totals.calls()} == {1: Layer.MPIIO, 2: Layer.STDIO}


def test_empty_batch_changes_nothing_and_state_survives_pickling() -> None:
    totals = Totals()
    totals.update(make_batch(0, {}))
    assert totals.calls() == []
    totals.update(make_batch(2, {"call": 1, "file": 2, "bytes": 3, "kind": Kind.READ}))
    copy = pickle.loads(pickle.dumps(totals))
    copy.update(make_batch(1, {"call": 7, "file": 9, "bytes": 4, "kind": Kind.READ}))
    assert [row.bytes_read for row in copy.files()] == [6, 4]
    assert [row.bytes_read for row in totals.files()] == [6]


def test_constant_columns_are_summed_like_others() -> None:
    batch = make_batch(3, {"call": 4, "file": 4, "bytes": 10, "kind": Kind.WRITE, "duration": 5})
    assert len(rows(concatenate([batch, batch]))) == 6
    totals = Totals()
    totals.update(concatenate([batch, batch]))
    (row,) = totals.files()
    assert (row.calls, row.bytes_written, row.seconds) == (6, 60, 30e-9)


def test_sums_beyond_64_bits_stop_and_do_not_turn_negative() -> None:
    totals = Totals()
    for moved in (
        2**62,
        2**62,
        7,
    ):  # such large counts come from broken events
        totals.update(batch_of([(1, 1, Kind.WRITE, moved, 2**62, 0, 0)] * 4 + [(2, 2, Kind.READ, 5, 1, 0, 0)]))
    assert totals.bytes_written == 2**62  # maximum of 64-bit encoders
    assert totals.bytes_read == 15
    first, second = totals.calls()
    assert (first.number, first.calls, second.bytes) == (1, 12, 15)
    assert 2**62 <= first.bytes < 2**63
    assert first.seconds > 0
    assert [row.number for row in totals.files()] == [1, 2]


@given(ROWS, st.integers(0, 20))
def test_mappings_and_what_was_to_be_written_back_are_summed_apart(
    rows: list[tuple[Kind, Flag, int, int, int]], cut: int
) -> None:
    kind, flags, requested, depth, file = (np.array([row[column] for row in rows]) for column in range(5))
    batch = make_batch(len(rows), {"kind": kind, "flags": flags, "requested": requested, "depth": depth, "file": file})
    mapped = flushed = readable = 0
    files = set()
    for kind_, flags_, requested_, depth_, file_ in rows:
        counts = file_ > 3 or not LEFT_OUT[file_] & WRITES
        if flags_ & Flag.STORES and not flags_ & Flag.FAILED and not depth_ and counts:
            mapped += requested_ if kind_ != Kind.SYNC else 0
            flushed += requested_ if kind_ == Kind.SYNC else 0
        counts = file_ > 3 or not LEFT_OUT[file_] & READS
        if flags_ & Flag.LOADS and not flags_ & Flag.FAILED and not depth_ and counts:
            readable += requested_
            files |= {file_} if requested_ else set()
    assert mapped_stores(batch, LEFT_OUT) == (mapped, flushed)
    found, lengths = mapped_for_reading(batch, LEFT_OUT)
    assert lengths.sum() == readable
    assert {file for file, length in zip(found.tolist(), lengths.tolist(), strict=True) if length} == files
    totals = Totals()
    for part in (slice(None, cut), slice(cut, None)):
        totals.update(batch.select(part), LEFT_OUT)
    assert (totals.mapped, totals.flushed) == (mapped, flushed)
    assert totals.bytes_written == 0
    assert totals.mapped_for_reading(LEFT_OUT) == (readable, len(files))


def test_mapped_files_beyond_the_bound_are_one() -> None:
    totals = Totals(max_files=2)
    totals.update(make_batch(4, {"flags": Flag.LOADS, "requested": 100, "file": np.arange(4)}))
    assert totals.mapped_for_reading(np.zeros(0, np.uint8)) == (400, 3)
