"""An aggregator without sockets that is killed by a schedule, and its collector; a seed determines everything."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import time
from collections.abc import Callable
from pathlib import Path

from iotide.archive.file.reader import ArchiveReader
from iotide.collectors.settings import CollectorSettings
from iotide.collectors.source import Chunk, Closed, Opened
from iotide.collectors.transport.shipper import Shipper
from iotide.daemon.aggregator import Aggregator
from iotide.daemon.archiving.archives import Archives, ArchiveSettings
from iotide.daemon.clocks import Clocks
from iotide.daemon.ingest.ingest_core import IngestCore, Reply
from iotide.daemon.ingest.ingest_settings import IngestSettings
from iotide.daemon.jobs.accounting.job_ledger import ledger_of
from iotide.daemon.jobs.job_summary import detail_of
from iotide.daemon.jobs.session import JobSession
from iotide.daemon.journal.contract import Gap
from iotide.daemon.journal.durability import Durability
from iotide.daemon.journal.jetstream.link import NatsLink
from iotide.daemon.journal.jetstream.resources import stream_names
from iotide.daemon.journal.jetstream.stream_journal import StreamJournal, wait_for_lease
from iotide.daemon.journal.segment_journal import SegmentJournal
from iotide.daemon.journal.segment_writer import read_mark
from iotide.daemon.journal.segments import HEADER_BYTES, read_header, records
from iotide.daemon.journal.settings import JournalSettings
from iotide.daemon.settings import AggregatorSettings
from iotide.daemon.state.persistence import JOURNAL, StatePersistence
from iotide.events import Interner, StreamInfo
from iotide.events.network.wire import Frame
from iotide.results.dfg import Graph
from nats.js.errors import BadRequestError, NotFoundError
from support.servers.nats_servers import NatsServers
from support.servers.restarted_job import UNTIL_S, copy_folder, published_results
from support.servers.running_aggregator import periodic_batch
from support.system.waiting import wait_for

STREAMS = 3
PARTS = 4
_NEVER_S = 1e6
_COMPARED = ("start", "duration", "bytes")
_MOST_STEPS = 5000
_STEP_S = 0.05
_MARK = b"\xf1\x9eJr"


class SteppingClocks(Clocks):
    """Clocks of a machine whose wall clock is set forward and back."""

    def __init__(self) -> None:
        super().__init__()
        self.set_ahead_s = 0.0

    def clock(self) -> float:
        return super().clock() + (0.0 if self._is_frozen else self.set_ahead_s)


class Daemon:
    """One life of an aggregator on a folder; its archives survive it.

    With NATS servers, the journal and the snapshots are stored there, and each life has an empty folder, as on a new
    machine.
    """

    def __init__(
        self,
        folder: Path,
        segment_bytes: int = 2**16,
        quota_bytes: int = 2**30,
        servers: JournalSettings | None = None,
    ) -> None:
        bounds = IngestSettings(lost_after_s=_NEVER_S, forget_after_s=_NEVER_S)
        settings = AggregatorSettings(prediction_interval_s=0.02, linger_s=0.0, retain_s=_NEVER_S, bounds=bounds)
        journal = JournalSettings(snapshot_s=_NEVER_S, segment_bytes=segment_bytes, quota_bytes=quota_bytes)
        self.stream: StreamJournal | None = None
        if servers is not None:
            self.stream = asyncio.run(wait_for_lease(servers, lambda _: None))
        self.folder = folder
        self.clocks = SteppingClocks()
        self.aggregator = Aggregator(settings, self.clocks.clock, self.clocks.steady)
        self.archives = Archives(
            self.aggregator,
            ArchiveSettings(folder=folder.parent / "archives", checkpoint_s=0.001),
            lambda info: info.job,
            self.aggregator.counters,
            clock=self.clocks.clock,
            on_missing=self.aggregator.not_archived,
            on_stored=self.aggregator.archived,
            has_job=lambda job: job in self.aggregator.jobs,
        )
        self.archives.copies_files = servers is not None
        self.aggregator.on_job(lambda job: self.archives.end_job(job.job) if job.state == "ended" else None)
        self.sure: dict[Path, int] = {}
        """Size of the archives according to the last snapshot, bytes."""
        self.core = IngestCore(self.archives, bounds)
        known = self.aggregator, self.clocks, self.core, bounds, self.archives
        self.keeping = StatePersistence(folder, journal, *known, self.stream)
        self.keeping.begin(lambda: None)
        assert self.keeping.durability is not None
        self.durability: Durability = self.keeping.durability

    def answers(self) -> list[Reply]:
        """Sync everything to disk; return the acks that were held back until then."""
        self.durability.journal.sync(wait=True)
        return self.durability.pop_durable()

    def written_down(self, *, whole: bool) -> None:
        """Write a snapshot of all jobs, or only start one in a copy of the process."""
        if self.durability.child.is_busy:
            self.durability.child.poll(wait=True)
        jobs = self.archives._jobs.values()
        sure = {job.file.path: job._in_file for job in jobs if job.file.path is not None}
        self.durability._begin(time.monotonic())
        if whole:
            self.durability._end(bool(self.durability.child.poll(wait=True)), time.monotonic())
            if self.stream is not None:
                wait_for(self.stream.has_stored, what="the snapshot")
            self.sure = sure

    def be_killed(self, copy: Path, share: float) -> None:
        """Leave the state after a kill and a machine failure: synced data, and some bytes of unsynced data."""
        self.archives.wait_for_io()
        for job in self.archives._jobs.values():
            job.file.close()
            if job.file.path is not None:
                sure, size = self.sure.get(job.file.path, 0), job.file.path.stat().st_size
                os.truncate(job.file.path, sure + int((size - sure) * share))
        if self.stream is not None:
            self.durability.child.close()
            self.stream._link.close()  # no further messages
            self.keeping._saved.close()
            return
        synced = self.durability.journal.synced.record
        self.durability.journal.flush()
        copy_folder(self.folder, copy)
        if (mark := read_mark(copy / JOURNAL)) is not None:  # more may have been synced meanwhile
            synced = max(synced, mark.record)
        self.keeping.close()
        last = max((copy / JOURNAL).glob("*.journal"))
        if last.stat().st_size >= HEADER_BYTES:
            sure, size = _bytes_until(last, synced), last.stat().st_size
            os.truncate(last, sure + int((size - sure) * share))


def _bytes_until(path: Path, number: int) -> int:
    """Return the size of a file's records up to a number, bytes."""
    segment = read_header(path)
    end = HEADER_BYTES
    content = path.read_bytes()
    for each in records(segment, segment.first):
        if isinstance(each, Gap) or each.position.record > number:
            break
        end = content.index(b"\xf1\x9eJr", end + 1) if b"\xf1\x9eJr" in content[end + 1 :] else len(content)
    return end


