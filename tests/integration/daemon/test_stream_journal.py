"""The journal at a real NATS server: stored data is restored, once and in order, and only one writer appends."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from iotide.cli.doctor.journal_checks import server_findings, store_findings
from iotide.daemon.jobs.lifecycle.recorded_steps import Kind
from iotide.daemon.journal.contract import Gap, JournalError, Moment, Position, Record
from iotide.daemon.journal.jetstream import stream_journal, stream_writer
from iotide.daemon.journal.jetstream.inspection import inspect_journal
from iotide.daemon.journal.jetstream.lease_holder import KEY, release_lease_of
from iotide.daemon.journal.jetstream.link import NatsLink
from iotide.daemon.journal.jetstream.resources import lease_bucket, stream_names
from iotide.daemon.journal.jetstream.stores import Stores, server_fault
from iotide.daemon.journal.jetstream.stream_journal import StreamJournal, wait_for_lease
from iotide.daemon.journal.settings import JournalSettings
from iotide.events import ConfigError
from nats.js.api import StreamConfig
from support.servers.nats_servers import NatsServers, nats_servers
from support.system.waiting import wait_for

MOMENT = Moment(1.5, 2.5, 3.5)
NEVER = Position(0, 0)


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServers]:
    with nats_servers(tmp_path_factory.mktemp("nats")) as found:
        yield found


@pytest.fixture
def settings(servers: NatsServers, request: pytest.FixtureRequest) -> JournalSettings:
    return servers.settings(name=f"g{abs(hash(request.node.name)) % 10**8}", lease_s=1.0)


def opened(settings: JournalSettings, folder: Path) -> StreamJournal:
    journal = asyncio.run(wait_for_lease(settings, lambda _: None))
    journal.fetch_snapshot(folder / "jobs.state")
    return journal


def begun(settings: JournalSettings, folder: Path) -> tuple[StreamJournal, list[Record | Gap]]:
    journal = opened(settings, folder)
    found = list(journal.replay(journal.start))
    journal.begin(journal.start, lambda: None)
    return journal, found


def die(journal: StreamJournal) -> None:
    """End without a message, like a killed process."""
    journal._lease._link.close()


def numbers(found: list[Record | Gap]) -> list[int]:
    return [each.position.record for each in found if isinstance(each, Record)]


def test_records_come_back_as_they_were(settings: JournalSettings, tmp_path: Path) -> None:
    journal, found = begun(settings, tmp_path)
    assert found == []
    large = os.urandom(3 << 20)  # more than a message can contain
    journal.append([memoryview(b"head"), bytearray(b"column"), b""], b"\0\1", MOMENT)
    journal.append([], b"", Moment(-1.0, 0.0, 1e300), Kind.TICK)
    journal.append([b"x", large], b"peer", MOMENT)
    journal.append([b"after"], b"peer", MOMENT)
    assert journal.sync(wait=True) == journal.last == Position(1, 4)
    journal.release()
    again, found = begun(settings, tmp_path)
    assert found == [
        Record(Position(1, 1), Kind.MESSAGE, b"\0\1", MOMENT, [b"head", b"column", b""]),
        Record(Position(1, 2), Kind.TICK, b"", Moment(-1.0, 0.0, 1e300), []),
        Record(Position(1, 3), Kind.MESSAGE, b"peer", MOMENT, [b"x", large]),
        Record(Position(1, 4), Kind.MESSAGE, b"peer", MOMENT, [b"after"]),
    ]
    assert again.last == Position(2, 4)
    again.release()


def test_each_record_is_kept_once_while_the_server_is_killed_again_and_again(tmp_path: Path) -> None:
    with nats_servers(tmp_path / "nats") as servers:
        settings = servers.settings(lease_s=60.0)
        journal, _ = begun(settings, tmp_path)
        synced = 0
        for round_ in range(4):
            for number in range(200):
                journal.append([b"frame", os.urandom(50 + 1000 * (number % 7))], b"peer", MOMENT)
                journal.sync()
            if round_ < 3:
                wait_for(lambda: journal.synced.record > synced, what="something kept")  # noqa: B023
                servers.kill()
                synced = journal.synced.record
                servers.start()
        assert journal.sync(wait=True).record == 800
        assert not journal.is_fenced
        journal.release()
        again, found = begun(settings, tmp_path)
        assert numbers(found) == list(range(1, 801))
        assert not [each for each in found if isinstance(each, Gap)]
        again.release()


def test_records_share_a_message_until_they_are_large_or_appending_ends(
    settings: JournalSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_writer, "_GATHER_S", 3600.0)
    journal, _ = begun(settings, tmp_path)
    journal.append([b"first"], b"peer", MOMENT)
    journal.sync(wait=True)  # at once, as nothing was appended before
    for _ in range(10):
        journal.append([b"small"], b"peer", MOMENT)
        journal.sync()
    journal.append([bytes(stream_writer._LAZY_BYTES)], b"peer", MOMENT)
    wait_for(lambda: journal.synced == journal.last, what="the large message")
    assert journal.syncs == 2
    for _ in range(10):
        journal.append([b"small"], b"peer", MOMENT)
        journal.sync()
    journal.close()
    assert journal.synced == journal.last
    assert journal.syncs == 3
    journal.release()
    again, found = begun(settings, tmp_path)
    assert numbers(found) == list(range(1, journal.last.record + 1))
    again.release()


def test_record_appended_during_an_outage_is_not_reported_as_kept(tmp_path: Path) -> None:
    with nats_servers(tmp_path / "nats") as servers:
        journal, _ = begun(servers.settings(lease_s=60.0), tmp_path)
        journal.append([b"first"], b"peer", MOMENT)
        journal.sync(wait=True)
        servers.kill()
        journal.append([b"second"], b"peer", MOMENT)
        assert journal.sync().record == 1
        assert journal.problem == ""
        servers.start()
        assert journal.sync(wait=True).record == 2
        journal.release()


def test_journal_ends_while_the_servers_are_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream_journal, "_END_S", 0.1)
    with nats_servers(tmp_path / "nats") as servers:
        journal, _ = begun(servers.settings(lease_s=60.0), tmp_path)
        servers.kill()
        journal.append([b"first"], b"peer", MOMENT)
        journal.close()
        assert journal.problem == "the servers did not answer"
        journal.release()  # closes it again


def test_full_store_is_reported_and_costs_no_record(
    settings: JournalSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_writer, "_SILENT_S", 0.0)
    journal, _ = begun(settings, tmp_path)

    def limit(size: int) -> None:
        jetstream, name = journal.link.jetstream, stream_names(settings.name)[0]
        config = journal.link.call(jetstream.stream_info(name)).config
        config.max_bytes = size
        journal.link.call(jetstream.update_stream(config))

    limit(1 << 16)
    for _ in range(8):
        journal.append([bytes(1 << 14)], b"a", MOMENT)
    journal.sync()
    wait_for(lambda: "maximum bytes exceeded" in journal.delay, what="the reason of the servers")
    assert not journal.problem
    seen = inspect_journal(settings)
    assert seen is not None
    (full,) = store_findings(seen.stores)
    assert (full.works, full.necessary) == (False, True)
    assert "max_bytes" in full.remedy
    limit(-1)
    wait_for(lambda: journal.synced == journal.last, what="the waiting records")
    wait_for(lambda: not journal.delay, what="the end of the delay")
    journal.release()
    after, found = begun(settings, tmp_path)
    assert numbers(found) == list(range(1, 9))
    after.release()


@pytest.mark.slow
def test_the_fault_of_a_server_is_reported(tmp_path: Path) -> None:
    with nats_servers(tmp_path / "nats", 3) as three:
        assert [server_fault(monitor) for monitor in three.monitors] == ["", "", ""]
        three.kill(0)
        three.kill(1)
        # before its peers are missed, a server may not be ready for connections
        fault = wait_for(
            lambda: "JetStream" in (now := server_fault(three.monitors[2])) and now,
            what="a fault of JetStream of a server without its peers",
        )
        assert server_fault(three.monitors[0]) == ""
    (finding,) = store_findings(Stores(unhealthy=(fault,)))
    assert (finding.works, finding.necessary, finding.detail) == (False, False, fault)


def test_silent_monitor_is_named_and_the_other_servers_are_checked(settings: JournalSettings, tmp_path: Path) -> None:
    journal, _ = begun(settings, tmp_path)
    journal.release()
    silent = "http://127.0.0.1:1"
    seen = inspect_journal(settings.model_copy(update={"monitors": (silent, *settings.monitors)}))
    assert seen is not None
    assert [each.name for each in seen.stores.limited] == [f"server at {settings.monitors[0]}"]
    (unknown,) = store_findings(seen.stores)
    assert (unknown.works, unknown.necessary) == (False, False)
    assert silent in unknown.detail
    (unsynced,) = server_findings(settings.servers, settings.replicas, seen.unsynced)
    assert (unsynced.works, unsynced.necessary) == (False, True)
    assert silent in unsynced.detail


def test_second_writer_fences_the_first(settings: JournalSettings, tmp_path: Path) -> None:
    """A writer that resumes after a stall and does not know the new one: its append is rejected, and it reports
    this.
    """
    first, _ = begun(settings, tmp_path)
    first.append([b"one"], b"peer", MOMENT)
    first.sync(wait=True)
    stop(first)
    second, found = begun(settings, tmp_path)
    assert numbers(found) == [1]
    second.append([b"two"], b"peer", MOMENT)
    second.sync(wait=True)
    first.append([b"late"], b"peer", MOMENT)
    go_on(first)
    first.sync(wait=True)
    assert first.is_fenced
    assert first.synced.record == 1
    first.release()
    second.append([b"three"], b"peer", MOMENT)
    assert second.sync(wait=True).record == 3
    second.release()
    third, found = begun(settings, tmp_path)
    assert [each.frames for each in found if isinstance(each, Record)] == [[b"one"], [b"two"], [b"three"]]
    third.release()


def test_late_append_of_a_writer_that_was_fenced_changes_nothing(settings: JournalSettings, tmp_path: Path) -> None:
    """Also if it is at the server already, behind a claim that it does not know."""
    first, _ = begun(settings, tmp_path)
    first.append([b"one"], b"peer", MOMENT)
    first.sync(wait=True)
    first._link.call(first._claim())  # as another one would
    first.append([b"late"], b"peer", MOMENT)
    first.sync(wait=True)
    assert first.is_fenced
    assert "another aggregator" in first.problem
    first.release()


def test_snapshot_takes_the_place_of_what_it_holds(settings: JournalSettings, tmp_path: Path) -> None:
    journal, _ = begun(settings, tmp_path)
    for number in range(50):
        journal.append([b"frame %d" % number], b"peer", MOMENT)
        journal.sync(wait=number % 7 == 0)
    at = journal.last
    content = os.urandom(2 << 20)
    (tmp_path / "jobs.state").write_bytes(content)
    journal.trim(at)
    journal.append([b"behind"], b"peer", MOMENT)
    journal.sync(wait=True)
    wait_for(journal.has_stored, what="the snapshot")
    die(journal)
    other = tmp_path / "other machine"
    other.mkdir()
    again, found = begun(settings, other)
    assert (other / "jobs.state").read_bytes() == content
    assert again.start == at
    assert numbers(found) == [51]
    assert again.total_bytes < 2000
    (other / "jobs.state").write_bytes(b"later")
    again.append([b"more"], b"peer", MOMENT)
    again.close()
    again.remove()
    again.release()
    last, found = begun(settings, tmp_path)
    assert found == []
    assert (tmp_path / "jobs.state").read_bytes() == b"later"
    assert last.last.record == 52
    assert [each.at.record for each in last._link.call(last._snapshots.list_stored())] == [52]
    last.release()


def test_lease_that_is_given_back_is_taken_at_once_and_another_after_its_time(
    servers: NatsServers, tmp_path: Path
) -> None:
    settings = servers.settings(name="handed", lease_s=60.0)
    first, _ = begun(settings, tmp_path)
    told = threading.Event()
    taken: list[StreamJournal] = []

    def wait() -> None:
        taken.append(asyncio.run(wait_for_lease(settings, lambda _: told.set())))

    waiting = threading.Thread(target=wait)
    waiting.start()
    wait_for(told.is_set, what="the report that it waits")
    assert not taken
    first.release()
    waiting.join()  # not a minute
    taken[0].release()
    taken[0].release()  # no coroutine is left behind by a closed connection


def test_lease_of_a_crashed_process_is_released_for_the_next_one(servers: NatsServers, tmp_path: Path) -> None:
    settings = servers.settings(name="crashed", lease_s=60.0)
    first, _ = begun(settings, tmp_path)
    die(first)
    link = NatsLink(settings)
    try:
        leases = link.call(link.jetstream.key_value(lease_bucket(settings.name)))
        assert not link.call(release_lease_of(leases, os.getpid() + 1))  # not that of another process
        entry = link.call(leases.get(KEY))
        host, pid, rest = (entry.value or b"").split(b":")
        of_container = b":".join((host, pid, b"0" + rest))  # the same pid in another container of this machine
        last = link.call(leases.update(KEY, of_container, last=entry.revision))
        assert not link.call(release_lease_of(leases, os.getpid()))
        link.call(leases.update(KEY, entry.value or b"", last=last))
        assert link.call(release_lease_of(leases, os.getpid()))
        assert not link.call(release_lease_of(leases, os.getpid()))
    finally:
        link.close()
    asyncio.run(wait_for_lease(settings, lambda _: None)).release()  # not after a minute


def test_stream_that_would_lose_messages_is_refused(servers: NatsServers) -> None:
    for name, change, said in (
        ("aged", {"max_age": 60.0}, "drops messages"),
        ("memory", {"storage": "memory"}, "in memory"),
        ("wide", {"subjects": ["iotide.journal.wide", "other.wide"]}, "its subjects"),
        ("undirected", {"allow_direct": False}, "one by one"),
    ):
        settings = servers.settings(name=name)
        stream, subject = stream_names(name)
        made = {"name": stream, "subjects": [subject], "allow_direct": True} | change

        async def make(wanted: dict[str, object] = made) -> None:
            import nats

            client = await nats.connect(servers.urls[0])
            await client.jetstream().add_stream(StreamConfig(**wanted))  # type: ignore[arg-type]
            await client.close()

        asyncio.run(make())
        with pytest.raises(ConfigError, match=said):
            asyncio.run(wait_for_lease(settings, lambda _: None))


def test_server_that_acknowledges_before_it_syncs_is_refused(tmp_path: Path) -> None:
    with nats_servers(tmp_path, sync="2m") as servers:
        with pytest.raises(ConfigError, match="acknowledges messages up to 120 s before they are on disk"):
            asyncio.run(wait_for_lease(servers.settings(), lambda _: None))
        unasked = servers.settings().model_copy(update={"monitors": ()})
        with pytest.raises(ConfigError, match=r"list their monitoring addresses in journal\.monitors"):
            asyncio.run(wait_for_lease(unasked, lambda _: None))


def test_servers_that_are_not_there_are_named() -> None:
    settings = JournalSettings(servers=("nats://127.0.0.1:1",))
    with pytest.raises(ConfigError, match=r"no NATS server of nats://127\.0\.0\.1:1 can be used"):
        asyncio.run(wait_for_lease(settings, lambda _: None))


def test_damaged_snapshot_is_told(settings: JournalSettings, tmp_path: Path) -> None:
    journal, _ = begun(settings, tmp_path)
    (tmp_path / "jobs.state").write_bytes(os.urandom(2 << 20))
    journal.append([b"frame"], b"peer", MOMENT)
    journal.sync(wait=True)
    journal.trim(journal.last)
    wait_for(journal.has_stored, what="the snapshot")
    (kept,) = journal._link.call(journal._snapshots.list_stored())
    stream = f"OBJ_{journal._snapshots._bucket}"
    journal._link.call(
        journal._link.jetstream.purge_stream(stream, subject=journal._snapshots._chunk_subject(kept.info), keep=2)
    )
    journal.release()
    with pytest.raises(JournalError, match="lacks its part"):
        opened(settings, tmp_path)


def stop(journal: StreamJournal) -> None:
    """Stall its connection's thread, as if the process stalled."""
    standing, goes_on = threading.Event(), threading.Event()

    def hold() -> None:
        standing.set()
        goes_on.wait()

    journal._link.call_soon(hold)
    standing.wait()
    _HELD[id(journal)] = goes_on.set


_HELD: dict[int, Callable[[], None]] = {}


def go_on(journal: StreamJournal) -> None:
    _HELD.pop(id(journal))()
