"""Stored predictions of a job are restored unchanged, for any subset that is kept."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.daemon.jobs.history import History
from iotide.results.base import Estimate
from iotide.results.prediction import Interruptions, Pattern, Prediction, WorkShifts
from support.jobs.result_factories import make_prediction

NUMBERS = st.floats(0, 4e9)
COUNTS = st.integers(2, 99)
ESTIMATES = st.builds(Estimate, value=NUMBERS, low=NUMBERS, high=NUMBERS)
COURSES = st.fixed_dictionaries(
    {
        "shifts": st.none()
        | st.builds(
            WorkShifts,
            phases=st.integers(1, 99),
            seen=st.integers(0, 99),
            rest_s=ESTIMATES,
            next_start_s=st.none() | ESTIMATES,
        ),
        "interruptions": st.none() | st.builds(Interruptions, phases=COUNTS, missing=COUNTS, pauses=COUNTS),
        "patterns": st.lists(st.builds(Pattern, values=st.lists(NUMBERS, min_size=2, max_size=12)), max_size=3),
    }
)
PREDICTIONS = st.builds(
    lambda made, courses: made.model_copy(update=courses),
    st.builds(
        make_prediction,
        st.text(max_size=20),
        period_s=st.none() | st.floats(1e-3, 1e6),
        made_at_s=st.floats(0, 4e9),
    ),
    COURSES,
)


@settings(deadline=None, max_examples=25)
@given(st.lists(PREDICTIONS, max_size=9), st.integers(0, 6))
def test_the_newest_come_back_as_they_were(made: list[Prediction], most: int) -> None:
    history = History(most)
    for number, prediction in enumerate(made, start=1):
        history.append(prediction)
        kept = made[max(number - most, 0) : number]
        assert list(history) == kept
        assert len(history) == len(kept)
        assert list(history.latest(2)) == kept[-2:]
        assert history.last is prediction
    again = pickle.loads(pickle.dumps(history))
    assert list(again) == list(history)
    assert again.last == history.last


@given(PREDICTIONS)
def test_results_are_read_from_their_json_and_without_what_later_versions_added(made: Prediction) -> None:
    document = made.model_dump(mode="json")
    assert Prediction.model_validate(document) == made
    earlier = {name: value for name, value in document.items() if name not in {"shifts", "interruptions", "patterns"}}
    nothing = {"shifts": None, "interruptions": None, "patterns": []}
    assert Prediction.model_validate(earlier) == made.model_copy(update=nothing)


@given(PREDICTIONS)
def test_an_ended_job_expects_no_shift(made: Prediction) -> None:
    ended = made.without_next()
    assert (ended.shifts is None) == (made.shifts is None)
    assert ended.patterns == made.patterns
    if ended.shifts is not None:
        assert (ended.shifts.resting, ended.shifts.next_start_s) == (False, None)


@given(PREDICTIONS)
def test_without_a_period_nothing_is_told_of_its_phases(made: Prediction) -> None:
    none = made.with_stamp_resolution(1e9)
    if made.period_s is not None:
        assert (none.period_s, none.shifts, none.interruptions, none.patterns) == (None, None, None, [])


def test_before_the_first_there_is_none() -> None:
    history = History(3)
    assert (list(history), len(history), history.last) == ([], 0, None)


def test_iterator_returns_the_predictions_at_its_creation() -> None:
    history, made = History(2), [make_prediction("job", period_s=2.0, made_at_s=at) for at in (1.0, 2.0, 3.0)]
    for prediction in made[:2]:
        history.append(prediction)
    asked = iter(history)
    history.append(made[2])
    assert list(asked) == made[:2]


@pytest.mark.parametrize("many", [2, 100])
def test_common_parts_of_predictions_are_sent_once(many: int) -> None:
    """The first is complete, the others contain the changes."""
    sizes = []
    for count in (1, many):
        history = History(count)
        for number in range(count):
            history.append(make_prediction("a name of a job " * 8, period_s=2.0, made_at_s=1e9 + number))
        history.last = None
        sizes.append(len(pickle.dumps(history)))
    assert sizes[1] - sizes[0] < 100 * (many - 1)
