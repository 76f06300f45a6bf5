"""Unacknowledged events of a killed collector are sent by the next one, once."""

from __future__ import annotations

import random
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.collectors.sent_definitions import packed
from iotide.collectors.settings import CollectorSettings
from iotide.collectors.source import Chunk, Closed, Opened
from iotide.collectors.transport import window
from iotide.collectors.transport.collector_store import NAME, BatchState, CollectorStore
from iotide.collectors.transport.shipper import Shipper
from iotide.collectors.transport.shipper_state import ShipperState
from iotide.daemon.ingest.ingest_core import IngestCore
from iotide.daemon.ingest.ingest_settings import IngestSettings
from iotide.events import ConfigError, Definitions, Interner
from support.servers.sinks import RememberingSink
from support.servers.troubled_links import INFO, Link, numbered


class Collector:
    """A collector of one source of numbers that resumes from the kept state; it can be killed at any step."""

    made: ClassVar[list[Collector]] = []
    step_s = 0.06

    def __init__(self, folder: Path, core: IngestCore, seed: int, trouble: float, **options: int) -> None:
        self.kept = ShipperState(folder, options.pop("most_bytes", 1 << 30), "node:1:secret")
        made = CollectorSettings.model_validate({"batch_events": 16, **options})
        self.shipper = Shipper(self.kept.collector, made, self.kept)
        self.link = Link(self.shipper, core, seed, trouble)
        self.link.now = 1000.0 * (self.kept.opened + 1)
        self.next = int(self.kept.file.positions().get("numbers", b"0"))
        self.name = f"s{self.kept.opened}"
        self.interner = Interner()
        self.shipper.end_previous_streams(list(self.kept.unended_streams), Counter())
        self.shipper.take([Opened(self.name, INFO)], self.link.now)
        self.made.append(self)

    def take(self, count: int) -> None:
        self.interner.string(f"call {self.name} {self.next}")
        chunk = Chunk(self.name, numbered(self.next, count), self.interner.take_fresh())
        self.shipper.take([chunk], self.link.now)
        self.next += count

    def step(self, *, urgent: bool = False) -> None:
        self.link.now += self.step_s
        messages = self.shipper.outgoing(self.link.now)
        self.keep(urgent=urgent)
        for message in self.link._carry(messages):
            for _, reply in self.link._carry(self.link.core.receive(b"peer", message, self.link.now)):
                self.shipper.receive(reply, self.link.now)

    def keep(self, *, urgent: bool) -> None:
        all_is_queued = self.shipper.has_queued([self.name], self.link.now, urgent=urgent)
        self.shipper.keep({"numbers": str(self.next).encode()} if all_is_queued else {})

    def kill(self) -> None:
        self.kept.file._database.close()

    def settle(self) -> None:
        for _ in range(2000):
            if self.shipper.flushed:
                return
            self.link.now += 0.5
            self.step(urgent=True)
        raise AssertionError("the shipper is not flushed")


@pytest.fixture(autouse=True)
def _ended_collectors() -> Iterator[None]:
    yield
    while Collector.made:
        Collector.made.pop().kill()


@pytest.mark.slow
def test_definitions_that_need_several_messages_are_sent_again_and_counted(tmp_path: Path) -> None:
    sink = RememberingSink()
    core = IngestCore(sink, IngestSettings())
    first = Collector(tmp_path, core, 0, 0.0)
    for begin in (0, 1200):  # five million bytes each
        for number in range(begin, begin + 1200):
            first.interner.string(f"{number}".zfill(4000))
        first.take(1)
        first.settle()
    first.take(1)
    first.keep(urgent=True)
    first.kill()
    second = Collector(tmp_path, core, 0, 0.0)
    second.shipper.take([Closed(second.name)], second.link.now)
    for _ in range(10):
        second.link.now += 0.5
        second.step(urgent=True)
    assert second.shipper.outstanding == 0
    second.shipper.close()
    assert sorted(start for starts in sink.starts.values() for start in starts) == [0, 1, 2]


def test_definitions_of_one_batch_in_several_messages_reach_an_aggregator_without_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(window, "packed", lambda definitions: packed(definitions, 100))
    first = Collector(tmp_path, IngestCore(RememberingSink(), IngestSettings()), 0, 0.0)
    for number in range(20):
        first.interner.string(f"text {number}")
    first.take(1)
    first.settle()
    first.take(1)
    first.keep(urgent=True)
    first.kill()
    sink = RememberingSink()
    second = Collector(tmp_path, IngestCore(sink, IngestSettings()), 0, 0.0)
    second.shipper.take([Closed(second.name)], second.link.now)
    second.settle()
    (table,) = (sink.definitions[stream] for stream, starts in sink.starts.items() if starts == [1])
    assert table.strings_from(1) == [*(f"text {number}" for number in range(20)), "call s0 0", "call s0 1"]


