"""Slowdowns between jobs: evidence, capacity, and no false accusations."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iotide.analyzers.contention.capacity import capacity_of
from iotide.analyzers.contention.loads import Load, busy_share
from iotide.analyzers.contention.report import contention_of
from iotide.analyzers.contention.settings import ContentionSettings
from iotide.analyzers.contention.slowdowns import evidence_of, signed_rank
from iotide.results.contention import Contention
from support.jobs.job_mixes import T0, JobOutcome, MixedJob, random_mix, simulate, view_of, without_losses

SPAN_S = 1800
DEFAULT = ContentionSettings()
CAPACITY = {"a": 1e9}
VICTIM = MixedJob("victim", "a", 8, 2e9, 1e9, jitter=0.1)
CULPRIT = MixedJob("culprit", "a", 21, 6e9, 1e9, jitter=0.2)


def found(
    jobs: list[MixedJob], seed: int = 1, noise: float = 0.1, **more: object
) -> tuple[Contention, list[JobOutcome]]:
    done = simulate(jobs, CAPACITY | {"b": 5e8}, SPAN_S, seed)
    views = [view_of(each, seed, noise=noise) for each in done if not each.job.hidden]
    return contention_of(views, DEFAULT.model_copy(update=more), T0 + SPAN_S), done


def load(rows: list[tuple[float, float, float]], job: str = "j") -> Load:
    start, end, moved = (np.array(column, float) for column in zip(*rows, strict=True))
    return Load(job, "", 1.0, start, end, moved, end - start)


@given(st.lists(st.integers(-20, 20), min_size=1, max_size=10))
def test_p_value_is_that_of_all_signs(values: list[int]) -> None:
    """The slow and obvious reference: each sign is as likely as its opposite."""
    differences = np.array(values, float)
    kept = differences[differences != 0]
    magnitudes = np.abs(kept)
    ranks = np.array([(magnitudes < one).sum() + ((magnitudes == one).sum() + 1) / 2 for one in magnitudes])
    reached = ranks[kept > 0].sum()
    sums = [sum(r for r, on in zip(ranks, signs, strict=True) if on) for signs in product([0, 1], repeat=len(ranks))]
    expected = np.mean([each >= reached - 1e-9 for each in sums]) if len(kept) else 1.0
    assert signed_rank(differences) == pytest.approx(expected)


def test_many_differences_are_judged_as_exactly_as_few() -> None:
    random = np.random.default_rng(1)
    for shift in (0.0, 0.3, 1.0):
        values = random.standard_normal(40) + shift
        exact = signed_rank(values)
        nearly = signed_rank(np.r_[values, 1e-12])  # one value more than the exact test takes
        assert nearly == pytest.approx(exact, rel=0.3, abs=0.01)


def test_slow_change_that_others_do_not_cause_is_no_evidence() -> None:
    measure = np.exp(np.linspace(0, 3, 60))
    shared = np.arange(60) >= 30
    assert evidence_of(measure, shared, ~shared).p_value > 0.1
    by_turns = np.arange(60) % 2 == 0
    drifting = evidence_of(measure, by_turns, ~by_turns)
    assert drifting.slowdown is not None
    assert drifting.slowdown.value == pytest.approx(1.0, abs=0.1)


def test_slowed_down_job_is_reported_with_the_culprit() -> None:
    result, _ = found([VICTIM, CULPRIT])
    (victim,) = (each for each in result.slowdowns if each.job == "victim")
    assert victim.verdict == "slowed"
    assert victim.slowdown is not None
    assert victim.slowdown.low > 1.2
    assert [each.job for each in victim.culprits] == ["culprit"]
    assert victim.culprits[0].share == 1.0
    (state,) = result.file_systems
    assert state.capacity.known == "learnt"
    assert state.capacity.bytes_per_s is not None
    assert state.capacity.bytes_per_s.value == pytest.approx(1e9, rel=0.15)


@pytest.mark.slow
def test_no_job_is_accused_for_an_unseen_load() -> None:
    """The culprit is hidden, and a small job does I/O at the same times."""
    small = MixedJob("small", "a", CULPRIT.gap_s, 1e7, 2e6, jitter=0.2)
    for seed in range(10):
        result, _ = found([VICTIM, MixedJob(**{**_fields(CULPRIT), "hidden": True}), small], seed)
        assert not any(each.culprits for each in result.slowdowns), seed


@pytest.mark.parametrize("lossy", ["victim", "culprit"])
def test_nothing_is_claimed_of_jobs_whose_calls_were_lost(lossy: str) -> None:
    jobs = [MixedJob(**{**_fields(job), "lost": 0.1 if job.name == lossy else 0.0}) for job in (VICTIM, CULPRIT)]
    result, _ = found(jobs)
    assert not any(each.culprits for each in result.slowdowns)
    assert lossy in {each.job for each in result.abstained if each.what == "both"}
    assert result.completeness < 0.95
    assert all(each.no_culprit for each in result.slowdowns if each.verdict == "slowed")


def test_jobs_on_other_file_systems_and_within_capacity_do_not_hurt() -> None:
    calm = [
        MixedJob("one", "a", 5, 1e9, 4e8, 0.2),
        MixedJob("two", "a", 7, 1e9, 4e8, 0.2),
        MixedJob("far", "b", 9, 3e9, 5e8, 0.2),
    ]
    result, _ = found(calm)
    assert {each.verdict for each in result.slowdowns} <= {"not_slowed", "unsure"}


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_no_job_is_accused_falsely_in_any_mix(part: int) -> None:
    """A true culprit does I/O with the victim while the total demand exceeds the bandwidth."""
    accused = 0
    for seed in range(50 * part, 50 * part + 50):
        jobs, capacity = random_mix(seed)
        done = simulate(jobs, capacity, SPAN_S, seed)
        seen = {each.job.name: each for each in done if not each.job.hidden}
        result = contention_of([view_of(each, seed) for each in seen.values()], DEFAULT, T0 + SPAN_S)
        for slowdown in result.slowdowns:
            truth = seen[slowdown.job]
            for culprit in slowdown.culprits:
                accused += 1
                share = truth.crowded.get(culprit.job, 0.0) / truth.together[culprit.job]
                assert share > 0.05, f"seed {seed}: {culprit.job} of slowing {slowdown.job} down"
    assert accused


@pytest.mark.slow
def test_jobs_that_are_slowed_down_much_are_mostly_told() -> None:
    told = true = 0
    for seed in range(40):
        jobs, capacity = random_mix(seed)
        done = simulate(without_losses(jobs), capacity, SPAN_S, seed)
        result = contention_of([view_of(each, seed) for each in done], DEFAULT, T0 + SPAN_S)
        verdicts = {each.job: each for each in result.slowdowns}
        for each in done:
            rated = verdicts.get(each.job.name)
            if rated is None or rated.blocks < 20:
                continue
            alone = [volume / each.job.limit / (end - start) for start, end, volume in each.phases]
            if np.mean(np.array(alone) < 0.7) > 0.3:  # of the phases take half as long again
                true += 1
                told += rated.verdict == "slowed"
    assert true >= 10
    assert told >= 0.8 * true


def test_capacity_is_as_configured_or_at_least_what_was_moved() -> None:
    loads = [load([(0, 1, 100), (5, 6, 300)], "one"), load([(5, 6, 100)], "two")]
    assert capacity_of(700.0, loads, []).model_dump()["bytes_per_s"]["value"] == 700
    seen = capacity_of(None, loads, [])
    assert (seen.known, seen.bytes_per_s and seen.bytes_per_s.value) == ("at_least", 400)
    assert capacity_of(None, [], []).known == "unknown"


phases = st.lists(st.tuples(st.integers(0, 100), st.integers(1, 10)), min_size=1, max_size=10)


@given(phases, st.integers(-5, 120), st.integers(1, 50))
def test_values_in_a_span_equal_those_of_its_seconds(steps: list[tuple[int, int]], start: int, length: int) -> None:
    at, rows = 0, []
    for gap, lasting in steps:
        at += gap % 7
        rows.append((float(at), float(at + lasting), 10.0 * lasting))
        at += lasting
    one = load(rows)
    expected = sum(
        1 for second in range(start, start + length) for begin, end, _ in rows if begin <= second and second + 1 <= end
    )
    span = np.array([float(start)]), np.array([float(start + length)])
    assert one.within(*span)[0] == pytest.approx(expected)
    assert one.within(*span, one.moved)[0] == pytest.approx(10 * expected)
    assert busy_share([one], *map(float, (start, start + length))) == pytest.approx(expected / length)


def test_order_of_jobs_changes_nothing_and_bounds_are_told() -> None:
    done = simulate([VICTIM, CULPRIT], CAPACITY, SPAN_S, 1)
    views = [view_of(each, 1) for each in done]
    one = contention_of(views, DEFAULT, T0 + SPAN_S)
    other = contention_of(views[::-1], DEFAULT, T0 + SPAN_S)
    assert (one.slowdowns, one.file_systems) == (other.slowdowns, other.file_systems)
    few = contention_of([*views, *views], DEFAULT.model_copy(update={"max_jobs": 2}), T0 + SPAN_S)
    assert few.jobs_left_out == 2
    assert few.slowdowns == one.slowdowns


def test_nothing_is_nothing() -> None:
    empty = contention_of([], DEFAULT, T0)
    assert (empty.jobs, empty.file_systems, empty.slowdowns, empty.collisions) == (0, [], [], [])
    assert math.isclose(empty.completeness, 1.0)


def _fields(job: MixedJob) -> dict[str, object]:
    return {name: getattr(job, name) for name in job.__dataclass_fields__}
