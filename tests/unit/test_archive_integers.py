"""Integers as bytes: the compiled kernel against NumPy, and back again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.events.archive import integers


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(
    st.integers(0, 2**32),
    st.integers(1, 9000),
    st.sampled_from([0, 1, 200, 70_000, 2**40, 2**62]),
    st.sampled_from([0, 10**18, -(2**63), 2**63 - 1]),
)
def test_kernel_packs_what_numpy_packs(seed: int, count: int, most: int, first: int) -> None:
    rng = np.random.default_rng(seed)
    with np.errstate(over="ignore"):
        values = np.cumsum(np.concatenate([[first], rng.integers(-most, most, count - 1, endpoint=True)]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(integers, "kernel", lambda: None)
        expected = integers.pack(values)
    assert integers.pack(values) == expected
    assert integers.unpack(expected, count, "here").tolist() == values.tolist()
    assert integers.pack(np.repeat(values, 2)[::2]) == expected