@pytest.mark.parametrize("ends", [False, True])
def test_events_of_other_streams_are_stored_with_a_batch_before_the_same_position(tmp_path: Path, ends: bool) -> None:
    """A file may have several streams; without their events, the next collector would read those of the batch again."""
    collector = Collector(tmp_path, IngestCore(RememberingSink(), IngestSettings()), 0, 0.0)
    shipper, now_s = collector.shipper, collector.link.now
    shipper.take([Opened("other", INFO), Chunk("other", numbered(0, 1), Definitions())], now_s)
    assert not shipper.has_queued([collector.name, "other"], now_s, urgent=False)
    collector.take(16)
    if ends:
        shipper.take([Closed(collector.name)], now_s)
    assert shipper.has_queued([collector.name, "other"], now_s, urgent=False)
    shipper.keep({})
    collector.kill()
    following = Collector(tmp_path, IngestCore(sink := RememberingSink(), IngestSettings()), 0, 0.0)
    shipper = following.shipper
    shipper.take([Closed(following.name)], following.link.now)
    following.settle()
    assert sorted(len(starts) for starts in sink.starts.values() if starts) == [1, 16]


@pytest.mark.parametrize("step_s", [0.01, 0.06])
def test_events_that_wait_for_a_fuller_batch_are_stored_with_the_batch_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step_s: float
) -> None:
    monkeypatch.setattr(Collector, "step_s", step_s)
    core = IngestCore(sink := RememberingSink(), IngestSettings())
    first = Collector(tmp_path, core, 0, 0.0)
    first.take(16)
    first.take(1)
    first.step()
    first.kill()
    second = Collector(tmp_path, core, 0, 0.0)
    second.take(3)
    second.shipper.take([Closed(second.name)], second.link.now)
    second.settle()
    assert sorted(start for starts in sink.starts.values() for start in starts) == list(range(20))


STEPS = st.lists(st.one_of(st.integers(1, 40), st.just("step"), st.just("urgent"), st.just("kill")), max_size=50)


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 2**32), trouble=st.sampled_from([0.0, 0.2]), steps=STEPS, memory=st.sampled_from([16, 26]))
def test_every_event_arrives_once_whenever_collectors_are_killed(
    seed: int, trouble: float, steps: list[int | str], memory: int
) -> None:
    sink = RememberingSink()
    core = IngestCore(sink, IngestSettings())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        collector = Collector(folder, core, seed, trouble, backlog_bytes=1 << memory)
        for step in steps:
            if step == "kill":
                collector.kill()
                collector = Collector(folder, core, seed, trouble, backlog_bytes=1 << memory)
            elif isinstance(step, int):
                collector.take(step)
            else:
                collector.step(urgent=step == "urgent")
        collector.shipper.take([Closed(collector.name)], collector.link.now)
        collector.settle()
        collector.shipper.keep({"numbers": None})
        assert collector.kept.file.bytes == 0
        collector.shipper.close()
        assert not list(folder.iterdir())
    arrived = sorted(start for starts in sink.starts.values() for start in starts)
    assert arrived == list(range(collector.next))
    assert sorted(sink.closed_streams) == sorted(sink.starts)
    assert not any(sink.losses.values())


@pytest.mark.slow
@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 2**32), sizes=st.lists(st.integers(1, 3000), min_size=1, max_size=30))
def test_events_beyond_the_bound_are_counted_by_the_next_collector_too(seed: int, sizes: list[int]) -> None:
    sink = RememberingSink()
    core = IngestCore(sink, IngestSettings())
    with tempfile.TemporaryDirectory() as name:
        options = {"most_bytes": 60_000, "backlog_bytes": 1 << 16}
        collector = Collector(Path(name), core, seed, 0.0, **options)
        for size in sizes:
            collector.take(size)
            collector.keep(urgent=True)
        assert collector.kept.file.bytes <= 60_000
        collector.kill()
        following = Collector(Path(name), core, seed, 0.0, **options)
        following.settle()
        arrived = [start for starts in sink.starts.values() for start in starts]
        lost = sum(losses.get("events_dropped:shipper_full", 0) for losses in sink.losses.values())
        assert len(arrived) == len(set(arrived))
        assert len(arrived) + lost == sum(sizes)
        names = [sink.definitions[stream].string_count - 1 for stream in sink.starts]
        assert not arrived or sum(names) == len(sizes)
        following.shipper.close()


