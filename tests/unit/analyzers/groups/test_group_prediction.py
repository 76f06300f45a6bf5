from __future__ import annotations

import numpy as np
import pytest
from iotide.analyzers.groups.group_prediction import GroupResult, combine_predictions
from iotide.analyzers.groups.member_keys import Key, Process
from iotide.analyzers.groups.members import Member
from iotide.analyzers.offline.trace import examine
from iotide.analyzers.settings import DetectSettings
from iotide.events import Kind, make_batch


@pytest.mark.parametrize("confidence", [0.0, 0.6, 0.95])
def test_a_group_is_named_if_its_period_is_surer_than_that_of_the_job(confidence: float) -> None:
    start = (np.arange(1, 31)[:, None] * 20 * 10**9 + np.arange(8) * 10**8).ravel()
    columns = {"start": start, "duration": 10**8, "bytes": 10**6, "kind": int(Kind.WRITE)}
    alone = examine([(make_batch(len(start), columns), np.zeros(1, np.uint8))], DetectSettings(), "j")[0]
    assert alone.confidence > 0.95
    whole = alone.model_copy(update={"confidence": confidence})
    without = alone.model_copy(update={"period_s": None, "confidence": 0.0, "next_phase": None})
    groups = [
        GroupResult([Member(Key(Process(rank=0), "", ""), (0, 1))], 1e9, alone, 580.0),
        GroupResult([Member(Key(Process(rank=9), "", ""), (9, 9))], 1e9, without, 0.0),
    ]
    told = combine_predictions(whole, groups).prediction
    assert (told.who is not None) == (confidence < 0.9)
    assert told.who is None or told.who.members == ["0-1"]
