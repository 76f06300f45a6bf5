"""A drain reads a process's counters periodically, independent of its ring reads, and misses none of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from iotide.collectors.sources.preload.records.lines import Lines
from iotide.collectors.sources.preload.rings.drain import Drain
from iotide.collectors.sources.preload.rings.ended_process import ended_processes_in
from support.system.waiting import wait_for
from support.tracing.regions import MadeRegion


class Told:
    """A receiver that stores the reports of processes and the number of lines."""

    def __init__(self) -> None:
        self.free_lines = 1 << 40
        self.counts: list[dict[str, int]] = []
        self.order: list[dict[str, int] | int] = []
        """Counters, and numbers of lines, in the order of arrival."""
        self.taken = 0
        self.has_begun = False
        self.at_next_lines: Callable[[], None] = lambda: None

    def image_started(self, token: int, pid: int, header: bytes, *, follows: bool) -> None:
        self.has_begun = True

    def counters(self, token: int, rank: int, ranks: int, counts: dict[str, int]) -> None:
        self.counts.append({name: count for name, count in counts.items() if count})
        self.order.append(self.counts[-1])

    def lines(self, token: int, tid: int, lines: Lines) -> None:
        self.taken += len(lines)
        self.order.append(len(lines))
        work, self.at_next_lines = self.at_next_lines, lambda: None
        work()

    def definitions(self, token: int, entries: bytes) -> None: ...

    def settled(self, token: int) -> None: ...

    def malformed(self, token: int, problem: str) -> None: ...

    def ended(self, token: int) -> None: ...

    def ended_processes(self, data: bytes) -> None:
        for ended in ended_processes_in(data):
            ended.pass_on(self)

    def refused(self, counter: str, problem: str) -> None: ...

    def still_running(self, token: int) -> None: ...

    def unreachable(self, job: str, command: str, failure: str) -> None: ...


@contextmanager
def closing_of(drain: Drain, told: Told) -> Iterator[Drain]:
    try:
        yield drain
    finally:
        drain.close(told)


def test_counters_of_a_busy_process_are_read_twenty_times_a_second(tmp_path: Path, made: MadeRegion) -> None:
    now_s, told = 100.0, Told()
    with closing_of(Drain(tmp_path / "gate", clock=lambda: now_s), told) as drain:
        made.hand_over(tmp_path / "gate")
        wait_for(lambda: drain.poll(told) or told.has_begun, what="the process")
        before = len(told.counts)
        for dropped in range(1, 41):  # over a tenth of a second
            made.put(1)
            made.set(dropped_no_slot=dropped)
            now_s += 0.0026
            drain.poll(told)
        assert told.taken == 40
        assert len(told.counts) - before == 2
        now_s += 0.06
        drain.poll(told)  # it records no more
        assert told.counts[-1] == {"events_dropped:no_slot": 40}
        made.set(dropped_no_slot=41)
    assert told.counts[-1] == {"events_dropped:no_slot": 41}


def test_calls_that_found_no_room_behind_their_ring_are_told_as_such(tmp_path: Path, made: MadeRegion) -> None:
    now_s, told = 100.0, Told()
    with closing_of(Drain(tmp_path / "gate", clock=lambda: now_s), told) as drain:
        made.hand_over(tmp_path / "gate")
        wait_for(lambda: drain.poll(told) or told.has_begun, what="the process")
        made.slots["dropped_full"][0] = 3  # while there was room
        made.put(5)
        told.free_lines = 5
        now_s += 0.001
        drain.poll(told)
        made.slots["dropped_full"][0] = 10
        told.free_lines = 0
        now_s += 0.001
        drain.poll(told)
    assert told.counts[-1] == {"events_dropped:ring_full": 3, "events_dropped:spool_full": 7}


def test_calls_that_a_full_ring_dropped_are_told_before_the_lines_after_them(tmp_path: Path) -> None:
    now_s, told = 100.0, Told()
    with MadeRegion(lines=64) as made, closing_of(Drain(tmp_path / "gate", clock=lambda: now_s), told) as drain:
        made.hand_over(tmp_path / "gate")
        wait_for(lambda: drain.poll(told) or told.has_begun, what="the process")
        drain.poll(told)
        made.put(64)
        made.slots["dropped_full"][0] = 5
        told.order.clear()
        drain.poll(told)
        assert told.order == [{"events_dropped:ring_full": 5}, 64]

        def fill() -> None:  # while the collector reads the ring, whose head it has already read
            made.put(1)
            made.slots["dropped_full"][0] = 12

        made.put(63)
        told.at_next_lines = fill
        drain.poll(told)
        made.put(1)
        told.order.clear()
        drain.poll(told)
        assert told.order == [{"events_dropped:ring_full": 12}, 2]