def test_disk_that_takes_nothing_costs_no_call_while_the_collector_lives(tmp_path: Path) -> None:
    sink = RememberingSink()
    collector = Collector(tmp_path, IngestCore(sink, IngestSettings()), 1, 0.0)
    collector.take(100)
    collector.step(urgent=True)
    collector.kept.file._database.execute("PRAGMA max_page_count = 1")  # the file cannot grow
    for _ in range(20):
        collector.take(1000)
        collector.keep(urgent=True)
    assert collector.kept.file.failures == 1
    collector.settle()
    assert sorted(next(iter(sink.starts.values()))) == list(range(20_100))


def test_folder_is_of_one_collector_at_a_time(tmp_path: Path) -> None:
    first = CollectorStore(tmp_path, 1 << 20)
    with pytest.raises(ConfigError, match="is used by another collector"):
        CollectorStore(tmp_path, 1 << 20)
    first.close()
    CollectorStore(tmp_path, 1 << 20).close()


@pytest.mark.parametrize("damage", ["text", "version"])
def test_file_that_is_none_of_this_version_is_set_aside(tmp_path: Path, damage: str) -> None:
    kept = CollectorStore(tmp_path, 1 << 20)
    kept.put("s", numbered(0, 10), Definitions())
    kept.store_fact("collector", b"name")
    kept.commit()
    kept._database.close()
    if damage == "text":
        (tmp_path / NAME).write_bytes(b"nothing that a database begins with" * 1000)
    else:
        database = sqlite3.connect(tmp_path / NAME)
        database.execute("PRAGMA user_version = 99")
        database.close()
    following = CollectorStore(tmp_path, 1 << 20)
    assert following.fact("collector") == b""
    assert (tmp_path / "unacknowledged.unreadable").exists()
    following.close()


def test_files_are_closed_to_other_users(tmp_path: Path) -> None:
    kept = CollectorStore(tmp_path / "kept", 1 << 20)
    kept.put("s", numbered(0, 10), Definitions())
    kept.commit()
    files = list((tmp_path / "kept").iterdir())
    assert files
    assert all(path.stat().st_mode & 0o077 == 0 for path in (*files, tmp_path / "kept"))
    kept.close()


@pytest.mark.slow
@settings(deadline=None, max_examples=50)
@given(seed=st.integers(0, 2**32))
def test_file_says_what_was_committed_last(seed: int) -> None:
    choose = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        kept = CollectorStore(Path(name), 1 << 30)
        there: dict[int, int] = {}  # events by row
        committed: dict[int, int] = {}
        for _ in range(choose.randrange(40)):
            what = choose.randrange(4)
            if what == 0 and there:
                row = choose.choice(list(there))
                kept.finish_batch(row, BatchState.DONE, Definitions())
                del there[row]
            elif what == 1 and there:
                kept.record_seq(choose.choice(list(there)), choose.randrange(1, 9))
            elif what == 2:
                kept.commit()
                committed = dict(there)
            else:
                events = choose.randrange(1, 50)
                there[kept.put("s", numbered(0, events), Definitions())] = events
        kept._database.close()
        following = CollectorStore(Path(name), 1 << 30)
        assert {each.row: each.events for each in following.batches()} == committed
        for row, events in committed.items():
            batch = following.read(row)
            assert batch is not None
            assert len(batch) == events
        following.close()


def test_batch_with_corrected_stamps_is_resent_with_the_same_stamps(tmp_path: Path) -> None:
    """The batch had no ack when its collector was killed; the next collector does not know the clock offset yet."""
    core = IngestCore(sink := RememberingSink(), IngestSettings())
    core.time_of_day = lambda: 20_000.0
    first = Collector(tmp_path, core, 0, 0.0)
    first.step()
    first.take(3)
    first.shipper.flush(first.link.now)
    first.shipper.outgoing(first.link.now)  # sent, and lost
    first.keep(urgent=True)
    corrected = next(iter(first.shipper._windows.values())).info.clock_off_ns
    assert corrected != 0
    first.kill()
    core.time_of_day = lambda: 0.0
    second = Collector(tmp_path, core, 0, 0.0)
    second.settle()
    (starts,) = [starts for starts in sink.starts.values() if starts]
    assert starts == [max(0, number - corrected) for number in range(3)]


def test_store_that_cannot_be_read_any_more_is_closed(tmp_path: Path) -> None:
    kept = CollectorStore(tmp_path, 1 << 20)
    kept._database.execute("DROP TABLE places")
    kept.close()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        kept._database.execute("SELECT 1")
    assert (tmp_path / NAME).exists()