def calls_in(folder: Path) -> list[tuple[str, bool, list[tuple[int, int, int]]]]:
    """Return name, end and calls of each stream in the one archive of a folder."""
    (path,) = folder.glob("*.iotide")
    with path.open("rb") as file:
        reader = ArchiveReader(file, path.name)
        assert reader.complete
        found = []
        for number, stream in reader.streams.items():
            batches = [each.batch for each in reader.calls(number)]
            columns = [[int(each) for batch in batches for each in getattr(batch, name)] for name in _COMPARED]
            found.append((stream.name, stream.closed, list(zip(*columns, strict=True))))
        assert not reader.problems
    return sorted(found)


class Schedule:
    """Feed, deliver, sync, snapshot and kill in an order determined by a seed; then continue until all is received.

    Args:
        folder: parent of the lives' folders.
        seed: of everything that happens.
        kills: number of kills of the aggregator.
        trouble: how often a message is lost or repeated.
        disorder: how often messages arrive in another order.
        steps: whether the wall clock is set while the aggregator runs, and differs between its lives.
        damage: bytes of the journal that each kill changes, synced or not.
        failures: how often the journal fails: as on a full disk, until the next snapshot, or by the end of its server.
        servers: of the journal; by default it is in files. For ``damage``, each kill removes messages there.
        server: the only server, which ``failures`` kill and restart.
    """

    def __init__(
        self,
        folder: Path,
        seed: int,
        *,
        kills: int,
        trouble: float = 0.0,
        disorder: float = 0.0,
        steps: bool = False,
        damage: int = 0,
        failures: int = 0,
        servers: JournalSettings | None = None,
        server: NatsServers | None = None,
    ) -> None:
        self.random = random.Random(seed)
        self._folder, self._kills, self._trouble = folder, kills, trouble
        self._disorder, self._steps, self._damage, self._failures = disorder, steps, damage, failures
        self._has_failed = False
        self._lives = 0
        self._servers, self._server = servers, server
        self.daemon = Daemon(folder / "0", servers=servers)
        self.shipper = Shipper("node:1:secret", CollectorSettings(batch_events=64, linger_s=0.0))
        self.now = time.monotonic()
        self._identity = b"0"
        self._interners = [Interner() for _ in range(STREAMS)]
        self._fed = [0] * STREAMS
        infos = [
            StreamInfo(job="job", source="test", host="n1", pid=number + 1, rank=number, ranks=STREAMS)
            for number in range(STREAMS)
        ]
        self.shipper.take([Opened(f"s{number}", info) for number, info in enumerate(infos)], self.now)

    def run(self) -> list[object]:
        """Return the final report on the job."""
        session = self.play()
        last = detail_of(session, UNTIL_S).last_word
        assert last is not None
        assert session.losses.all_losses(ended=True) == {}
        self.daemon.archives.close()
        ledger = ledger_of(session, archives=True)
        made = self.made
        assert ledger.balanced
        assert (ledger.total.made, ledger.total.received) == (made, made)
        assert ledger.total.journalled == made or self._has_failed
        assert (ledger.analysed, ledger.archived, ledger.waiting_for_archive) == (made, made, 0)
        totals, written, graph, *others = published_results(session)
        assert isinstance(graph, Graph)
        # The number of concurrent calls is a sum that depends on the order of streams.
        activities = [each.model_copy(update={"rate": 0.0, "exact": True}) for each in graph.activities]
        same = graph.model_copy(update={"activities": activities})
        archived = calls_in(self._folder / "archives")
        return [totals, written, same, *others, last.model_copy(update={"made_at_s": 0.0}), archived]

    @property
    def made(self) -> int:
        """Number of events that the collector has in the end."""
        return sum(10 * (6 + number) * PARTS for number in range(STREAMS))

    def play(self) -> JobSession:
        """Return the job after all events were received."""
        actions: list[tuple[int, Callable[[], None]]] = [
            (4, self.feed),
            (8, self.carry),
            (3, self.answer),
            (1, lambda: self.daemon.written_down(whole=self.random.random() < 0.7)),
            (2, self.tick),
            (1, self.kill),
            *([(1, self.fail)] if self._failures else []),
        ]
        while sum(self._fed) < STREAMS * PARTS or self._kills:
            self.random.choices([act for _, act in actions], [weight for weight, _ in actions])[0]()
        self.shipper.take([Closed(f"s{number}") for number in range(STREAMS)], self.now)
        self.shipper.flush(self.now)
        self._trouble = 0.0
        for _ in range(_MOST_STEPS):
            if self.shipper.flushed and not self.shipper._windows:
                break
            self.carry()
            if self.daemon.durability.is_behind:
                self.daemon.written_down(whole=True)
            self.answer()
        else:
            raise AssertionError("not all messages were acknowledged")
        self.daemon.aggregator.tick()
        assert not [reason for reason in self.shipper.counters if reason.startswith("events_dropped")]
        return self.daemon.aggregator.jobs["job"]

    def feed(self) -> None:
        number = self.random.randrange(STREAMS)
        if (part := self._fed[number]) == PARTS:
            return
        self._fed[number] += 1
        interner = self._interners[number]
        # distinct counts per stream: rows with equal sums keep their order of arrival
        batch = periodic_batch(interner, periods=6 + number, until_s=UNTIL_S - 1000 + 60 * part + number)
        self.shipper.take([Chunk(f"s{number}", batch, interner.take_fresh())], self.now)

    def carry(self) -> None:
        self.now += _STEP_S * self.random.choice((1, 1, 1, 30))
        messages = self.shipper.outgoing(self.now)
        if self.random.random() < self._disorder:
            self.random.shuffle(messages)
        for message in messages:
            for frames in self._fate(message):
                self._back(self.daemon.durability.receive(self._identity, frames, self.now))

    def answer(self) -> None:
        self._back(self.daemon.answers())

    def tick(self) -> None:
        if self._steps:
            self.daemon.clocks.set_ahead_s = self.random.choice((-7200.0, -3.0, 0.0, 3.0, 7200.0, 86_400.0))
        self.daemon.aggregator.tick()
        self.daemon.archives.tick()
        self.daemon.durability.tick(self.now)

    def kill(self) -> None:
        if self._kills:
            self._begin_life(self._end_life())

    def _end_life(self) -> Path:
        """Kill the aggregator; return the folder of the next one."""
        self._kills -= 1
        self._lives += 1
        copy = self._folder / str(self._lives)
        self.daemon.be_killed(copy, self.random.random())
        return copy

    def _begin_life(self, folder: Path) -> None:
        if self._servers is None:
            self._change(folder)
        elif self._damage:
            self._remove_messages(self._servers)
        sure, self.daemon = self.daemon.sure, Daemon(folder, servers=self._servers)
        self.daemon.sure = sure
        self._identity = str(self._lives).encode()  # a new connection

    def fail(self) -> None:
        if not self._failures or self.daemon.durability.is_behind:
            return
        self._failures -= 1
        if self._server is not None:
            self._outage(self._server)
            return
        self._has_failed = True
        journal = self.daemon.durability.journal
        assert isinstance(journal, SegmentJournal)
        with journal._open_writer._changed:
            journal._open_writer.problem = "No space left on device"
        self.daemon.durability._suspend()

    def _outage(self, server: NatsServers) -> None:
        """Kill the server while messages arrive, sometimes also the aggregator, and restart the server."""
        server.kill()
        for _ in range(self.random.randrange(8)):
            self.random.choice([self.feed, self.carry, self.tick])()
            self.daemon.durability.sync()
        folder = self._end_life() if self._kills and self.random.random() < 0.5 else None
        server.start()
        if folder is not None:
            self._begin_life(folder)

    def close(self) -> None:
        self.daemon.keeping.close()
        self.daemon.archives.close()

    def _back(self, replies: list[Reply]) -> None:
        for identity, frames in replies:
            if identity == self._identity:
                for each in self._fate(frames):
                    self.shipper.receive(each, self.now)

    def _change(self, folder: Path) -> None:
        """Change bytes of the journal that have complete records before and after them."""
        for _ in range(self._damage):
            path = self.random.choice(sorted((folder / JOURNAL).glob("*.journal")))
            content = bytearray(path.read_bytes())
            # a damaged end cannot be distinguished from an end that was never synced
            end = content.rfind(_MARK, 0, max(content.rfind(_MARK), 0))
            if end > HEADER_BYTES:
                content[self.random.randrange(HEADER_BYTES, end)] ^= 1 << self.random.randrange(8)
                path.write_bytes(content)

    def _remove_messages(self, servers: JournalSettings) -> None:
        """Remove messages from the stream that have others before and after them."""
        link = NatsLink(servers)
        stream = stream_names(servers.name)[0]
        try:
            for _ in range(self._damage):
                state = link.call(link.jetstream.stream_info(stream)).state
                if state.last_seq - state.first_seq > 1:
                    number = self.random.randrange(state.first_seq + 1, state.last_seq)
                    with contextlib.suppress(NotFoundError, BadRequestError):  # it is removed already
                        link.call(link.jetstream.delete_msg(stream, number))
        finally:
            link.close()

    def _fate(self, frames: list[Frame]) -> list[list[Frame]]:
        fate = self.random.random()
        return [] if fate < self._trouble else [frames, frames] if fate < 2 * self._trouble else [frames]
