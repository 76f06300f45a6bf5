"""Whenever the aggregator is killed, the job ends as if it had not been: totals, graph, layers, ranking, last word,
archive.

``IOTIDE_KILL_SEED=N pytest tests/faults`` repeats the schedule of one seed; ``IOTIDE_KILL_SCHEDULES=500`` tries more.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from support.killing import Schedule

_FEW = 24


def seeds() -> list[int]:
    if chosen := os.environ.get("IOTIDE_KILL_SEED"):
        return [int(chosen)]
    return list(range(int(os.environ.get("IOTIDE_KILL_SCHEDULES", _FEW))))


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[object]]:
    with closing(Schedule(tmp_path_factory.mktemp("undisturbed"), 0, kills=0)) as schedule:
        yield schedule.run()


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds())
def test_kills_are_seen_in_nothing(tmp_path: Path, seed: int, undisturbed: list[object]) -> None:
    with closing(Schedule(tmp_path, seed, kills=1 + seed % 4, trouble=(0.0, 0.05)[seed % 2])) as schedule:
        assert schedule.run() == undisturbed
