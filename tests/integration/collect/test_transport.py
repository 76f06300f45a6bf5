"""Collector and ingest over real sockets: restarts, slowness, hostile peers, broken sources, and shutdown."""

from __future__ import annotations

import asyncio
import contextlib
import random
import sys
import time
from collections.abc import AsyncIterator, Iterable
from pathlib import Path

import zmq
import zmq.asyncio
from iotide.collectors.settings import CollectorSettings
from iotide.collectors.source import Chunk, SourceItem
from iotide.collectors.transport.agent import Agent
from iotide.daemon.ingest.ingest import Ingest
from iotide.daemon.ingest.ingest_settings import IngestSettings
from iotide.daemon.ingest.sink import Sink
from iotide.events import Definitions, EventBatch
from iotide.events.network.wire import Bye, Heartbeat, Hello, Reject, decode, encode, encode_batch
from support.servers import running_aggregator as serving
from support.servers.running_aggregator import Fed, until
from support.servers.sinks import RememberingSink
from support.servers.troubled_links import INFO, numbered
from support.system.waiting import DEADLINE_S


class Counting(Fed):
    """A source whose events are numbered by their start timestamps."""

    def __init__(self, stream: str = "s") -> None:
        super().__init__()
        self.stream = stream
        self.given = 0
        self.open(stream, "job")

    def give(self, count: int) -> None:
        self._waiting.append(Chunk(self.stream, numbered(self.given, count), Definitions([], [])))
        self.given += count


@contextlib.asynccontextmanager
async def ingesting(endpoint: str, sink: Sink, **bounds: object) -> AsyncIterator[Ingest]:
    context = zmq.asyncio.Context()
    ingest = Ingest(context, endpoint, sink, IngestSettings.model_validate(bounds))
    ingest.bind()
    running = asyncio.create_task(ingest.run())
    try:
        yield ingest
    finally:
        running.cancel()
        await asyncio.wait([running])
        ingest.close()
        context.term()


def collecting(
    endpoint: str, sources: Iterable[Fed], **options: object
) -> contextlib.AbstractAsyncContextManager[Agent]:
    """Run a collector that never takes a stall of the machine for an absent aggregator."""
    patient = {"heartbeat_s": 0.05, "away_after_s": 600, "resend_after_s": 600}
    return serving.collecting(endpoint, sources, **patient | options)


def events_in(*sinks: RememberingSink) -> int:
    return sum(len(starts) for sink in sinks for starts in sink.starts.values())


async def test_events_counters_and_the_end_arrive(tmp_path: Path) -> None:
    source, sink, endpoint = Counting(), RememberingSink(), f"ipc://{tmp_path}/in"
    source.counters["events_dropped:ring_full"] = 5
    async with ingesting(endpoint, sink), collecting(endpoint, [source]) as agent:
        source.give(1000)
        await until(lambda: events_in(sink) == 1000)
        assert await agent.drain(DEADLINE_S)
        await until(lambda: any("events_sent" in counters for counters in sink.counters.values()))
    assert next(iter(sink.starts.values())) == list(range(1000))
    assert len(sink.closed_streams) == 1
    assert source.closed
    (counters,) = sink.counters.values()
    assert counters["events_dropped:ring_full"] == 5


async def test_first_events_do_not_wait_for_a_second_heartbeat(tmp_path: Path) -> None:
    source, sink, endpoint = Counting(), RememberingSink(), f"ipc://{tmp_path}/in"
    async with ingesting(endpoint, sink), collecting(endpoint, [source], heartbeat_s=60) as agent:
        source.give(10)
        assert await agent.drain(DEADLINE_S)
    assert events_in(sink) == 10


async def test_aggregator_killed_and_bound_again_loses_and_repeats_nothing_while_it_remembers(tmp_path: Path) -> None:
    """The sequence state survives here, as in a journal; only the connection is closed, repeatedly."""
    source, sink, endpoint = Counting(), RememberingSink(), f"ipc://{tmp_path}/in"
    core = None
    quick = {"away_after_s": 0.5, "resend_after_s": 0.2}
    async with collecting(endpoint, [source], batch_events=64, **quick) as agent:
        for turn in range(5):
            async with ingesting(endpoint, sink) as ingest:
                if core is not None:
                    ingest.core = core
                core = ingest.core
                for _ in range(20):
                    source.give(100)
                    await asyncio.sleep(0)
                await until(lambda: events_in(sink) > 2000 * turn)  # noqa: B023  (called before the next turn)
                source.give(100)
            source.give(1)
        async with ingesting(endpoint, sink) as ingest:
            assert core is not None
            ingest.core = core
            assert await agent.drain(DEADLINE_S)
    assert next(iter(sink.starts.values())) == list(range(source.given))


class SlowSink(RememberingSink):
    """Takes its time, like an analysis."""

    def batch(self, stream: str, batch: EventBatch, definitions: Definitions) -> None:
        time.sleep(0.01)
        super().batch(stream, batch, definitions)


