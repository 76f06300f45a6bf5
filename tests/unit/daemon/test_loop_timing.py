"""Time of the stages of an aggregator's work."""

from __future__ import annotations

from collections import Counter

import pytest
from iotide.daemon.loop_timing import TIME_PREFIX, LoopWatch, Stages, cpu_s, memory_bytes


def test_time_of_a_stage_is_added_up_also_where_it_fails() -> None:
    counters: Counter[str] = Counter()
    stages = Stages(counters)
    with stages.measure("jobs"):
        sum(range(200_000))
    once = counters[TIME_PREFIX + "jobs"]
    assert once > 0
    with pytest.raises(ValueError, match="invalid literal"), stages.measure("jobs"):
        int(str(sum(range(200_000))) + "x")
    assert counters[TIME_PREFIX + "jobs"] > once


def test_longest_time_is_of_the_last_minute_or_two() -> None:
    now = [0.0]
    watch = LoopWatch(lambda: now[0])
    watch.note(0.5)
    watch.note(0.2)
    assert watch.longest_s == 0.5
    now[0] = 61.0
    watch.note(0.1)
    assert watch.longest_s == 0.5
    now[0] = 122.0
    assert watch.longest_s == 0.1
    now[0] = 1000.0
    assert watch.longest_s == 0.0


def test_process_has_time_and_memory() -> None:
    assert cpu_s() > 0
    assert memory_bytes() > 1 << 20
