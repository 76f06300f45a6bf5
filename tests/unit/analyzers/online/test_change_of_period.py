"""After a change of period the new one is reported within three new phases, for any window."""

from __future__ import annotations

import numpy as np
import pytest
from iotide.analyzers.online.predictor import Predictor
from iotide.analyzers.settings import DetectSettings
from support.jobs.changing_period import changing_job, predictions_during

WINDOWS = ("hits", "whole", "fixed", "flushes", "change")


def predictor(window: str, before_s: float, **options: object) -> Predictor:
    values = {"window": window, "window_s": 14 * before_s, "window_flushes": 14}
    return Predictor("job", DetectSettings.model_validate(values | options))


@pytest.mark.slow
@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize(("before_s", "after_s"), [(2.0, 4.0), (4.0, 2.0), (0.2, 0.4), (90.0, 45.0), (1800.0, 3600.0)])
@pytest.mark.parametrize("jitter", [0.0, 0.04])
def test_new_period_is_reported_within_three_phases_and_not_mixed(
    window: str, before_s: float, after_s: float, jitter: float
) -> None:
    program = changing_job(before_s, after_s, jitter=jitter, seed=3)
    rows = predictions_during(predictor(window, before_s), program, before_s, min(before_s, after_s) / 3)
    wrong_until_s = program.changed_s
    for row in rows:
        if row.made_at_s <= program.changed_s:
            continue
        right = row.period_s is not None and abs(row.period_s.value / after_s - 1) < 0.1
        if not right:
            wrong_until_s = row.made_at_s
            if row.period_s is not None:  # the old period while the new one is uncertain, and nothing in between
                assert row.period_s.value == pytest.approx(before_s, rel=0.15)
    new_s = program.starts_s[program.starts_s > program.changed_s]
    assert np.sum(new_s + 0.15 * min(before_s, after_s) < wrong_until_s) < 3  # a phase lasts a tenth
    assert rows[-1].window.start_s >= program.changed_s - before_s


@pytest.mark.slow
@pytest.mark.parametrize("detector", ["adwin", "cusum", "page-hinkley"])
def test_small_change_is_left_to_the_detector_in_the_change_window(detector: str) -> None:
    program = changing_job(10.0, 14.0, jitter=0.02, phases=(20, 30), seed=5)
    followed_by = predictor("change", 10.0, change_detector=detector)
    rows = predictions_during(followed_by, program, 5.0)
    assert rows[-1].period_s is not None
    assert rows[-1].period_s.value == pytest.approx(14.0, rel=0.02)
    assert rows[-1].window.start_s > program.changed_s - 11.0


@pytest.mark.slow
@pytest.mark.parametrize("window", WINDOWS)
def test_steady_period_with_jitter_is_never_cut(window: str) -> None:
    for seed in range(3):
        program = changing_job(5.0, 5.0, jitter=0.15, phases=(30, 10), seed=seed)
        followed_by = predictor(window, 5.0)
        predictions_during(followed_by, program, 5.0)
        assert followed_by._all.resolution_search.windows.changed_ns is None
