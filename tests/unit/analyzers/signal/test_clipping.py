from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.analyzers.signal.selection import clip
from iotide.events import EventBatch, Kind, make_batch

event = st.tuples(st.integers(0, 1000), st.one_of(st.just(0), st.integers(1, 400)), st.integers(0, 10**12))
events = st.lists(event, min_size=1, max_size=20)


def batch_of(rows: list[tuple[int, int, int]]) -> EventBatch:
    start, duration, volume = (np.array(column) for column in zip(*rows, strict=True))
    return make_batch(
        len(rows),
        {"start": start, "duration": duration, "bytes": volume, "kind": Kind.WRITE, "file": np.arange(len(rows))},
    )


@given(events, st.lists(st.integers(0, 1500), max_size=5))
@settings(deadline=None)
def test_adjacent_windows_share_all_bytes_out(rows: list[tuple[int, int, int]], cuts: list[int]) -> None:
    batch = batch_of(rows)
    edges = [0, *sorted(cuts), 1500]
    parts = [clip(batch, low, high) for low, high in itertools.pairwise(edges)]
    for number, (_, _, volume) in enumerate(rows):
        shares = [int(part.bytes[part.file == number].sum()) for part in parts]
        assert sum(shares) == volume
        assert min(shares) >= 0


@given(events, st.integers(0, 1400), st.integers(1, 500))
@settings(deadline=None)
def test_shares_are_those_of_the_time_within(rows: list[tuple[int, int, int]], low: int, length: int) -> None:
    part = clip(batch_of(rows), low, low + length)
    kept = dict(zip(part.file.tolist(), range(len(part)), strict=True))
    for number, (start, duration, volume) in enumerate(rows):
        first, last = max(start, low), min(start + duration, low + length)
        if duration == 0:
            assert (number in kept) == (low <= start < low + length)
        elif first < last:
            row = kept[number]
            assert (part.start[row], part.end[row]) == (first, last)
            assert abs(int(part.bytes[row]) - volume * (last - first) / duration) <= 1
        else:
            assert number not in kept


def test_window_around_everything_changes_nothing() -> None:
    batch = batch_of([(5, 10, 100), (7, 0, 3)])
    assert clip(batch, 0, 100) is batch


def test_window_beside_everything_is_empty() -> None:
    assert len(clip(batch_of([(5, 10, 100)]), 15, 30)) == 0
