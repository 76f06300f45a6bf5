from __future__ import annotations

import itertools
import pickle

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from iotide.analyzers.signal.bandwidth import BandwidthSignal
from support.references.naive import Interval, volume_bins

Columns = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]

BIN = 100
interval = st.builds(
    lambda start, length, volume: (start, start + length, volume),
    st.integers(0, 3000),
    st.one_of(st.just(0), st.integers(0, 2 * BIN), st.integers(0, 2500)),
    st.integers(0, 2**40),
)


def columns(requests: list[Interval]) -> Columns:
    start, end, volume = zip(*requests, strict=True)
    return np.array(start), np.array(end), np.array(volume)


def held(signal: BandwidthSignal) -> npt.NDArray[np.float64]:
    assert signal.last_ns is not None
    return signal.read(0, signal.last_ns).volume


@given(st.lists(interval, min_size=1, max_size=30))
@settings(deadline=None)
def test_each_bin_holds_the_bytes_that_moved_in_it(requests: list[Interval]) -> None:
    signal = BandwidthSignal(BIN, 100)
    signal.add(*columns(requests))
    truth = volume_bins(requests, BIN)
    values = held(signal)
    total = sum(volume for _, _, volume in requests)
    for number, value in enumerate(values):
        assert value == pytest.approx(float(truth.get(number, 0)), rel=1e-9, abs=1e-12 * total)
        if number not in truth:
            assert value == 0.0
    assert values.sum() == pytest.approx(total)
    assert signal.volume == pytest.approx(total)


@given(st.lists(interval, min_size=1, max_size=30), st.lists(st.integers(0, 30), max_size=4), st.integers(8, 100))
@settings(deadline=None)
def test_batches_and_whole_trace_give_the_same_bins(requests: list[Interval], cuts: list[int], capacity: int) -> None:
    whole, batched = BandwidthSignal(BIN, 100), BandwidthSignal(BIN, 100)
    whole.add(*columns(requests))
    edges = sorted({0, len(requests), *(min(cut, len(requests)) for cut in cuts)})
    for low, high in itertools.pairwise(edges):
        batched.add(*columns(requests[low:high]))
    # one running sum contains all rates, so a small volume after a large one has the rounding error of the large one
    rounding = max(1e-6, 1e-14 * sum(volume for *_, volume in requests))
    np.testing.assert_allclose(held(batched), held(whole), rtol=1e-9, atol=rounding)
    assert (batched.first_ns, batched.last_ns) == (whole.first_ns, whole.last_ns)


@given(st.lists(interval, min_size=1, max_size=30), st.integers(5, 40))
@settings(deadline=None)
def test_full_ring_keeps_the_newest_bins_and_counts_what_came_too_late(requests: list[Interval], capacity: int) -> None:
    requests.sort(key=lambda row: row[1])
    last = [max(volume_bins([request], BIN)) for request in requests]
    assume(all(after - before <= capacity for before, after in itertools.pairwise(last)))
    signal = BandwidthSignal(BIN, capacity)
    for request in requests:
        signal.add(*columns([request]))
    newest = -1
    expected_late = 0.0
    for request in requests:  # the same rule for one request at a time
        bins = volume_bins([request], BIN)
        newest = max(newest, max(bins))
        expected_late += float(sum(volume for number, volume in bins.items() if number <= newest - capacity))
    assert signal.late_bytes == pytest.approx(expected_late, rel=1e-6, abs=1e-3)
    assert signal.late_bytes + signal.volume == pytest.approx(sum(volume for _, _, volume in requests))
    assert len(signal) <= capacity
    truth = volume_bins(requests, BIN)
    values = signal.read((newest - capacity + 1) * BIN, (newest + 1) * BIN)
    begin = values.first_ns // BIN
    for number, value in enumerate(values.volume, begin):
        # requests in order are completely in the ring
        assert value == pytest.approx(float(truth.get(number, 0)), rel=1e-6, abs=1e-3)


def test_late_request_is_placed_by_its_time() -> None:
    signal = BandwidthSignal(BIN, 50)
    signal.add(np.array([2000]), np.array([2050]), np.array([7]))
    signal.add(np.array([500]), np.array([600]), np.array([5]))
    assert signal.first_ns == 500
    assert signal.read(500, 600).volume.tolist() == [5.0]
    assert signal.read(2000, 2100).volume.tolist() == [7.0]


def test_request_longer_than_the_ring_leaves_its_newest_part() -> None:
    signal = BandwidthSignal(BIN, 10)
    signal.add(np.array([0]), np.array([100 * BIN]), np.array([1000]))
    assert held(signal).tolist() == [10.0] * 10
    assert signal.late_bytes == pytest.approx(900)


