"""A collector sleeps while idle, and is woken in time under load."""

from __future__ import annotations

import select
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from iotide.collectors.source import Origin
from iotide.collectors.sources.preload import sleep_times
from iotide.collectors.sources.preload.rings.drain import Drain
from iotide.collectors.sources.preload.sleep_times import SleepTimes
from iotide.collectors.sources.preload.source import PreloadSource
from support.system.commands import Program
from support.system.waiting import wait_for
from support.tracing.regions import MadeRegion
from support.tracing.spools import RecordingReceiver
from support.tracing.tracing import Tracing


@pytest.fixture
def source(tmp_path: Path) -> Iterator[PreloadSource]:
    with closing(PreloadSource(tmp_path / "gate", Origin("job"))) as source:
        yield source


def has_news(source: PreloadSource) -> bool:
    news = select.poll()
    news.register(source, select.POLLIN)
    return bool(news.poll(0))


def test_process_that_cannot_wake_its_collector_is_looked_at_often(
    source: PreloadSource, tmp_path: Path, made: MadeRegion
) -> None:
    assert source.sleep()
    made.hand_over(tmp_path / "gate")
    assert has_news(source)
    source.poll()
    assert not source.sleep()
    made.set(wakes=1)
    assert source.sleep()
    assert int(made.header["wakes"][0]) == 2


def test_sleeps_grow_while_idle_and_are_short_without_wake_ups() -> None:
    naps = SleepTimes()
    busy = naps.next_s(busy=True, wakes=True)
    for _ in range(30):
        idle = naps.next_s(busy=False, wakes=True)
    assert busy < idle <= 1.0
    assert naps.next_s(busy=False, wakes=False) <= 0.02


def test_rests_are_short_in_bursts_and_never_longer_than_a_ring_lasts(monkeypatch: pytest.MonkeyPatch) -> None:
    rests: list[float] = []
    monkeypatch.setattr(sleep_times.time, "sleep", rests.append)
    used_s = iter([0.0, 0.0, 0.0, 5.0])
    monkeypatch.setattr(sleep_times.time, "thread_time", lambda: next(used_s))
    naps = SleepTimes(sleep_times.CALM_REST_S)
    with naps.measured():
        pass
    for most_lines in (0, 100, 60_000):
        naps.pause(most_lines)
    with naps.measured():
        pass
    naps.pause(0)
    assert rests == [0.004, 0.004, 0.001, 0.02]


@contextmanager
def listening(gate: Path, told: RecordingReceiver) -> Iterator[Drain]:
    drain = Drain(gate)
    try:
        yield drain
    finally:
        drain.close(told)


def test_drain_tells_the_most_lines_of_one_process(tmp_path: Path) -> None:
    told = RecordingReceiver()
    with MadeRegion() as made, MadeRegion() as other, listening(tmp_path / "gate", told) as drain:
        other.set(token=78)
        for region in (made, other):
            region.hand_over_from_another_process(tmp_path / "gate")
        made.put(5)
        other.put(9)
        drain.poll(told)
        assert drain.most_lines == 9
        drain.poll(told)
        assert drain.most_lines == 0


def test_traced_program_wakes_a_collector_that_sleeps_before_its_ring_is_full(tmp_path: Path) -> None:
    with Tracing(tmp_path, ring_records=16_384) as tracing:
        write = "import os; f = os.open('/dev/null', os.O_WRONLY); [os.write(f, b'x') for _ in range(8000)]; input()"

        with Program([sys.executable, "-c", write], env=tracing.environment(), stdin=subprocess.PIPE) as running:
            wait_for(lambda: has_news(tracing.source), what="the program")

            def all_came() -> bool:
                # Polled only when it wakes us: on its arrival, and then when its ring fills up.
                if tracing.source.sleep() and has_news(tracing.source):
                    tracing.poll()
                return tracing.calls()["write"] >= 1

            wait_for(all_came, what="a quarter of the ring")
            running.communicate(b"\n")
        tracing.settle()
        assert tracing.calls()["write"] >= 8000
        assert not +Counter({k: v for k, v in tracing.source.counters.items() if "dropped" in k})
