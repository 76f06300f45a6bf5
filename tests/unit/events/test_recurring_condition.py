"""Repeated conditions cause two log lines, for any number of repetitions."""

from __future__ import annotations

import contextlib
import os
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest
from iotide.events.network.descriptors import ListenerGuard, free
from iotide.events.network.recurring_condition import CALM_S, EndedCondition, RecurringCondition

FILES = 1024


def test_condition_ends_once_it_has_not_occurred_for_a_while() -> None:
    spell = RecurringCondition(calm_s=10.0)
    assert spell.ended(0.0) is None
    assert [spell.occurred(now_s) for now_s in (1.0, 2.0, 11.0)] == [True, False, False]
    spell.continues(15.0)
    assert spell.ended(24.9) is None
    assert spell.ended(25.0) == EndedCondition(3, 14.0)
    assert spell.ended(99.0) is None
    assert spell.occurred(100.0)


@contextlib.contextmanager
def files_limited() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_descriptors_that_run_short_again_and_again_are_two_lines(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pauses: list[int] = []
    with files_limited():
        guard = ListenerGuard("ingest", f"ipc://{tmp_path}/in", pauses.clear, pauses.clear, lambda: pauses.append(1))
        now_s = 0.0
        for _ in range(5):
            taken = [os.open(os.devnull, os.O_RDONLY) for _ in range(free() - 4)]
            guard.check(now_s := now_s + 1.0)
            for each in taken:
                os.close(each)
            guard.check(now_s := now_s + 1.0)
        assert len(pauses) == 5
        guard.check(now_s + CALM_S / 2)
        assert "again" not in caplog.text
        guard.check(now_s + 2 * CALM_S)
        guard.close()
    begun, ended = [record.getMessage() for record in caplog.records]
    assert begun.startswith("ingest accepts no more connections: ")
    assert "ulimit -n" in begun
    assert ended == "ingest accepts connections again, after 5 pauses in 8 s"
