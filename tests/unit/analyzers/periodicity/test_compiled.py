"""Phases, intervals and sequences: the compiled helper equals NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.analyzers.online.predictor import Predictor
from iotide.analyzers.periodicity import compiled
from iotide.analyzers.periodicity.estimators.segmentation_quality import _contrast
from iotide.analyzers.periodicity.phases.changes import changes_of, last_change
from iotide.analyzers.periodicity.phases.interleaved import interleaved
from iotide.analyzers.periodicity.phases.memoized import clear_memo
from iotide.analyzers.periodicity.phases.merged import split_merged
from iotide.analyzers.periodicity.phases.missed_phases import classify_intervals
from iotide.analyzers.periodicity.phases.phase_volumes import volume_similarity
from iotide.analyzers.periodicity.phases.phases import Phases, Segmenter
from iotide.analyzers.periodicity.phases.regularity import regularity
from iotide.analyzers.periodicity.upcoming.clock import grid_of
from iotide.analyzers.settings import DetectSettings
from iotide.events import Kind, make_batch
from msgspec.structs import asdict

Floats = npt.NDArray[np.float64]
PERIODS = (1.0, 3.0, 5.3, 17.0, 33.3, 70.0, 200.0)
NEAR = {"rel": 1e-9, "abs": 1e-12}


def both(made: Callable[[], Any]) -> tuple[Any, Any]:
    """Return the results with and without the helper."""
    assert compiled.native() is not None
    clear_memo()
    fast = made()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled, "native", lambda: None)
        clear_memo()
        slow = made()
    clear_memo()
    return fast, slow


@st.composite
def signals(draw: st.DrawFn) -> Floats:
    """Bursts of all lengths on quiet, constant or noisy ground, also with whole numbers and at both ends."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    bins = draw(st.sampled_from([1, 2, 3, 12, 50, 400, 2048]))
    ground = draw(st.sampled_from([0.0, 0.1, 1.0]))
    values = ground * rng.random(bins) if draw(st.booleans()) else np.full(bins, ground)
    for at in rng.integers(0, bins, draw(st.sampled_from([0, 1, 5, 40]))).tolist():
        length = int(rng.integers(1, draw(st.sampled_from([2, 6, 60]))))
        values[at : at + length] += rng.lognormal(0, draw(st.sampled_from([0.0, 1.0]))) * np.linspace(
            1, draw(st.sampled_from([0.5, 1.0, 3.0])), len(values[at : at + length])
        )
    return np.floor(4 * values) if draw(st.booleans()) else values


