"""A signal at several resolutions: each level equals a single ring with its bins."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.analyzers.signal.bandwidth import FACTOR, BandwidthSignal
from support.references.naive import Interval, volume_bins

BIN = 100
CAPACITY = 16
LEVELS = 4
REACH = CAPACITY * BIN * FACTOR ** (LEVELS - 1)
Columns = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]

interval = st.builds(
    lambda start, length, volume: (start, start + length, volume),
    st.one_of(st.integers(0, 30 * BIN), st.integers(0, REACH - 400 * BIN)),
    st.one_of(st.just(0), st.integers(0, 2 * BIN), st.integers(0, 300 * BIN)),
    st.integers(0, 2**40),
)


def columns(requests: list[Interval]) -> Columns:
    start, end, volume = zip(*requests, strict=True)
    return np.array(start), np.array(end), np.array(volume)


def pyramid() -> BandwidthSignal:
    return BandwidthSignal(BIN, CAPACITY, LEVELS)


@pytest.mark.slow
@given(st.lists(interval, min_size=1, max_size=20), st.lists(st.integers(0, 20), max_size=4))
@settings(deadline=None, max_examples=200)
def test_every_level_holds_the_newest_bytes_whatever_the_batches(requests: list[Interval], cuts: list[int]) -> None:
    signal = pyramid()
    edges = sorted({0, len(requests), *(min(cut, len(requests)) for cut in cuts)})
    for low, high in itertools.pairwise(edges):
        signal.add(*columns(requests[low:high]))
    assert signal.last_ns is not None
    total = float(sum(volume for *_, volume in requests))
    for level in range(LEVELS):
        bin_ns = BIN * FACTOR**level
        newest = (signal.last_ns - 1) // bin_ns
        truth = volume_bins(requests, bin_ns)
        samples = signal.read((newest - CAPACITY + 1) * bin_ns, (newest + 1) * bin_ns, level)
        for number, value in enumerate(samples.volume, samples.first_ns // bin_ns):
            assert value == pytest.approx(float(truth.get(number, 0)), rel=1e-9, abs=max(1e-6, 1e-13 * total))


@given(st.lists(interval, min_size=1, max_size=20), st.integers(1, 6))
@settings(deadline=None)
def test_no_byte_is_lost_or_doubled(requests: list[Interval], size: int) -> None:
    signal = pyramid()
    for at in range(0, len(requests), size):
        signal.add(*columns(requests[at : at + size]))
    total = float(sum(volume for *_, volume in requests))
    assert signal.volume + signal.late_bytes == pytest.approx(total, rel=1e-9, abs=1e-3)


def test_coarser_level_is_made_when_the_finer_one_is_full_and_lacks_nothing() -> None:
    signal = pyramid()
    for number in range(40):
        signal.add(np.array([number * BIN]), np.array([(number + 1) * BIN]), np.array([number + 1]))
        assert signal.levels == (1 if number < CAPACITY else 2)
    assert signal.read(0, 4000, 0).volume.tolist() == [float(number + 1) for number in range(24, 40)]
    assert signal.read(0, 4000, 1).volume.tolist() == [float(4 * (4 * k + 1) + 6) for k in range(10)]
    assert signal.read(0, 4000, 2).volume.sum() == 40 * 41 / 2


def test_late_request_is_placed_at_the_levels_that_still_reach_back() -> None:
    signal = pyramid()
    later = 50 * BIN
    signal.add(np.array([0]), np.array([BIN]), np.array([1]))
    signal.add(np.array([later]), np.array([later + BIN]), np.array([2]))
    signal.add(np.array([5 * BIN]), np.array([6 * BIN]), np.array([7]))
    assert signal.read(0, later + BIN, 1).volume.sum() == 10
    assert signal.read(0, later + BIN, 0).volume.sum() == 2
    assert signal.late_bytes == 0


def test_stamp_ahead_of_the_present_waits_for_another() -> None:
    second = 10**9
    signal = BandwidthSignal(10**7, 2048, 8)
    ones = np.ones(1, np.int64)
    signal.add(ones * second, ones * 2 * second, ones, now_ns=2 * second)
    signal.add(ones * 3600 * second, ones * 3601 * second, ones, now_ns=3 * second)
    assert signal.last_ns == 2 * second
    signal.add(ones * 4 * second, ones * 5 * second, ones, now_ns=5 * second)
    assert (signal.last_ns, signal.ahead_bytes) == (5 * second, 1)


def test_pause_that_the_present_confirms_is_no_jump() -> None:
    second = 10**9
    signal = BandwidthSignal(10**7, 2048, 8)
    ones = np.ones(1, np.int64)
    signal.add(ones * second, ones * 2 * second, ones, now_ns=2 * second)
    later = 20 * 86400 * second
    signal.add(ones * later, ones * (later + second), ones, now_ns=later + second)
    assert signal.last_ns == later + second


def test_node_whose_clock_is_ahead_is_followed_one_batch_late() -> None:
    second = 10**9
    signal = BandwidthSignal(10**7, 2048, 8)
    ones = np.ones(1, np.int64)
    for phase in range(6):
        now = (1000 + 600 * phase) * second
        signal.add(ones * (now + 300 * second), ones * (now + 301 * second), ones, now_ns=now)
    assert signal.volume == 6
    assert signal.ahead_bytes == 0


def test_memory_is_bounded_however_long_the_job() -> None:
    signal = BandwidthSignal(10**7, 2048, 8)
    start = np.arange(0, 5 * 86400, 7) * 10**9
    for part in np.array_split(start, 50):
        signal.add(part, part + 10**9, np.full(len(part), 1000))
    assert signal.levels == 8
    assert len(pickle.dumps(signal)) < 8 * 2048 * 8 + 10_000
    assert signal.volume + signal.late_bytes == pytest.approx(1000.0 * len(start))
    assert signal.late_bytes < 0.01 * signal.volume


def test_signal_without_levels_is_refused() -> None:
    with pytest.raises(ValueError, match="one level"):
        BandwidthSignal(10, 10, 0)


short = st.builds(
    lambda bin_, at, length, volume: (bin_ * BIN + at, bin_ * BIN + at + length, volume),
    st.one_of(st.integers(0, 12), st.integers(0, 80), st.just(10**9)),
    st.integers(0, BIN - 1),
    st.sampled_from([-5, 0, 1, 20]),
    st.one_of(st.integers(0, 1000), st.just(2**62)),
)


@pytest.mark.parametrize("levels", [1, LEVELS])
@given(st.lists(st.tuples(st.lists(short, min_size=1, max_size=6), st.sampled_from([None, 0, 5000, 10**13]))))
@settings(deadline=None)
def test_few_requests_change_the_signal_as_many_do(
    levels: int, batches: list[tuple[list[Interval], int | None]]
) -> None:
    few, many = (BandwidthSignal(BIN, CAPACITY, levels) for _ in range(2))
    for requests, now_ns in batches:
        few.add_few(*map(list, zip(*requests, strict=True)), now_ns)
        many.add(*columns(requests), now_ns)
        assert pickle.dumps(few) == pickle.dumps(many)
