"""Failures of the journal's disk, files or quota: monitoring continues, and losses are reported."""

from __future__ import annotations

import fcntl
import math
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from iotide.daemon.ingest.ingest_core import IngestCore, Reply
from iotide.daemon.journal.forked_task import ForkedTask
from iotide.events import Interner, StreamInfo
from iotide.events.losses import LOST_IN_JOURNAL
from iotide.events.network.wire import Ack, Frame, Heartbeat, Hello, decode, encode, encode_batch
from support.servers.killed_aggregator import Daemon
from support.servers.restarted_job import UNTIL_S
from support.servers.running_aggregator import periodic_batch
from support.system.small_file_systems import fill, small_room
from support.system.waiting import wait_for

EVENTS = 600


class Talk:
    """A hand-made collector of two streams."""

    def __init__(self) -> None:
        self.interners = {"a": Interner(), "b": Interner()}
        self.seq = {"a": 0, "b": 0}
        self.sent: list[list[Frame]] = []

    def hello(self, daemon: Daemon, stream: str, *, acknowledged: int | None = None) -> None:
        info = StreamInfo(job="job", source="test")
        definitions = self.interners[stream].take_fresh() if not self.seq[stream] else None
        last = self.seq[stream] if acknowledged is None else acknowledged
        message = Hello(collector="c", stream=stream, info=info, next_seq=last + 1)
        assert definitions is None or not definitions
        daemon.durability.receive(b"peer", [bytes(each) for each in encode(message)], time.monotonic())

    def batch(self, daemon: Daemon, stream: str) -> list[object]:
        """Return the answers once all is on disk, or at once if nothing is written."""
        self.seq[stream] += 1
        batch = periodic_batch(self.interners[stream], periods=EVENTS // 10, until_s=UNTIL_S + 300 * self.seq[stream])
        frames = encode_batch(stream, self.seq[stream], batch, self.interners[stream].take_fresh())
        self.sent.append([bytes(each) for each in frames])
        at_once = daemon.durability.receive(b"peer", self.sent[-1], time.monotonic())
        return [decode(answer)[0] for _, answer in (*at_once, *daemon.answers())]


def events(daemon: Daemon) -> int:
    return daemon.aggregator.jobs["job"].analyzers.events


def test_batch_is_acknowledged_once_it_is_on_disk_and_a_heartbeat_at_once(tmp_path: Path) -> None:
    daemon, talk = Daemon(tmp_path / "0"), Talk()
    talk.hello(daemon, "a")
    beat = [bytes(each) for each in encode(Heartbeat(collector="c"))]
    assert decode(daemon.durability.receive(b"peer", beat, 0.0)[0][1])[0] == Heartbeat()
    told = [bytes(each) for each in encode(Heartbeat(collector="c", losses={"job": {"processes_unheard": 1}}))]
    assert daemon.durability.receive(b"peer", told, 0.0) == []  # a reported loss is not sent again after its ack
    assert [decode(frames)[0] for _, frames in daemon.answers()] == [Heartbeat()]
    (answer,) = talk.batch(daemon, "a")
    assert isinstance(answer, Ack)
    daemon.keeping.close()


def test_restarted_aggregator_is_not_behind_by_what_its_predecessor_has_done(
    tmp_path: Path,
) -> None:
    """Checks of jobs that change nothing are in no journal: their times are those of the first check after a replay."""
    daemon, talk = Daemon(tmp_path / "0"), Talk()
    talk.hello(daemon, "a")
    last_s = 0.0
    for _ in range(5):
        daemon.clocks.set_steady(daemon.clocks.steady() + daemon.aggregator.settings.idle_after_s / 2)
        last_s = daemon.clocks.steady()
        talk.batch(daemon, "a")
        while daemon.aggregator.tick():
            pass
    daemon.be_killed(tmp_path / "1", 1.0)
    after = Daemon(tmp_path / "1")
    after.aggregator.tick()
    assert max(after.aggregator.pressure.behind_s, after.aggregator.late_s) <= after.clocks.steady() - last_s
    after.keeping.close()


def test_damaged_record_costs_its_stream_one_batch_and_is_told_in_its_job(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    daemon, talk = Daemon(tmp_path / "0"), Talk()
    for stream in "ab":
        talk.hello(daemon, stream)
        talk.batch(daemon, stream)
    for _ in range(3):
        for stream in "ab":
            talk.batch(daemon, stream)
    copy = tmp_path / "1"
    daemon.be_killed(copy, 0.0)
    (file,) = (copy / "journal").glob("*.journal")
    content = bytearray(file.read_bytes())
    content[content.index(talk.sent[3][0]) + 20] ^= 1  # the second batch of b
    file.write_bytes(content)
    after = Daemon(copy)
    assert events(after) == EVENTS * 7
    assert after.aggregator.counters["journal_damaged"] == 1
    assert after.aggregator.jobs["job"].losses.total[LOST_IN_JOURNAL] == 1
    assert f"the journal is damaged: 1 record cannot be read, from {file}, byte" in caplog.text
    for stream in "ab":
        talk.hello(after, stream)
        (answer,) = talk.batch(after, stream)
        assert isinstance(answer, Ack)
    assert events(after) == EVENTS * 9
    after.keeping.close()


@pytest.mark.slow
def test_quota_defers_acknowledgements_until_the_jobs_are_written_down(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    quota = 2**20
    daemon, talk = Daemon(tmp_path / "0", quota_bytes=quota), Talk()
    talk.hello(daemon, "a")
    acknowledged = failed_by(daemon, talk)
    assert daemon.durability.journal.total_bytes < quota + 2**16
    for _ in range(3):
        assert talk.batch(daemon, "a") == []
    beat = [bytes(each) for each in encode(Heartbeat(collector="c"))]
    assert daemon.durability.receive(b"peer", beat, 0.0)  # the collector should not look for another aggregator
    assert daemon.aggregator.counters["journal_unwritten:quota"] >= 3
    assert events(daemon) == EVENTS * talk.seq["a"]
    answers = settle(daemon)
    assert [answer.seq for answer in answers if isinstance(answer, Ack)] == list(
        range(acknowledged + 1, talk.seq["a"] + 1)
    )
    assert caplog.text.count("the journal cannot be written: journal.quota_bytes") == 1
    assert caplog.text.count("the journal is written again") == 1
    before = daemon.aggregator.counters["journal_unwritten:quota"]
    (answer,) = talk.batch(daemon, "a")
    assert isinstance(answer, Ack)
    assert daemon.aggregator.counters["journal_unwritten:quota"] == before
    taken = events(daemon)
    daemon.be_killed(tmp_path / "1", 0.0)
    after = Daemon(tmp_path / "1")
    assert events(after) == taken == EVENTS * talk.seq["a"]
    assert after.aggregator.counters["journal_damaged"] == 0
    after.keeping.close()


@pytest.mark.slow
def test_journal_is_shortened_before_its_quota_is_reached(tmp_path: Path) -> None:
    daemon, talk = Daemon(tmp_path / "0", quota_bytes=2**20), Talk()
    talk.hello(daemon, "a")
    for _ in range(150):
        talk.batch(daemon, "a")
        daemon.durability.poll(time.monotonic())
        if daemon.durability.child.is_busy:  # it may take its time; the test waits for it
            daemon.durability._end(bool(daemon.durability.child.poll(wait=True)), 0.0)
            daemon.durability._ended_s = -math.inf
    assert daemon.aggregator.counters["snapshots"] > 1
    assert not daemon.aggregator.counters["journal_failures"]
    daemon.keeping.close()


@pytest.mark.slow
@pytest.mark.parametrize("restarted", [False, True])
def test_daemon_killed_while_the_journal_failed_has_all_that_was_acknowledged(tmp_path: Path, restarted: bool) -> None:
    daemon, talk = Daemon(tmp_path / "0", quota_bytes=2**20), Talk()
    talk.hello(daemon, "a")
    acknowledged = failed_by(daemon, talk)
    daemon.durability.poll(time.monotonic())
    if restarted:  # and killed before the copy has written the jobs
        wait_for(lambda: daemon.durability.child.is_busy or begun_again(daemon), what="a snapshot")
        assert talk.batch(daemon, "a") == []
    daemon.be_killed(tmp_path / "1", 0.0)
    after = Daemon(tmp_path / "1")
    assert events(after) == EVENTS * acknowledged
    assert after.aggregator.counters["journal_damaged"] == 0
    talk.hello(after, "a", acknowledged=acknowledged)
    for number, frames in enumerate(talk.sent[acknowledged:], acknowledged + 1):  # its collector still has them
        after.durability.receive(b"peer", frames, time.monotonic())
        ((_, answer),) = after.answers()
        assert decode(answer)[0] == Ack(stream="a", seq=number, credit=256)
    assert events(after) == EVENTS * talk.seq["a"]
    assert not after.aggregator.jobs["job"].losses.total
    after.keeping.close()


def test_full_disk_is_said_once_and_costs_nothing_once_there_is_room(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with small_room(tmp_path / "small", 1 << 20) as room:
        daemon, talk = Daemon(room / "state"), Talk()
        talk.hello(daemon, "a")
        ballast = fill(room)
        acknowledged = failed_by(daemon, talk)
        for _ in range(3):
            begun_again(daemon)
        assert daemon.durability.problem == "No space left on device"
        assert "No space left on device" in daemon.durability.snapshot_problem
        assert daemon.aggregator.counters["snapshots_failed"] == 3
        assert daemon.aggregator.counters["answers_deferred"] == talk.seq["a"] - acknowledged > 0
        assert talk.batch(daemon, "a") == []
        ballast.unlink()
        answers = settle(daemon)
        assert len(answers) == talk.seq["a"] - acknowledged
        assert daemon.durability.problem == daemon.durability.snapshot_problem == ""
        for said in (
            "the journal cannot be written: No space left",
            "the snapshot of the jobs failed: a new file of the journal cannot be created: No space left",
        ):
            assert caplog.text.count(said) == 1
        assert caplog.text.count("the journal is written again") == 1
        assert caplog.text.count("snapshots of the jobs succeed again") == 1
        (answer,) = talk.batch(daemon, "a")
        assert isinstance(answer, Ack)
        daemon.be_killed(tmp_path / "1", 0.0)
        after = Daemon(tmp_path / "1")
        assert events(after) == EVENTS * talk.seq["a"]
        assert after.aggregator.counters["journal_damaged"] == 0
        after.keeping.close()


def start_killed(folder: Path, records: int) -> None:
    """Start an aggregator that is killed while it replays a record, as its system calls see it."""
    killed = os.fork()
    if not killed:
        receive = IngestCore.receive
        left = [records]

        def killing(core: IngestCore, *message: Any) -> list[Reply]:
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)
            left[0] -= 1
            return receive(core, *message)

        IngestCore.receive = killing  # type: ignore[method-assign]  # in the copy of the process alone
        Daemon(folder)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(killed, 0)[1]) == -signal.SIGKILL


def batches_of_a_killed_daemon(tmp_path: Path, batches: int) -> Path:
    daemon, talk = Daemon(tmp_path / "0"), Talk()
    talk.hello(daemon, "a")
    for _ in range(batches):
        assert talk.batch(daemon, "a")
    daemon.be_killed(tmp_path / "1", 0.0)
    return tmp_path / "1"


@pytest.mark.parametrize("records", [[1, 2, 3], [4, 1, 0, 4, 2, 1, 0, 3]])
def test_daemons_killed_while_they_replay_lose_no_acknowledged_batch(tmp_path: Path, records: list[int]) -> None:
    folder = batches_of_a_killed_daemon(tmp_path, 5)
    for each in records:
        start_killed(folder, each)
    last = Daemon(folder)
    assert events(last) == 5 * EVENTS
    assert last.aggregator.counters["journal_damaged"] == 0
    assert not (folder / "recovering").exists()
    last.keeping.close()


def test_record_that_ended_three_daemons_is_lost_alone(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = batches_of_a_killed_daemon(tmp_path, 5)
    for _ in range(3):
        start_killed(folder, 3)  # its third batch, after HELLO and two
    last = Daemon(folder)
    assert events(last) == 4 * EVENTS
    assert last.aggregator.counters["journal_damaged"] == 1
    assert last.aggregator.jobs["job"].losses.total[LOST_IN_JOURNAL] == 1
    assert "at which 3 aggregators in a row ended" in caplog.text
    assert not list((folder / "journal").glob("*.unreadable"))
    last.keeping.close()


@pytest.mark.parametrize("attempts", [0, 2, 11, 12])
def test_journal_that_ended_many_daemons_is_set_aside(
    tmp_path: Path, attempts: int, caplog: pytest.LogCaptureFixture
) -> None:
    folder = batches_of_a_killed_daemon(tmp_path, 1)
    (folder / "recovering").write_bytes(bytes(8 * attempts))  # as left by attempts that ended before a record
    last = Daemon(folder)
    is_aside = attempts == 12
    assert ("job" in last.aggregator.jobs) == (not is_aside)
    assert ("12 aggregators in a row ended" in caplog.text) == is_aside
    assert bool(list((folder / "journal").glob("*.unreadable"))) == is_aside
    assert not (folder / "recovering").exists()
    last.keeping.close()


@pytest.mark.parametrize("work", [lambda: False, lambda: 1 / 0])
def test_copy_that_fails_says_so(work: Callable[[], bool]) -> None:
    child = ForkedTask()
    assert child.poll() is None
    assert child.begin(work)
    assert child.poll(wait=True) is False
    assert not child.is_busy


def test_copy_sees_what_was_there_and_holds_nothing_open(tmp_path: Path) -> None:
    with (tmp_path / "held").open("ab") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        seen = ["before"]
        child = ForkedTask()
        assert child.begin(lambda: not not_closed(held.fileno()) and seen == ["before"])
        seen.append("after")
        assert child.poll(wait=True) is True


def test_copy_that_takes_for_ever_can_be_ended() -> None:
    child = ForkedTask()
    child.begin(lambda: bool(signal.pause()))
    child.close()
    assert not child.is_busy


def not_closed(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def failed_by(daemon: Daemon, talk: Talk) -> int:
    """Send batches until the journal accepts no more; return the last acknowledged number."""
    acknowledged = 0
    while not daemon.durability.journal.problem:
        for answer in talk.batch(daemon, "a"):
            assert isinstance(answer, Ack)
            acknowledged = answer.seq
    return acknowledged


def begun_again(daemon: Daemon) -> bool:
    """Retry the journal now, although the last attempt has just failed; wait for the copy of the process."""
    durability = daemon.durability
    durability._ended_s = durability._retry_at_s = durability._next_s = -math.inf
    durability.poll(time.monotonic())
    return durability.child.is_busy


def settle(daemon: Daemon) -> list[object]:
    """Retry the journal until it continues; return the answers of that time."""

    def goes_on() -> bool:
        begun_again(daemon)
        return not daemon.durability._is_suspended

    wait_for(goes_on, what="the journal")
    return [decode(answer)[0] for _, answer in daemon.answers()]


@pytest.mark.parametrize("takes_s", [0.5, 10.0])
def test_end_without_time_to_write_jobs_down_leaves_the_journal_to_the_next(tmp_path: Path, takes_s: float) -> None:
    daemon, talk = Daemon(tmp_path / "0"), Talk()
    talk.hello(daemon, "a")
    talk.batch(daemon, "a")
    daemon.durability._fixed_s = takes_s  # as the earlier snapshots took
    assert daemon.durability.finish(within_s=1.0) == (takes_s < 1.0)
    daemon.keeping.close()
    assert bool(list((tmp_path / "0" / "journal").glob("*.journal"))) == (takes_s > 1.0)
    again = Daemon(tmp_path / "0")
    assert events(again) == EVENTS
    again.keeping.close()
