from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from iotide.analyzers.offline.trace import detect
from iotide.analyzers.periodicity.estimators.ftio_reference import bandwidth_changes, point_samples
from iotide.analyzers.settings import DetectSettings
from iotide.cli.traces.ordered_columns import OrderedColumns
from iotide.collectors.source import Chunk, Opened, Origin
from iotide.collectors.sources.registry import open_file
from iotide.events import DefinitionTable, EventBatch, Kind, make_batch
from iotide.results.prediction import ModeName, Prediction
from support.places import DATA
from support.references.naive import Interval
from support.references.naive import point_samples as slow_point_samples

interval = st.builds(
    lambda start, length, volume: (start, start + length, volume),
    st.integers(0, 5 * 10**9),
    st.integers(1, 3 * 10**9),
    st.integers(1, 10**9),
)


def answer(name: str, mode: ModeName, method: str = "reference", sampling: str = "point") -> Prediction:
    source = open_file(DATA / name, Origin(job="trace"), format=None)
    definitions = DefinitionTable()
    batches: list[EventBatch] = []
    while not source.finished:
        for item in source.poll():
            if isinstance(item, Chunk):
                definitions.apply(item.definitions)
                batches.append(item.batch)
            elif isinstance(item, Opened):
                assert item.info.clock_offset_ns is None
    types = np.array([definitions.file(n).type for n in range(definitions.file_count)], np.uint8)
    chosen = DetectSettings.model_validate({"method": method, "sampling": sampling, "mode": mode})
    return detect([(batch, types) for batch in batches], chosen, "trace")


# The figures are the output of the reference program for these files at 10 Hz.
@pytest.mark.parametrize(
    ("name", "mode", "samples", "period_s", "confidence", "lines", "abstraction_error"),
    [
        ("tmio-8ranks.jsonl", "write", 289, 1.9267, 0.67744, 1, 3.52895e-04),
        ("tmio-8ranks.jsonl", "read", 265, 1.8929, None, 2, None),
        ("tmio-custom-ranks.json", "write", 215, 2.6875, 1.0, 1, 6.59212e-03),
    ],
)
def test_answers_are_those_of_the_reference(
    name: str,
    mode: ModeName,
    samples: int,
    period_s: float,
    confidence: float | None,
    lines: int,
    abstraction_error: float | None,
) -> None:
    found = answer(name, mode)
    assert found.window.samples == samples
    assert found.period_s is not None
    assert found.period_s.value == pytest.approx(period_s, abs=5e-5)
    assert found.period_s.low < found.period_s.value < found.period_s.high
    assert len(found.dominant) == lines
    if confidence is not None:
        assert found.confidence == pytest.approx(confidence, abs=5e-5)
    if abstraction_error is not None:
        assert found.abstraction_error == pytest.approx(abstraction_error, rel=1e-4)


def test_z_scores_are_those_of_the_reference() -> None:
    assert answer("tmio-8ranks.jsonl", "write").dominant[0].z_score == pytest.approx(5.837601, abs=1e-5)
    assert answer("tmio-8ranks.jsonl", "read").dominant[1].z_score == pytest.approx(3.695200, abs=1e-5)
    assert answer("tmio-custom-ranks.json", "write").dominant[0].z_score == pytest.approx(10.011031, abs=1e-5)


def test_default_method_agrees_with_the_reference_on_its_samples() -> None:
    both = answer("tmio-8ranks.jsonl", "both", "tide", "volume")
    assert both.period_s is not None
    assert both.period_s.value == pytest.approx(1.89, abs=0.03)
    assert both.confidence > 0.8
    custom = answer("tmio-custom-ranks.json", "write", "tide", "volume")
    assert custom.period_s is not None
    assert custom.period_s.value == pytest.approx(2.67, abs=0.03)


@given(st.lists(interval, min_size=1, max_size=20))
@example([(2, 1_000_000_002, 1)])
@settings(deadline=None)
def test_points_have_the_bandwidth_of_the_requests_that_run_there(requests: list[Interval]) -> None:
    start, end, volume = (np.array(column) for column in zip(*requests, strict=True))
    pieces = [(start[at : at + 3], end[at : at + 3], volume[at : at + 3]) for at in range(0, len(start), 3)]
    fast = point_samples([(start, end, volume)], 10.0)
    slow = slow_point_samples(requests, 10.0)
    assert len(fast) == len(slow)
    np.testing.assert_allclose(fast, slow, rtol=1e-9, atol=1e-6 * max(v / (e - s) * 1e9 for s, e, v in requests))
    in_pieces = point_samples(pieces, 10.0, lambda changes, key: OrderedColumns(changes, key, most_held=2))
    assert in_pieces.tobytes() == fast.tobytes()
    exact = point_samples([(start, end, volume)], 10.0, as_published=False)
    assert (exact >= 0).all()
    assert (exact[np.array(slow) == 0] == 0).all()


def test_overlapping_requests_add_up_and_empty_ones_do_not_count() -> None:
    requests = np.array([0, 10**9, 5]), np.array([2 * 10**9, 3 * 10**9, 5]), np.array([20, 40, 99])
    ((at, level, running),) = bandwidth_changes([requests])
    assert at.tolist() == [0, 10**9, 2 * 10**9, 3 * 10**9]
    assert running.tolist() == [1, 2, 1, 0]
    assert level.tolist() == pytest.approx([10, 30, 20, 0])


def test_empty_trace_has_no_samples() -> None:
    nothing = np.zeros(0, np.int64)
    assert len(point_samples([(nothing, nothing, nothing)], 10.0)) == 0
    found = detect([], DetectSettings(method="reference", sampling="point"), "empty")
    assert found.period_s is None
    assert found.window.samples == 0


def test_points_between_phases_are_silent() -> None:
    """Sums of bandwidths end at small numbers below zero, which are no phases."""
    phase, at, rank = (each.ravel() for each in np.indices((8, 512, 4)))
    start = (1_700_000_000 + 2 * phase) * 10**9 + at * 800_000 + rank * 1000
    lasts = (50 + at % 7) * 1000
    columns = {"start": start, "duration": lasts, "bytes": 65_536, "kind": Kind.WRITE}
    batches = [(make_batch(len(start), columns), np.zeros(0, np.uint8))]
    assert detect(batches, DetectSettings(sampling="point"), "job").window.samples > 0