@st.composite
def intervals(draw: st.DrawFn) -> Floats:
    """Intervals that change, grow, walk, or span missed phases; also equal ones and whole bins."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    count = draw(st.sampled_from([2, 3, 4, 5, 7, 8, 9, 16, 40, 129, 300]))
    usual = np.full(count, 40.0) * rng.normal(1, draw(st.sampled_from([0.0, 0.02, 0.2])), count).clip(0.1)
    kind = draw(st.sampled_from(["plain", "levels", "drift", "walk", "missed", "by turns"]))
    if kind == "levels":
        usual *= np.repeat(rng.lognormal(0, 0.7, 5), -(-count // 5))[:count]
    elif kind == "drift":
        usual *= 1.03 ** np.arange(count)
    elif kind == "walk":
        usual *= np.exp(np.cumsum(rng.normal(0, 0.3, count)))
    elif kind == "missed":
        usual *= rng.choice([1, 1, 1, 2, 3, 11], count)
    elif kind == "by turns":
        usual *= 1 + np.arange(count) % 2
    return np.maximum(np.rint(usual), 1.0) if draw(st.booleans()) else usual


def columns(phases: Phases) -> list[list[float]]:
    return [column.tolist() for column in phases.columns]


@settings(deadline=None, max_examples=300)
@given(signals(), st.sampled_from([0.0, 0.05, 0.2]))
def test_phases_are_those_of_numpy(values: Floats, least: float) -> None:
    segmenter = Segmenter(values)

    def found() -> list[Any]:
        made: list[Any] = []
        for each in (segmenter, segmenter.levelled(0.5)):
            for period in PERIODS:
                phases = each.refined(each.segment(period, least))
                made += [columns(phases), columns(each.segment_by_pauses(period))]
                if len(phases):
                    similarity = volume_similarity(each, phases)
                    made += [[_contrast(each, phases)], [similarity.spread, similarity.count, similarity.trailing]]
        return made

    with np.errstate(all="ignore"):
        fast, slow = both(found)
    for one, other in zip(fast, slow, strict=True):
        assert np.hstack(one).tolist() == pytest.approx(np.hstack(other).tolist(), nan_ok=True, **NEAR)


@settings(deadline=None, max_examples=500)
@given(intervals())
def test_changes_and_classes_of_intervals_are_those_of_numpy(values: Floats) -> None:
    def found() -> tuple[int, list[int], list[int], float, float]:
        classes = classify_intervals(values)
        return last_change(values), changes_of(values), classes.multiple.tolist(), classes.likelihood, classes.plain

    fast, slow = both(found)
    assert fast[:3] == slow[:3]
    assert fast[3:] == pytest.approx(slow[3:], rel=1e-9, abs=1e-6)


@settings(deadline=None, max_examples=500)
@given(intervals(), st.sampled_from([0.0, 0.3, 1.0]))
def test_regularity_is_that_of_numpy(values: Floats, share: float) -> None:
    start = np.append(7.0, 7 + np.cumsum(values))
    end = start + share * np.append(values, values[-1])
    at = start.astype(np.int64)
    phases = Phases(start, end, np.ones(len(start)), at, at + 1)

    def found() -> dict[str, Any]:
        measured = asdict(regularity(phases, 3.0))
        return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in measured.items()}

    close(*both(found))


@pytest.mark.parametrize("count", [2, 4096, 4097, 50_000])
@pytest.mark.parametrize("step", [1, 3, -1])
def test_inputs_of_any_size_and_order_in_memory_are_read(count: int, step: int) -> None:
    values = np.random.default_rng(count).uniform(1, 2, count * abs(step))[::step]
    values.flags.writeable = False
    assert compiled.measure(values, 0.0) == pytest.approx((values.mean(), values.std(ddof=1) / values.mean()))


@settings(deadline=None, max_examples=300)
@given(st.integers(0, 2**32), st.floats(1.1, 4.0), st.sampled_from([0.0, 0.01, 0.1]), st.integers(2, 60))
def test_sequences_of_two_programs_are_those_of_python(seed: int, ratio: float, jitter: float, count: int) -> None:
    rng = np.random.default_rng(seed)
    starts = [
        period * (rng.random() + np.arange(count) + jitter * rng.normal(0, 1, count)) for period in (20.0, 20.0 * ratio)
    ]
    start = np.sort(np.concatenate(starts))
    start = np.rint(start) if seed % 2 else start
    at = start.astype(np.int64)
    phases = Phases(start, start + 1, np.ones(len(start)), at, at + 1)

    def found() -> list[Any]:
        return [[each.members.tolist(), each.period, each.chance] for each in interleaved(phases) or ()]

    fast, slow = both(found)
    assert len(fast) == len(slow)
    for one, other in zip(fast, slow, strict=True):
        assert one[0] == other[0]
        assert one[1:] == pytest.approx(other[1:], **NEAR)


@settings(deadline=None, max_examples=300)
@given(st.integers(0, 2**32), st.sampled_from([5, 6, 20, 70]), st.sampled_from([0.0, 0.05, 0.3, 1.0]))
def test_merged_phases_are_those_of_numpy(seed: int, count: int, deviation: float) -> None:
    rng = np.random.default_rng(seed)
    single = rng.lognormal(0, deviation, count)
    times = rng.choice([1, 1, 1, 2, 3, 9], count)
    length = 4 * times * rng.choice([1, 1, 3], count)
    first = np.cumsum(np.append(1, (length + rng.integers(2, 9, count))[:-1]))
    values = np.zeros(int(first[-1] + length[-1]) + 3)
    for at, long, size in zip(first.tolist(), length.tolist(), (single * times).tolist(), strict=True):
        values[at : at + long] = np.rint(8 * size) / long if seed % 2 else size / long
    segmenter, start = Segmenter(values), first.astype(np.float64)
    volume = segmenter.running[first + length] - segmenter.running[first]
    phases = Phases(start, start + length, volume, first, first + length)

    def found() -> list[Any] | None:
        split = split_merged(segmenter, phases)
        return None if split is None else columns(split)

    with np.errstate(all="ignore"):
        fast, slow = both(found)
    assert fast == slow


@settings(deadline=None, max_examples=300)
@given(st.integers(0, 2**32), st.sampled_from([3, 7, 12, 60]), st.sampled_from([0.0, 0.02, 0.1]))
def test_grids_are_those_of_python(seed: int, count: int, deviation: float) -> None:
    rng = np.random.default_rng(seed)
    start = 40.0 * (np.cumsum(rng.choice([1, 1, 1, 2], count)) + deviation * rng.normal(0, 1, count))
    start += np.where(rng.random(count) < 0.1, 6.0, 0.0) + 5.0 * (np.arange(count) > 0.7 * count)

    def found() -> list[Any] | None:
        grid = grid_of(np.sort(start), 40.0)
        return None if grid is None else [grid.step, grid.late, *grid.errors.tolist()]

    fast, slow = both(found)
    assert fast == (None if slow is None else pytest.approx(slow, **NEAR))


@pytest.mark.parametrize("deviation", [0.0, 0.15, 0.6])
def test_predictions_of_a_running_job_do_not_depend_on_the_helper(deviation: float) -> None:
    def predicted() -> list[dict[str, Any]]:
        rng = np.random.default_rng(3)
        predictor, at_s, made = Predictor("job", DetectSettings()), 5.0, []
        for number in range(40):
            at_s += 10 * max(rng.normal(1, deviation), 0.1) if number % 7 else 3.1
            start = np.rint((at_s + 0.1 * np.arange(8)) * 1e9).astype(np.int64)
            size = rng.integers(1, 4) * 10**7
            batch = make_batch(8, {"start": start, "duration": 10**8, "bytes": size, "kind": int(Kind.WRITE)})
            predictor.update(batch, np.zeros(0, np.uint8))
            made.append(predictor.predict(int(start[-1]) + 2 * 10**8).model_dump())
        return made

    fast, slow = both(predicted)
    close(fast, slow)


def close(one: Any, other: Any) -> None:
    """Assert equality up to rounding."""
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one:
            close(one[key], other[key])
    elif isinstance(one, list | tuple):
        assert len(one) == len(other)
        for left, right in zip(one, other, strict=True):
            close(left, right)
    elif isinstance(one, float):
        assert one == pytest.approx(other, **NEAR)
    else:
        assert one == other
