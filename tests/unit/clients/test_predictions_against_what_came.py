"""Actual phases, each beside its last prediction."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from iotide.clients.report.sections.periodicity import pair_predictions
from iotide.results.jobs.file_systems import FileSystemUse, IoPhase, JobFileSystems
from iotide.results.prediction import FollowingPhase, NextPhase, Prediction
from support.jobs.result_factories import around, make_prediction

PERIOD_S = 10.0
VOLUME = 8_000_000


def systems(starts_s: Sequence[float], volumes: Sequence[int] | None = None) -> JobFileSystems:
    phases = [
        IoPhase(start_s=at, end_s=at + 1, bytes_read=0, bytes_written=volume, calls=1, seconds=0.5)
        for at, volume in zip(starts_s, volumes or [VOLUME] * len(starts_s), strict=True)
    ]
    use = FileSystemUse(
        file_system="n1:/dev/sda1",
        place="local",
        bytes_read=0,
        bytes_written=VOLUME * len(phases),
        calls=len(phases),
        seconds=1.0,
        metadata_calls=0,
        metadata_seconds=0.0,
        phases=phases,
    )
    return JobFileSystems(job="job", gap_s=0.25, file_systems=[use])


def told(made_at_s: float, *starts_s: float) -> Prediction:
    """A prediction of the next phases, in order."""
    first, *rest = starts_s
    upcoming = NextPhase(
        start_s=around(first),
        duration_s=around(1.0),
        volume_bytes=around(float(VOLUME)),
        following=[FollowingPhase(confidence=0.8, start_s=around(at)) for at in rest],
    )
    return make_prediction(made_at_s=made_at_s, period_s=PERIOD_S).model_copy(update={"next_phase": upcoming})


def pairs(history: Sequence[Prediction], came: JobFileSystems) -> list[tuple[float, float, bool]]:
    """Start of each phase, its predicted start, and whether it was on time; oldest first."""
    return [(row.start_s, row.predicted_s, row.on_time) for row in reversed(pair_predictions(history, came))]


def test_each_phase_has_the_last_prediction_before_it() -> None:
    history = [told(95, 100), told(105, 110), told(108, 109.5), told(115, 125)]
    assert pairs(history, systems([90, 100, 110, 120])) == [(100, 100, True), (110, 109.5, True), (120, 125, False)]


def test_later_phases_have_their_own_predictions() -> None:
    assert pairs([told(95, 100, 110, 120)], systems([100, 111, 119])) == [
        (100, 100, True),
        (111, 110, True),
        (119, 120, True),
    ]


def test_phase_without_a_prediction_is_left_out() -> None:
    assert pairs([told(95, 100), told(115, 120)], systems([100, 110, 120])) == [(100, 100, True), (120, 120, True)]


def test_pieces_of_a_phase_count_once() -> None:
    assert pairs([told(95, 100, 110)], systems([100, 102, 110])) == [(100, 100, True), (110, 110, True)]
    beside = systems([97, 100, 110], [VOLUME // 100, VOLUME, VOLUME])
    assert pairs([told(95, 100, 110)], beside) == [(100, 100, True), (110, 110, True)]


def test_nothing_is_paired_without_predictions_phases_or_a_clock() -> None:
    assert not pair_predictions([], systems([100]))
    assert not pair_predictions([told(95, 100)], systems([]))
    assert not pair_predictions([told(95, 100)], systems([100]).model_copy(update={"own_clock": True}))
    assert not pair_predictions([make_prediction(period_s=None)], systems([200]))


@given(st.lists(st.floats(0, 300), max_size=12), st.integers(0, 5))
def test_job_that_keeps_its_period_is_on_time_whenever_predictions_are_made(asked_s: list[float], ahead: int) -> None:
    """Correct predictions at arbitrary moments: no phase may be reported as late."""
    starts_s = [5 + PERIOD_S * number for number in range(30)]
    history = [
        told(at, *[start for start in starts_s if start > at][: ahead + 1]) for at in sorted(asked_s) if at < 290
    ]
    assert all(on_time and start == said for start, said, on_time in pairs(history, systems(starts_s)))