async def test_slow_sink_gets_everything_once(tmp_path: Path) -> None:
    source, sink, endpoint = Counting(), SlowSink(), f"ipc://{tmp_path}/in"
    async with (
        ingesting(endpoint, sink, credit=64),
        collecting(endpoint, [source], batch_events=10, resend_after_s=0.1) as agent,
    ):
        for _ in range(200):
            source.give(10)
        assert await agent.drain(DEADLINE_S)
    assert next(iter(sink.starts.values())) == list(range(2000))


async def test_garbage_and_repetitions_hurt_no_other_collector(tmp_path: Path) -> None:
    source, sink, endpoint = Counting(), RememberingSink(), f"ipc://{tmp_path}/in"
    dice = random.Random(1)
    async with ingesting(endpoint, sink) as ingest, collecting(endpoint, [source], batch_events=10) as agent:
        context = zmq.asyncio.Context()
        hostile = context.socket(zmq.DEALER)
        hostile.linger = 0
        hostile.connect(endpoint)
        batch = encode_batch("mine", 1, numbered(10**6, 5), Definitions())
        good = [encode(Hello(collector="hostile", stream="mine", info=INFO)), batch, encode(Heartbeat(collector="h"))]
        for _ in range(300):
            source.give(10)
            message = [bytes(frame) for frame in dice.choice(good)]
            await hostile.send_multipart(message)
            at = dice.randrange(len(message))
            message[at] = dice.randbytes(dice.randrange(40))
            await hostile.send_multipart(message)
            await hostile.send_multipart([dice.randbytes(5) for _ in range(dice.randrange(1, 5))])
        assert await agent.drain(DEADLINE_S)
        await until(lambda: ingest.core.stats.malformed >= 300)
        hostile.close()
        context.term()
    mine = [starts for stream, starts in sink.starts.items() if stream == "mine"]
    assert mine == [list(range(10**6, 10**6 + 5))]
    (others,) = [starts for stream, starts in sink.starts.items() if stream.endswith(":s")]
    assert others == list(range(3000))


async def test_stranger_cannot_speak_for_another_collectors_stream(tmp_path: Path) -> None:
    source, sink, endpoint = Counting(), RememberingSink(), f"ipc://{tmp_path}/in"
    async with ingesting(endpoint, sink) as ingest, collecting(endpoint, [source]) as agent:
        source.give(10)
        await until(lambda: events_in(sink) == 10)
        (stream,) = sink.starts
        context = zmq.asyncio.Context()
        stranger = context.socket(zmq.DEALER)
        stranger.linger = 0
        stranger.connect(endpoint)
        codes = []
        for message in (
            encode_batch(stream, 2, numbered(10**6, 5), Definitions()),
            encode(Bye(stream=stream, last_seq=1)),
            encode(Hello(collector="stranger", stream=stream, info=INFO, next_seq=100)),
            encode(Heartbeat(collector="stranger")),
            encode_batch(stream, 2, numbered(10**6, 5), Definitions()),
        ):
            await stranger.send_multipart(message)
            answer, _ = decode(await stranger.recv_multipart())
            codes.append(answer.code if isinstance(answer, Reject) else type(answer).__name__)
        assert codes == ["unknown_stream", "unknown_stream", "foreign", "Heartbeat", "unknown_stream"]
        assert ingest.core.stats.foreign == 4
        stranger.close()
        context.term()
        source.give(10)
        assert await agent.drain(DEADLINE_S)
    assert sink.starts == {stream: list(range(20))}


async def test_collector_that_is_killed_is_reported_lost(tmp_path: Path) -> None:
    sink, endpoint = RememberingSink(), f"ipc://{tmp_path}/in"
    program = (
        "import asyncio; from iotide.collectors.transport.agent import Agent;"
        "from iotide.collectors.settings import CollectorSettings as S;"
        f"asyncio.run(Agent([], S(endpoint={endpoint!r}, host='node', heartbeat_s=0.1)).run())"
    )
    async with ingesting(endpoint, sink, lost_after_s=2):
        collector = await asyncio.create_subprocess_exec(sys.executable, "-c", program)
        try:
            await until(lambda: sink.counters)
        finally:
            collector.kill()
            await collector.wait()
        await until(lambda: sink.lost_collectors)
    # More than once if it stalled for too long before.
    assert {tuple(name.split(":")[:2]) for name in sink.lost_collectors} == {("node", str(collector.pid))}


class Broken(Counting):
    """Raises at its second poll, and when it is closed."""

    def __init__(self) -> None:
        super().__init__("broken")
        self.polled = False

    def poll(self) -> list[SourceItem]:
        if self.polled:
            raise OSError("the disk is gone")
        self.polled = True
        self.give(3)
        return super().poll()

    def close(self) -> None:
        raise OSError("still gone")


