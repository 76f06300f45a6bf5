from __future__ import annotations

import numpy as np
import pytest
from iotide.analyzers.groups.group_prediction import GroupResult, combine_predictions
from iotide.analyzers.groups.member_keys import Key, Process
from iotide.analyzers.groups.members import Member
from iotide.analyzers.offline.trace import examine
from iotide.analyzers.settings import DetectSettings
from iotide.events import Kind, make_batch
from iotide.results.prediction import Prediction


def alone_and_without() -> tuple[Prediction, Prediction]:
    """The prediction of 30 phases, and one without a period."""
    start = (np.arange(1, 31)[:, None] * 20 * 10**9 + np.arange(8) * 10**8).ravel()
    columns = {"start": start, "duration": 10**8, "bytes": 10**6, "kind": int(Kind.WRITE)}
    alone = examine([(make_batch(len(start), columns), np.zeros(1, np.uint8))], DetectSettings(), "j")[0]
    assert alone.confidence > 0.95
    return alone, alone.model_copy(update={"period_s": None, "confidence": 0.0, "next_phase": None})


@pytest.mark.parametrize("confidence", [0.0, 0.6, 0.95])
def test_a_group_is_named_if_its_period_is_surer_than_that_of_the_job(confidence: float) -> None:
    alone, without = alone_and_without()
    whole = alone.model_copy(update={"confidence": confidence})
    groups = [
        GroupResult([Member(Key(Process(rank=0), "", ""), (0, 1))], 1e9, alone, 580.0),
        GroupResult([Member(Key(Process(rank=9), "", ""), (9, 9))], 1e9, without, 0.0),
    ]
    told = combine_predictions(whole, groups).prediction
    assert (told.who is not None) == (confidence < 0.9)
    assert told.who is None or told.who.members == ["0-1"]


@pytest.mark.parametrize("silent_s", [300.0, 5000.0])
@pytest.mark.parametrize("further", [False, True])
def test_a_group_that_stopped_early_is_beside_and_not_the_headline(silent_s: float, further: bool) -> None:
    alone, without = alone_and_without()
    assert alone.period_s is not None
    quick = alone.model_copy(update={"period_s": alone.period_s.model_copy(update={"value": 7.0})})
    groups = [
        GroupResult([Member(Key(Process(rank=0), "", ""), (0, 1))], 2e9, alone, 580.0, silent_s),
        GroupResult([Member(Key(Process(rank=9), "", ""), (9, 9))], 1e9, quick if further else without, 570.0),
    ]
    told = combine_predictions(without, groups).prediction
    beside = {tuple(each.who.members) for each in told.others if each.who is not None}
    named = None if told.who is None else told.who.members
    if silent_s < 580.0:
        assert named == ["0-1"]
    else:
        assert named == (["9"] if further else None)
        assert ("0-1",) in beside
