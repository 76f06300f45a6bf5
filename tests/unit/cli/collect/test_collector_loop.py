"""When a collector with automatic exit counts as unused."""

from __future__ import annotations

from iotide.cli.collect.collector_loop import UnusedTime


def test_time_without_processes_counts_once_some_have_come() -> None:
    unused = UnusedTime(0.2)
    looks = [(0.0, 0, False), (0.1, 0, False), (0.2, 1, True), (0.3, 1, False), (0.4, 1, False), (0.5, 2, False)]
    told = [round(unused.update(now, processes, in_use=in_use), 6) for now, processes, in_use in looks]
    assert told == [0, 0, 0, 0.1, 0.2, 0]


def test_unobserved_time_does_not_count() -> None:
    unused = UnusedTime(0.2)
    unused.update(0.0, 1, in_use=False)
    assert unused.update(100.0, 1, in_use=False) == 0.2  # a process that waits for us is accepted before the next check
    assert unused.update(100.1, 2, in_use=True) == 0
