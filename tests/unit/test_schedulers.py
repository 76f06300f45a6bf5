"""Policies of I/O scheduling and the fluid model against cases worked out by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from iotide.clients.schedulers.fluid import Job, simulate
from iotide.clients.schedulers.policies import Request, fair, fcfs, lowest_yield, set10, volume_yield

POLICIES = [fair, fcfs, set10, lowest_yield, volume_yield(0), volume_yield(10)]
REQUESTS = st.lists(
    st.builds(
        Request,
        since=st.floats(0, 1e4),
        remaining=st.floats(1, 1e9),
        limit=st.floats(0.1, 200),
        period=st.none() | st.floats(0.1, 1e4),
        progress=st.floats(0.001, 1),
    ),
    min_size=1,
    max_size=12,
)


@pytest.mark.parametrize("policy", POLICIES)
@given(requests=REQUESTS)
def test_all_bandwidth_that_jobs_can_take_is_given_and_no_more(policy, requests) -> None:  # type: ignore[no-untyped-def]
    shares = policy(requests, 100.0)
    assert all(0 <= share <= r.limit * (1 + 1e-9) for share, r in zip(shares, requests, strict=True))
    assert sum(shares) == pytest.approx(min(100.0, sum(r.limit for r in requests)))


@pytest.mark.parametrize("policy", POLICIES)
def test_a_job_alone_keeps_its_own_pace(policy) -> None:  # type: ignore[no-untyped-def]
    job = Job(compute=8, volume=200, iterations=5, limit=100)
    (outcome,) = simulate([job], policy, 100.0)
    assert outcome.slowdown(job) == pytest.approx(1)
    assert (outcome.end, outcome.moved) == (pytest.approx(50), 1000)


def test_two_jobs_share_fairly_as_processor_sharing_says() -> None:
    small, large = Job(0, 100, 1, 100), Job(0, 300, 1, 100)
    assert [o.end for o in simulate([small, large], fair, 100.0)] == pytest.approx([2, 4])
    assert [o.end for o in simulate([large, small], fcfs, 100.0)] == pytest.approx([3, 4])
    assert [o.end for o in simulate([large, small], volume_yield(0), 100.0)] == pytest.approx([4, 1])


def test_set10_weighs_sets_by_their_order_of_magnitude() -> None:
    requests = [Request(0, 1, 100, 10, 1), Request(1, 1, 100, 12, 1), Request(0, 1, 100, 100, 1)]
    assert set10(requests, 110.0) == pytest.approx([100, 0, 10])


def test_impossible_jobs_are_refused() -> None:
    with pytest.raises(ValueError, match="above 0"):
        simulate([Job(1, 0, 1, 1)], fair, 1.0)