async def test_broken_source_costs_itself_only(tmp_path: Path) -> None:
    source, broken, sink, endpoint = Counting(), Broken(), RememberingSink(), f"ipc://{tmp_path}/in"
    async with ingesting(endpoint, sink), collecting(endpoint, [broken, source]) as agent:
        await until(lambda: agent.problems.total == 2)
        source.give(10)
        assert await agent.drain(DEADLINE_S)
        assert agent.counters()["sources_failed"] == 2
    assert "the disk is gone" in str(agent.problems.first[0])
    assert sorted(map(len, sink.starts.values())) == [3, 10]
    assert len(sink.closed_streams) == 2


async def test_source_added_later_is_read(tmp_path: Path) -> None:
    source, sink, endpoint = Counting(), RememberingSink(), f"ipc://{tmp_path}/in"
    async with ingesting(endpoint, sink), collecting(endpoint, []) as agent:
        agent.add(source)
        source.give(10)
        await until(lambda: events_in(sink) == 10)


class Endless(Counting):
    """Always has more."""

    def poll(self) -> list[SourceItem]:
        self.give(100)
        return super().poll()


async def test_source_without_an_end_does_not_keep_the_collector_from_ending(tmp_path: Path) -> None:
    source, sink, endpoint = Endless(), RememberingSink(), f"ipc://{tmp_path}/in"
    agent = Agent([source], CollectorSettings(endpoint=endpoint))
    async with ingesting(endpoint, sink):
        complete = await asyncio.wait_for(agent.drain(2), 30)
    agent.close()
    assert source.closed
    (arrived,) = sink.starts.values()
    assert arrived == list(range(source.given if complete else len(arrived)))


async def test_collector_without_an_aggregator_ends_in_time_and_stays_within_its_bound(tmp_path: Path) -> None:
    source = Counting()
    agent = Agent([source], CollectorSettings(endpoint=f"ipc://{tmp_path}/nobody", backlog_bytes=1 << 16))
    for _ in range(50):
        source.give(20_000)
        agent.pump()
    assert not await agent.drain(0.1)
    dropped = agent.counters()["events_dropped:shipper_full"]
    agent.close()
    assert dropped >= 48 * 20_000


class Finished(Counting):
    """A file without a writer; each poll returns a part of it."""

    events = 50 * 20_000

    def poll(self) -> list[SourceItem]:
        self.give(20_000)
        self.finished = self.given == self.events
        return super().poll()


async def test_collector_that_is_to_end_waits_for_room_for_what_finished_files_have(tmp_path: Path) -> None:
    source, sink, endpoint = Finished(), RememberingSink(), f"ipc://{tmp_path}/in"
    agent = Agent([source], CollectorSettings(endpoint=endpoint, backlog_bytes=1 << 16), waits=True)
    async with ingesting(endpoint, sink):
        assert await agent.drain(DEADLINE_S)
    agent.close()
    assert sorted(*sink.starts.values()) == list(range(source.events))
    assert (agent.unread, agent.counters()["events_dropped:shipper_full"]) == (0, 0)


async def test_collector_that_waits_in_vain_reports_an_unread_file(tmp_path: Path) -> None:
    source = Finished()
    agent = Agent([source], CollectorSettings(endpoint=f"ipc://{tmp_path}/nobody", backlog_bytes=1 << 16), waits=True)
    assert not await agent.drain(0.1)
    agent.close()
    assert agent.unread == 1
    assert agent.counters()["events_dropped:shipper_full"] == 0


async def test_events_beyond_the_memory_bound_wait_in_files_for_the_aggregator(tmp_path: Path) -> None:
    source, sink = Counting(), RememberingSink()
    endpoint = f"ipc://{tmp_path}/in"
    settings = CollectorSettings(endpoint=endpoint, backlog_bytes=1 << 16, spool_bytes=1 << 30, spool_folder=tmp_path)
    agent = Agent([source], settings)
    for _ in range(50):
        source.give(20_000)
        agent.pump()
    async with ingesting(endpoint, sink):
        assert await agent.drain(DEADLINE_S)
    assert sorted(*sink.starts.values()) == list(range(50 * 20_000))
    assert not agent.counters()["events_dropped:shipper_full"]
    agent.close()


async def test_many_streams_at_once_all_arrive(tmp_path: Path) -> None:
    """More than a socket buffers: the excess would be sent again, and here never is."""
    sources = [Counting(f"s{number}") for number in range(2500)]
    sink, endpoint = RememberingSink(), f"ipc://{tmp_path}/in"
    for source in sources:
        source.give(3)
    async with ingesting(endpoint, sink), collecting(endpoint, sources) as agent:
        assert await agent.drain(DEADLINE_S)
        assert agent.counters()["batches_resent"] == 0
    assert events_in(sink) == 7500
    assert len(sink.closed_streams) == 2500
