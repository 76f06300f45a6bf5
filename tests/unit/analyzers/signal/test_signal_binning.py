"""Requests in bins: the compiled helper equals NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.analyzers.signal import binning


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(
    st.integers(0, 2**32),
    st.integers(1, 1500),
    st.sampled_from([1, 7, 10_000_000]),
    st.sampled_from([1, 10, 10**6, 10**10]),
    st.sampled_from([-3 * 10**7, 0, 1_700_000_000 * 10**9]),
    st.booleans(),
    st.booleans(),
)
def test_kernel_bins_as_numpy_does(
    seed: int, count: int, bin_ns: int, longest: int, begin: int, is_constant: bool, cuts: bool
) -> None:
    rng = np.random.default_rng(seed)
    start = begin + np.cumsum(rng.integers(-3, 20 * bin_ns // count + 5, count))
    end = start + rng.integers(-1, min(longest, 400 * bin_ns) + 1, count)
    volume = np.broadcast_to(np.int64(64), (count,)) if is_constant else rng.integers(0, 2**40, count)

    def made() -> tuple[list[int], list[int], list[float]]:
        latest = np.maximum(start, end)
        first, last = binning.bin_range(start, latest, bin_ns)
        lowest = int(first.min()) + (3 if cuts else 0)
        bins = max(int(last.max()) - lowest + 1, 0)
        spread = binning.spread(start, latest, volume, first, last, bin_ns=bin_ns, lowest=lowest, bins=bins)
        return first.tolist(), last.tolist(), spread.tolist()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(binning, "native", lambda: None)
        expected = made()
    assert made() == expected
