"""The cost of collisions is a finding of a job's advice if it was measured and is large enough."""

from __future__ import annotations

import pytest
from iotide.analyzers.contention.collision_advice import with_collisions
from iotide.results.advice import Advice, AdviceFinding, Spent
from iotide.results.base import Estimate
from iotide.results.contention import Culprit, Slowdown, Verdict

T0 = 1_700_000_000.0


def advice(*findings: AdviceFinding, io_s: float = 40.0) -> Advice:
    return Advice(
        events=9, first_s=T0, last_s=T0 + 100, run_s=100.0, lanes=1, slowest="rank 0", spent=Spent(), io_s=io_s,
        io_share=io_s / 100, system_s=0.0, waiting_s=0.0, bytes_read=0, bytes_written=1, destinations=[],
        findings=list(findings), floor_share=0.02,
    )  # fmt: skip


def slowdown(times: float = 2.0, verdict: Verdict = "slowed", overlap_s: float = 20.0, culprits: int = 1) -> Slowdown:
    estimate = Estimate(value=times, low=times - 0.5, high=times + 0.5)
    found = [
        Culprit(job=f"other-{at}", done=10**9, share=0.5, overlap_s=overlap_s, slowdown=estimate, p_value=1e-4)
        for at in range(culprits)
    ]
    return Slowdown(
        job="mine", file_system="scratch", measure="data", verdict=verdict, slowdown=estimate, alone_phases=20,
        shared_phases=12, last_shared_s=T0 + 90, blocks=6, completeness=1.0, culprits=found,
    )  # fmt: skip


def test_time_that_is_lost_to_others_is_a_finding() -> None:
    (found,) = with_collisions(advice(), [slowdown()]).findings
    assert found.cause == "collisions"
    assert found.gain_s == pytest.approx(10.0)
    assert found.title == (
        "12 of 32 phases on scratch came when other-0 did I/O there, and took 2 times as long (time a byte; 1.5 to 2.5)"
    )


def test_no_more_is_lost_than_the_job_spends_in_io() -> None:
    (found,) = with_collisions(advice(io_s=30.0), [slowdown(culprits=4)]).findings
    assert found.gain_s == pytest.approx(15.0)


@pytest.mark.parametrize(
    "told", [[], [slowdown(verdict="unsure")], [slowdown(overlap_s=0.1)], [slowdown(1.02)]], ids=str
)
def test_uncertain_or_small_cost_is_no_finding(told: list[Slowdown]) -> None:
    assert with_collisions(advice(), told).findings == []


def test_findings_are_ordered_by_cost() -> None:
    other = AdviceFinding(
        cause="fsync", title="t", why="w", change="c", seconds=20.0, share=0.2, gain_s=15.0, gain_share=0.15
    )
    assert [row.cause for row in with_collisions(advice(other), [slowdown()]).findings] == ["fsync", "collisions"]
