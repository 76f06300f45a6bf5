"""A ring equals a plain mapping from indices to bytes, however many of its bins have bytes."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.analyzers.pipeline.snapshots import restore, schema, snapshot
from iotide.analyzers.signal.ring import Ring

BIN = 100


class PlainRing:
    """Bytes by index of the bin."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.volume: dict[int, float] = {}
        self.oldest, self.newest = 0, -1

    def add(self, lowest: int, fresh: list[float], newest: int) -> None:
        is_empty = self.newest < self.oldest
        if not fresh and is_empty:
            return
        reached = max(newest, self.newest, lowest + len(fresh) - 1)
        floor = max(max(newest, self.newest) - self.capacity + 1, 0)
        given_bins = [(lowest + at, each) for at, each in enumerate(fresh) if lowest + at >= floor]
        if not given_bins and is_empty:
            return
        for place, each in given_bins:
            self.volume[place] = self.volume.get(place, 0.0) + each
        lows = [place for place, _ in given_bins]
        self.oldest = min([*lows[:1], *([] if is_empty else [self.oldest])])
        self.newest = reached
        self.oldest = max(self.oldest, self.newest - self.capacity + 1)
        self.volume = {place: each for place, each in self.volume.items() if place >= self.oldest}

    def read(self, low: int, high: int) -> list[float]:
        return [self.volume.get(place, 0.0) for place in range(low, high)]


# length of an addition, share of its bins with bytes, its start relative to the newest bin, bins beyond its end, seed
addition = st.tuples(
    st.one_of(st.integers(0, 3), st.integers(0, 60), st.integers(0, 3000)),
    st.sampled_from([0.0, 0.01, 0.1, 0.6, 1.0]),
    st.one_of(st.integers(-5, 5), st.integers(-3000, 3000), st.integers(-100, 20_000)),
    st.sampled_from([0, 0, 1, 700]),
    st.integers(0, 2**32 - 1),
)


def fresh_of(length: int, share: float, seed: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    random = np.random.default_rng(seed)
    return np.where(random.random(length) < share, random.integers(1, 2**40, length) / 7, 0.0)


@given(st.sampled_from([1, 16, 300, 2048, 100_000]), st.lists(addition, max_size=12))
@settings(deadline=None)
def test_ring_holds_the_bytes_of_its_newest_bins(
    capacity: int, additions: list[tuple[int, float, int, int, int]]
) -> None:
    ring, plain = Ring(BIN, capacity), PlainRing(capacity)
    for length, share, ahead, beyond, seed in additions:
        fresh = fresh_of(length, share, seed)
        lowest = max(ring.newest + ahead, 0)
        newest = lowest + length - 1 + beyond
        ring.add(lowest, fresh.copy(), newest)
        plain.add(lowest, fresh.tolist(), newest)
        assert (len(ring), ring.newest) == (plain.newest - plain.oldest + 1, plain.newest)
        low = max(ring.newest - capacity - 3, 0)
        for begin, end in (
            (low, ring.newest + 4),
            (ring.oldest, ring.newest + 1),
            (low + 7, max(ring.newest - 9, low + 7)),
        ):
            assert ring.read(begin, end).tolist() == plain.read(begin, end)
        copies = pickle.loads(pickle.dumps(ring)), restore(snapshot(ring))
        for copy in copies:
            assert (copy.oldest, copy.newest) == (ring.oldest, ring.newest)
            assert copy.read(low, ring.newest + 4).tolist() == ring.read(low, ring.newest + 4).tolist()
        ring = copies[seed % 2] if seed % 3 else ring


def stored_bytes(ring: Ring) -> int:
    return sum(each.nbytes for name in Ring.__slots__ if isinstance(each := getattr(ring, name), np.ndarray))


def test_empty_bins_take_no_memory() -> None:
    ring = Ring(BIN, 2048)
    assert stored_bytes(ring) == 0
    for burst in range(200):
        ring.add(1000 * burst, np.ones(2), 1000 * burst + 1)
    assert ring.newest - ring.oldest > 1000
    assert stored_bytes(ring) == 2 * 3 * 16  # the last three bursts


def test_ring_full_of_bytes_takes_eight_bytes_a_bin_until_its_bins_are_empty_again() -> None:
    ring = Ring(BIN, 2048)
    for at in range(0, 8192, 16):
        ring.add(at, np.ones(16), at + 15)
    assert stored_bytes(ring) == 8 * 2048
    for at in range(9000, 16_000, 1000):
        ring.add(at, np.ones(1), at)
    assert stored_bytes(ring) < 100


def test_saved_state_of_a_ring_has_all_of_its_bins() -> None:
    """Releases before this form in memory read it, and the other way round."""
    ring = Ring(BIN, 2048)
    ring.add(5000, np.array([3.0, 0.0, 4.0]), 5002)
    assert schema(snapshot(ring)) == {"analyzers.signal.ring:Ring": ["_bins", "bin_ns", "capacity", "newest", "oldest"]}
    state = ring.__getstate__()
    bins = state["_bins"]
    assert isinstance(bins, np.ndarray)
    assert [bins[place % len(bins)] for place in range(5000, 5003)] == [3.0, 0.0, 4.0]


@pytest.mark.parametrize("size", [256, 512])
def test_bins_of_an_earlier_release_are_read(size: int) -> None:
    """Its array of bins doubled as needed, so its length does not follow from the number of bins."""
    bins = np.zeros(size)
    bins[np.arange(5000, 5003) % size] = [3.0, 0.0, 4.0]
    ring = Ring.__new__(Ring)
    ring.__setstate__({"bin_ns": BIN, "capacity": 2048, "oldest": 5000, "newest": 5002, "_bins": bins})
    assert ring.read(4999, 5004).tolist() == [0.0, 3.0, 0.0, 4.0, 0.0]
    ring.add(5002, np.array([1.0]), 5002)
    assert ring.read(5002, 5003).tolist() == [5.0]
