"""Batches of events: the compiled helper updates a graph as NumPy does."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.analyzers.common.sorting import grouped
from iotide.analyzers.dfg import compiled
from iotide.analyzers.dfg.settings import DfgSettings
from iotide.analyzers.dfg.state.concurrency import Concurrency
from iotide.analyzers.dfg.update import DfgAnalyzer

Ints = npt.NDArray[np.int64]


class Log(NamedTuple):
    case: Ints
    activity: npt.NDArray[np.int32]
    start: Ints
    duration: Ints
    size: Ints


@st.composite
def logs(draw: st.DrawFn, most: int = 2500) -> Log:
    """Logs with sequential, concurrent and occasionally late cases."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    count = draw(st.integers(1, most))
    longest = draw(st.sampled_from([1, 10, 1_000, 10**6, 2**60]))
    start = np.cumsum(rng.integers(0, draw(st.sampled_from([2, 20, 2_000])), count)) + draw(
        st.sampled_from([0, 10**18])
    )
    if draw(st.booleans()):
        late = rng.random(count) < 0.01
        start[late] -= rng.integers(0, 10**5, count)[late]
    activities = draw(st.integers(1, 40))
    drift = np.cumsum(rng.random(count) < 0.1) % activities
    activity = np.where(
        rng.random(count) < draw(st.sampled_from([0.0, 0.01, 0.5])), rng.integers(-1, activities), drift
    )
    return Log(
        rng.integers(0, draw(st.sampled_from([1, 3, 30])), count),
        activity.astype(np.int32),
        start,
        rng.integers(-1, longest, count),
        rng.choice([-1, 0, 64, 2**40], count),
    )


def result(log: Log, batch: int, chosen: DfgSettings) -> tuple[Any, Any]:
    analyzer = DfgAnalyzer(chosen)
    for at in range(0, len(log.case), batch):
        analyzer.update(*(column[at : at + batch] for column in log))
    names = [str(number) for number in range(40)]
    early = analyzer.graph(names).model_dump()
    analyzer.compact()
    return early, (analyzer.graph(names).model_dump(), analyzer.losses())


def close(one: Any, two: Any) -> None:
    """Assert equality up to the rounding of sums of fractions."""
    if isinstance(one, dict):
        assert one.keys() == two.keys()
        for key in one:
            close(one[key], two[key])
    elif isinstance(one, (list, tuple)):
        assert len(one) == len(two)
        for mine, other in zip(one, two, strict=True):
            close(mine, other)
    elif isinstance(one, float):
        assert one == pytest.approx(two, rel=1e-12, abs=0)
    else:
        assert one == two


@pytest.mark.slow
@settings(deadline=None, max_examples=80)
@given(logs(), st.sampled_from([300, 2500]), st.sampled_from([0.0, 1e-6, 2.0]), st.sampled_from([2, 512]))
def test_graph_is_what_it_is_without_the_kernel(log: Log, batch: int, lateness_s: float, activities: int) -> None:
    chosen = DfgSettings(lateness_s=lateness_s, max_held=1024, max_activities=activities, max_cases=8, max_edges=16)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled, "native", lambda: None)
        expected = result(log, batch, chosen)
    close(result(log, batch, chosen), expected)


@pytest.mark.slow
@settings(deadline=None, max_examples=100)
@given(logs(600), st.integers(1, 4))
def test_most_at_once_is_that_of_the_sweep_over_sorted_times(log: Log, pieces: int) -> None:
    library = compiled.native()
    assert library is not None
    fast, slow = Concurrency(40), Concurrency(40)
    cuts = np.linspace(0, len(log.start), pieces + 1).astype(int).tolist()
    for low, high in itertools.pairwise(cuts):
        rows, start = np.maximum(log.activity[low:high], 0).astype(np.intp), log.start[low:high]
        duration = np.minimum(log.duration[low:high], 2**53)
        if low == high:
            continue
        groups = grouped(rows, start, duration, log.size[low:high])
        if not compiled.sweep(library, fast, rows, start, duration):
            fast.add(groups)
        slow.add(groups)
        for name in ("most", "exact", "latest"):
            assert getattr(fast, name).tolist() == getattr(slow, name).tolist()
        assert sorted(zip(*fast.running(0), strict=True)) == sorted(zip(*slow.running(0), strict=True))