def test_steep_request_across_a_bin_border_leaves_no_residue() -> None:
    signal = BandwidthSignal(BIN, 100)
    signal.add(np.array([99, 0]), np.array([101, 5000]), np.array([2**50, 50]))
    values = held(signal)
    assert values[:2].sum() == pytest.approx(2**50)
    assert values[2:] == pytest.approx(np.ones(48))


def test_one_stamp_in_the_far_future_does_not_wipe_the_ring() -> None:
    signal = BandwidthSignal(BIN, 100)
    signal.add(np.array([1000]), np.array([1100]), np.array([5]))
    signal.add(np.array([1200, 2**60]), np.array([1300, 2**60 + 1]), np.array([6, 7]))
    assert signal.read(1000, 1300).volume.tolist() == [5.0, 0.0, 6.0]
    assert signal.ahead_bytes == 7


def test_lone_batch_from_the_far_future_is_left_out_once_the_signal_goes_on() -> None:
    signal = BandwidthSignal(BIN, 100)
    signal.add(np.array([1000]), np.array([1100]), np.array([5]))
    signal.add(np.array([2**60]), np.array([2**60 + 1]), np.array([7]))
    signal.add(np.array([1100]), np.array([1200]), np.array([6]))
    assert signal.read(1000, 1200).volume.tolist() == [5.0, 6.0]
    assert signal.ahead_bytes == 7


def test_signal_goes_on_after_a_pause_longer_than_the_ring() -> None:
    signal = BandwidthSignal(BIN, 100)
    later = 5000 * BIN
    signal.add(np.array([1000]), np.array([1100]), np.array([5]))
    signal.add(np.array([later]), np.array([later + BIN]), np.array([6]))
    signal.add(np.array([later + BIN]), np.array([later + 2 * BIN]), np.array([7]))
    assert signal.read(later, later + 2 * BIN).volume.tolist() == [6.0, 7.0]
    assert signal.ahead_bytes == 0
    assert signal.read(0, 2000).volume.sum() == 0


def test_trace_longer_than_the_ring_in_one_batch_keeps_its_end() -> None:
    signal = BandwidthSignal(BIN, 20)
    start = np.arange(0, 1000) * BIN
    signal.add(start, start + BIN, np.ones(1000, np.int64))
    assert held(signal).tolist() == [1.0] * 20
    assert signal.ahead_bytes == 0
    assert signal.late_bytes == pytest.approx(980)


def test_first_batch_is_anchored_where_most_requests_are() -> None:
    signal = BandwidthSignal(BIN, 20)
    start = np.array([0, *range(10**9, 10**9 + 500, BIN), 2**55])
    signal.add(start, start + BIN, np.ones(len(start), np.int64))
    assert signal.last_ns == 10**9 + 500
    assert held(signal).sum() == 5.0
    assert (signal.late_bytes, signal.ahead_bytes) == (1.0, 1.0)


def test_reading_is_bounded_and_zero_where_nothing_moved() -> None:
    signal = BandwidthSignal(BIN, 10)
    assert signal.read(0, 1000).volume.tolist() == [0.0] * 10
    assert len(signal.read(0, 10**15).volume) == 10
    assert len(signal.read(500, 400).volume) == 0
    signal.add(np.array([0]), np.array([100]), np.array([3]))
    samples = signal.read(0, 250)
    assert samples.volume.tolist() == [3.0, 0.0, 0.0]
    assert samples.bandwidth[0] == pytest.approx(3 / 1e-7)
    assert samples.end_ns == 300


def test_empty_batch_changes_nothing() -> None:
    signal = BandwidthSignal(BIN, 10)
    nothing = np.array([], np.int64)
    signal.add(nothing, nothing, nothing)
    assert signal.first_ns is None
    assert signal.last_ns is None


def test_state_survives_pickling() -> None:
    signal = BandwidthSignal(BIN, 10)
    signal.add(np.array([0]), np.array([450]), np.array([9]))
    copy = pickle.loads(pickle.dumps(signal))
    for each in (signal, copy):
        each.add(np.array([450]), np.array([700]), np.array([5]))
    assert held(copy).tolist() == held(signal).tolist()


def test_memory_grows_with_the_signal_only() -> None:
    signal = BandwidthSignal(BIN, 1_000_000)
    signal.add(np.array([0]), np.array([1000]), np.array([9]))
    assert len(pickle.dumps(signal)) < 10_000


def test_ring_without_room_is_refused() -> None:
    with pytest.raises(ValueError, match="at least"):
        BandwidthSignal(0, 10)
