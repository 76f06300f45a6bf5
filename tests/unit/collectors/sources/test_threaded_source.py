"""Sources whose polls hang: they are awaited beside others, and lose nothing."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from iotide.collectors.settings import CollectorSettings
from iotide.collectors.source import Opened, Origin, Problems, Source, SourceItem
from iotide.collectors.sources import threaded_source as module
from iotide.collectors.sources.registry import open_file, read_all
from iotide.collectors.sources.threaded_source import AwaitedSource, PollThreads, open_in_thread
from iotide.collectors.transport.agent import Agent
from iotide.events import InputError, StreamInfo
from support.formats.parsing import collect
from support.places import DATA
from support.system.waiting import DEADLINE_S, wait_for


class Hanging:
    """A source whose poll returns an item once the test permits it."""

    def __init__(self, polls: int = 1) -> None:
        self.problems, self.counters = Problems(), Counter[str]()
        self.finished = False
        self.permits = threading.Semaphore(0)
        self.closed = threading.Event()
        self._left = polls

    def poll(self) -> list[SourceItem]:
        self.counters["polls"] += 1
        assert self.permits.acquire(timeout=DEADLINE_S)
        self.counters["events"] += 1
        self.problems.add(InputError("x", None, "a problem", "none"))
        self._left -= 1
        self.finished = not self._left
        return [Opened(f"s{self._left}", StreamInfo(job="j", source="test"))]

    def close(self) -> None:
        self.closed.set()

    def resume_from(self, places: Mapping[str, bytes]) -> None:
        self.counters["resumed"] = len(places)

    def read_positions(self, is_queued: Callable[[Iterable[str], bool], bool]) -> dict[str, bytes | None]:
        return {"x": b"%d" % self._left} if is_queued(["s"], False) else {}

    def positions_stored(self) -> None:
        pass


class Quick(Hanging):
    """A source whose polls return at once."""

    def poll(self) -> list[SourceItem]:
        self.counters["quick"] += 1
        return []


class Unnoticed(PollThreads):
    """Polls that run when they are to return."""

    def begin(self, poll: Callable[[], Any], results: queue.SimpleQueue[Any]) -> None:
        self._poll = lambda: results.put(poll())

    def end_poll(self, source: Hanging) -> None:
        source.permits.release()
        self._poll()


def awaited(source: Source) -> AwaitedSource:
    return AwaitedSource(source, "a.h5", PollThreads(), patience_s=0.0)


def next_items(source: AwaitedSource) -> list[SourceItem]:
    return wait_for(source.poll, what="the items")


def test_source_that_hangs_delays_no_other(tmp_path: Path) -> None:
    hanging, quick = Hanging(), Quick()
    agent = Agent([awaited(hanging), quick], CollectorSettings(endpoint=f"ipc://{tmp_path}/none"))
    try:
        for _ in range(5):
            agent.pump()
        assert agent.counters()["quick"] == 5
        assert agent.counters()["events"] == 0
        hanging.permits.release()
        wait_for(lambda: (agent.pump(), agent.counters()["events"])[1], what="the items")
        assert hanging.closed.is_set()
        assert agent.problems.total == 1
    finally:
        agent.close()


async def test_drain_awaits_a_poll_that_is_under_way(tmp_path: Path) -> None:
    hanging = Hanging()
    settings = CollectorSettings(endpoint=f"ipc://{tmp_path}/none", away_after_s=0.05)
    agent = Agent([awaited(hanging)], settings)
    try:
        agent.pump()
        draining = asyncio.create_task(agent.drain(DEADLINE_S))
        await asyncio.sleep(0)  # it has pumped once
        hanging.permits.release()
        await draining
        assert agent.counters()["events"] == 1
        assert agent.unread == 0
    finally:
        agent.close()


def test_items_counters_problems_and_positions_appear_together() -> None:
    hanging = Hanging(polls=3)
    source = awaited(hanging)
    source.resume_from({"x": b"9"})
    assert source.poll() == []
    assert source.is_waiting
    assert (source.counters["events"], source.problems.total) == (0, 0)
    for left in (2, 1):
        hanging.permits.release()
        assert len(next_items(source)) == 1
        assert source.poll() == []
        assert source.counters["events"] == source.problems.total == 3 - left
        assert source.read_positions(lambda streams, urgent: False) == {}
        assert source.read_positions(lambda streams, urgent: True) == {"x": b"%d" % left}
        assert source.read_positions(lambda streams, urgent: True) == {}
    hanging.permits.release()
    next_items(source)
    assert source.finished
    assert not source.is_waiting
    source.close()


def test_source_that_still_hangs_at_the_end_is_unread_and_closed_by_its_thread() -> None:
    hanging = Hanging()
    source = awaited(hanging)
    source.poll()
    source.close()
    source.close()
    assert source.finished
    assert source.poll() == []
    assert source.counters["inputs_unread"] == 1
    assert "a.h5: a read did not return" in str(source.problems.first[0])
    assert not hanging.closed.is_set()
    hanging.permits.release()
    assert hanging.closed.wait(DEADLINE_S)


def test_items_of_a_poll_that_returns_unnoticed_before_the_end_are_unread() -> None:
    hanging = Hanging(polls=2)
    source = AwaitedSource(hanging, "a.h5", threads := Unnoticed(), patience_s=0.0)
    source.resume_from({})
    source.poll()
    threads.end_poll(hanging)
    assert len(next_items(source)) == 1
    source.poll()
    threads.end_poll(hanging)
    source.close()
    assert hanging.closed.is_set()
    assert source.counters["inputs_unread"] == 1
    assert source.counters["events"] == 1
    assert source.read_positions(lambda streams, urgent: True) == {"x": b"1"}


def test_exception_of_a_poll_is_raised_in_the_caller() -> None:
    class Broken(Hanging):
        def poll(self) -> list[SourceItem]:
            raise RuntimeError("out of order")

    source = awaited(Broken())
    with pytest.raises(RuntimeError, match="out of order"):
        next_items(source)
    source.close()


def test_sources_share_a_thread_until_one_hangs() -> None:
    threads = PollThreads()
    sources = [AwaitedSource(Quick(), str(number), threads, patience_s=DEADLINE_S) for number in range(100)]
    for source in sources * 3:
        source.poll()
    assert threads.count == 1
    hanging = Hanging()
    AwaitedSource(hanging, "a.h5", threads, patience_s=0.0).poll()
    for source in sources:
        source.poll()
    assert threads.count == 2
    assert all(source.poll() == [] and not source.is_waiting for source in sources)
    hanging.permits.release()


def test_many_sources_that_hang_are_not_awaited_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = 100.0

    class Results(queue.SimpleQueue[Any]):
        def get(self, block: bool = True, timeout: float | None = None) -> Any:
            nonlocal now_s
            assert timeout is not None
            now_s += timeout
            raise queue.Empty

    monkeypatch.setattr(module.time, "monotonic", lambda: now_s)
    threads = PollThreads()
    for _ in range(1000):
        with pytest.raises(queue.Empty):
            threads.result_of(Results(), 0.5)
    assert now_s == 100.5
    now_s += 10.0
    with pytest.raises(queue.Empty):
        threads.result_of(Results(), 0.5)
    assert now_s == 111.0


def test_polls_wait_while_all_threads_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MAX_THREADS", 2)
    threads, hanging, quick = PollThreads(), [Hanging(), Hanging()], Quick()
    sources = [AwaitedSource(each, "a.h5", threads, patience_s=0.0) for each in (*hanging, quick)]
    for source in sources:
        source.poll()
    assert sources[2].is_waiting
    assert quick.counters["quick"] == 0
    hanging[0].permits.release()
    wait_for(lambda: (sources[2].poll(), not sources[2].is_waiting)[1], what="the poll")
    hanging[1].permits.release()


def test_input_is_read_where_no_thread_can_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    quick = Quick()
    source = awaited(quick)
    source.poll()
    assert (source.is_waiting, quick.counters["quick"]) == (False, 1)


@pytest.mark.parametrize("name", ["tmio-8ranks.jsonl", "lttng.txt.gz", "dftracer-calls.pfw.gz"])
def test_file_gives_the_same_items(name: str) -> None:
    origin = Origin(job="j")
    direct, awaited_file = open_file(DATA / name, origin), open_file(DATA / name, origin)
    source = AwaitedSource(awaited_file, name, PollThreads())
    expected, found = collect(read_all(direct)), collect(read_all(source))
    assert {key: stream.rows() for key, stream in found.items()} == {key: each.rows() for key, each in expected.items()}
    assert source.counters == direct.counters
    assert source.problems == direct.problems


def test_opening_that_hangs_ends_when_the_end_is_requested(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "_LOGGED_S", 0.0)
    permits, asked = threading.Event(), list[bool]()

    def opening() -> Source:
        assert permits.wait(DEADLINE_S)
        return Hanging()

    def is_end_requested() -> bool:
        asked.append(True)
        return len(asked) > 2

    with pytest.raises(InputError, match=r"a\.h5: it could not be opened before the end"):
        open_in_thread(opening, "a.h5", PollThreads(), is_end_requested)
    permits.set()
    assert "a.h5: opening has not returned" in caplog.text


def test_opened_source_and_errors_of_opening_are_passed_on(tmp_path: Path) -> None:
    source = Hanging()
    assert open_in_thread(lambda: source, "x", PollThreads(), lambda: False) is source
    with pytest.raises(InputError, match="cannot be read"):
        open_in_thread(lambda: open_file(tmp_path / "absent", Origin(job="j")), "x", PollThreads(), lambda: False)
