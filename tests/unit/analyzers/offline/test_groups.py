from __future__ import annotations

import numpy as np
import pytest
from iotide.analyzers.offline.per_group_results import MIN_REQUESTS, analyse_groups
from iotide.analyzers.settings import DetectSettings
from iotide.events import EventBatch, Kind, concatenate, make_batch

LEFT_OUT = np.zeros(2, np.uint8)


def writes(starts_s: np.ndarray, volume: int, *, kind: Kind = Kind.WRITE) -> EventBatch:
    start = np.rint(starts_s * 1e9).astype(np.int64)
    return make_batch(len(start), {"start": start, "duration": 100_000_000, "bytes": volume, "kind": kind, "file": 1})


FAST, SLOW = np.arange(0, 60, 1.5), np.arange(0, 60, 4.0)
NAMES = ["fast", "slow", "rare", "reader", "silent"]


def trace() -> tuple[list[tuple[EventBatch, np.ndarray]], list[np.ndarray]]:
    parts = [
        writes(FAST, 1_000),
        writes(SLOW, 50_000),
        writes(np.array([3.0, 9.0]), 7),
        writes(np.arange(0, 60, 2.0), 9_000, kind=Kind.READ),
    ]
    key = np.concatenate([np.full(len(part), number) for number, part in enumerate(parts)])
    batch = concatenate(parts)
    odd = np.arange(len(batch)) % 2 == 1
    # in two batches, so that groups must be merged
    return [(batch.select(odd), LEFT_OUT), (batch.select(~odd), LEFT_OUT)], [key[odd], key[~odd]]


def test_each_group_has_its_own_period_largest_first() -> None:
    batches, keys = trace()
    found = analyse_groups(batches, keys, NAMES, DetectSettings(), "rank", 10)
    assert [row.name for row in found.groups] == ["slow", "reader", "fast", "rare"]
    periods = [row.prediction.period_s.value for row in found.groups[:3] if row.prediction and row.prediction.period_s]
    assert periods == pytest.approx([4.0, 2.0, 1.5], rel=0.01)
    assert [row.requests for row in found.groups] == [len(SLOW), 30, len(FAST), 2]
    assert found.groups[0].bytes_written == 50_000 * len(SLOW)
    assert found.groups[1].bytes_read == 9_000 * 30


def test_small_group_is_reported_as_too_small() -> None:
    batches, keys = trace()
    rare = analyse_groups(batches, keys, NAMES, DetectSettings(), "rank", 10).groups[3]
    assert rare.prediction is None
    assert f"2 of at least {MIN_REQUESTS} requests" in rare.note


def test_mode_decides_what_counts_and_which_groups_there_are() -> None:
    batches, keys = trace()
    found = analyse_groups(batches, keys, NAMES, DetectSettings(mode="read"), "rank", 10)
    assert [row.name for row in found.groups] == ["reader"]


def test_groups_beyond_the_bound_are_counted() -> None:
    batches, keys = trace()
    done: list[tuple[int, int]] = []
    found = analyse_groups(
        batches, keys, NAMES, DetectSettings(), "rank", 2, lambda count, total: done.append((count, total))
    )
    assert len(found.groups) == 2
    assert found.left_out == 2
    assert found.bytes_left_out == 1_000 * len(FAST) + 14
    assert done == [(1, 2), (2, 2)]


def test_groups_are_observed_over_the_whole_trace() -> None:
    early = writes(np.arange(0, 20, 2.0), 1_000)
    late = writes(np.array([60.0]), 5)
    found = analyse_groups([(early, LEFT_OUT), (late, LEFT_OUT)], [np.zeros(10, int), np.ones(1, int)], ["a", "b"],
                           DetectSettings(), "rank", 1)  # fmt: skip
    prediction = found.groups[0].prediction
    assert prediction is not None
    assert prediction.window.end_s == pytest.approx(60.1, abs=0.2)


def test_trace_without_requests_has_no_groups() -> None:
    assert analyse_groups([], [], [], DetectSettings(), "file", 3).groups == []
