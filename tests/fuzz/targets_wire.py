"""Targets: messages of peers: of collectors, of the aggregator, of FTIO's tracers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgpack
import msgspec
from iotide.collectors.settings import CollectorSettings
from iotide.collectors.source import Chunk, Closed, Input, Lost, Opened
from iotide.collectors.sources.tmio.ftio_messages import read_message
from iotide.collectors.transport.shipper import Shipper
from iotide.daemon.aggregator import Aggregator
from iotide.daemon.ingest.ingest_core import IngestCore
from iotide.daemon.ingest.ingest_settings import IngestSettings
from iotide.daemon.jobs.job_summary import detail_of, summary_of
from iotide.daemon.jobs.losses.failures import FAILURES_PREFIX
from iotide.daemon.settings import AggregatorSettings
from iotide.events import Interner, ProtocolError, StreamInfo
from iotide.events.network.wire import Ack, Heartbeat, Reject, decode, encode
from support.servers.restarted_job import UNTIL_S
from support.servers.running_aggregator import periodic_batch

from .mutation import Choose, change_bytes, change_tree
from .target import ORIGIN, Target, Unsound, sample

_INFO = StreamInfo(job="job", source="test", host="n1", user="ann", pid=7, rank=0, ranks=2, command="a b")


def packed(messages: Sequence[Sequence[bytes]]) -> bytes:
    """Return messages as one input."""
    return msgspec.msgpack.encode([list(each) for each in messages])


def unpacked(data: bytes) -> list[list[bytes]]:
    """Return the messages of any input, at least one."""
    try:
        return msgspec.msgpack.decode(data, type=list[list[bytes]])
    except msgspec.MsgspecError:
        return [[data]]


def said() -> list[list[bytes]]:
    """Messages of a collector with two streams, from HELLO to BYE."""
    shipper = Shipper("node:1:secret", CollectorSettings(batch_events=16, linger_s=0.0))
    interner = Interner()
    shipper.receive(encode(Heartbeat()), 0.0)
    batch = periodic_batch(interner, periods=4, until_s=UNTIL_S)
    shipper.take([Opened("s", _INFO), Opened("t", _INFO), Chunk("s", batch, interner.take_fresh())], 0.0)
    shipper.take([Lost(_lost(), "s"), Chunk("t", batch.select(slice(0, 20)), _definitions())], 0.0)
    messages = shipper.outgoing(0.1)
    for number in range(1, 9):
        for stream in list(shipper._windows):
            shipper.receive(encode(Ack(stream=stream, seq=number, credit=8)), 0.2)
    shipper.take([Closed("s", _lost()), Closed("t")], 0.2)
    messages += shipper.outgoing(0.3) + shipper.outgoing(20.0)
    return [[bytes(frame) for frame in message] for message in messages]


def _lost() -> Any:
    return Counter({"events_dropped:ring_full": 3, "bytes_dropped:ring_full": 9})


def _definitions() -> Any:
    interner = Interner()
    interner.string("write")
    interner.file("/scratch/out")
    return interner.take_fresh()


def samples() -> list[bytes]:
    return [packed(said())]


def _changed_frame(choose: Choose, frame: bytes) -> bytes:
    try:
        value = msgspec.msgpack.decode(frame)
        return bytes(msgpack.packb(change_tree(choose, value), default=repr, unicode_errors="surrogatepass"))
    except (ValueError, msgspec.MsgspecError, OverflowError):
        return change_bytes(choose, frame, (), ())


def changed(choose: Choose, data: bytes) -> bytes:
    """Change headers and columns, and exchange, repeat and remove messages."""
    messages = [list(each) for each in unpacked(data)]
    for _ in range(choose.choice((1, 1, 2, 4))):
        at = choose.randrange(len(messages))
        what = choose.randrange(8)
        if what == 0 and len(messages) > 1:
            del messages[at]
        elif what == 1:
            messages.insert(at, messages[choose.randrange(len(messages))])
        elif what == 2:
            other = choose.randrange(len(messages))
            messages[at], messages[other] = messages[other], messages[at]
        elif messages[at]:
            frame = 0 if choose.random() < 0.7 else choose.randrange(len(messages[at]))
            made = _changed_frame if frame == 0 else lambda choose, data: change_bytes(choose, data, (), ())
            messages[at] = [*messages[at][:frame], made(choose, messages[at][frame]), *messages[at][frame + 1 :]]
    return packed(messages)


def run_decode(data: bytes) -> None:
    """Messages are decoded, or rejected with the violated rule."""
    for frames in unpacked(data):
        try:
            decode(frames)
        except ProtocolError:
            continue


class Moment:
    """A clock that an input sets."""

    def __init__(self) -> None:
        self.now_s = UNTIL_S

    def __call__(self) -> float:
        return self.now_s


def run_aggregator(data: bytes) -> None:
    """An aggregator receives messages, computes its results, and all of them can be queried."""
    clock = Moment()
    bounds = IngestSettings(max_streams=100, max_collectors=20, remembered_streams=50)
    settings = AggregatorSettings(linger_s=0.0, max_jobs=20, bounds=bounds)
    aggregator = Aggregator(settings, clock, clock)
    core = IngestCore(aggregator, bounds)
    for number, frames in enumerate(unpacked(data)):
        replies = core.receive(b"peer" if number % 7 else b"other", frames, clock.now_s)
        for _, reply in replies:
            decode([bytes(frame) for frame in reply])
        clock.now_s += 0.25
    aggregator.tick()
    core.tick(clock.now_s + 1000.0)
    for session in list(aggregator.jobs.values()):
        asked(session, clock.now_s)
    failed = {name: count for name, count in aggregator.counters.items() if name.startswith(FAILURES_PREFIX)}
    if core.stats.failed or core.stats.rejected["failed"] or failed:
        raise Unsound(f"{core.stats.failed} messages failed, and analyses failed: {failed}")


def asked(session: Any, now_s: float) -> None:
    """Query all results of a job, as the HTTP API does."""
    summary_of(session, now_s).model_dump_json()
    detail_of(session, now_s).model_dump_json()
    if session.graph is not None:
        session.graph.graph().model_dump_json()
    if session.layers is not None:
        session.layers.deferred_result()()
    if session.interactions is not None:
        session.interactions.deferred_result()()
    session.signal()


def run_collector(data: bytes) -> None:
    """A collector receives messages of a fake aggregator; its own messages stay valid."""
    shipper = Shipper("node:1:secret", CollectorSettings(batch_events=16, linger_s=0.0))
    interner = Interner()
    batch = periodic_batch(interner, periods=4, until_s=UNTIL_S)
    shipper.receive(encode(Heartbeat()), 0.0)
    shipper.take([Opened("s", _INFO), Chunk("s", batch, interner.take_fresh()), Closed("s")], 0.0)
    now = 0.0
    for frames in unpacked(data):
        shipper.receive(frames, now)
        now += 0.5
        for message in shipper.outgoing(now):
            decode([bytes(frame) for frame in message])
    shipper.close()


def answers() -> list[bytes]:
    stream = next(iter(_windows()))
    told: list[Ack | Reject | Heartbeat] = [
        Ack(stream=stream, seq=1, credit=4),
        Reject(stream=stream, seq=2, code="gap", reason="2 is missing"),
        Reject(stream=stream, seq=2, code="unknown_stream", reason="say HELLO first"),
        Heartbeat(),
        Reject(stream=stream, seq=2, code="malformed", reason="no"),
        Ack(stream=stream, seq=3, credit=4),
        Reject(stream=stream, seq=3, code="full", reason="no"),
    ]
    each = [[bytes(frame) for frame in encode(message)] for message in told]
    return [packed(each), packed(each[:4]), packed([each[0], each[3], each[5]])]


def _windows() -> list[str]:
    shipper = Shipper("node:1:secret", CollectorSettings())
    shipper.take([Opened("s", _INFO)], 0.0)
    return list(shipper._windows)


BURST = {"ranks": 4, "b": [100.0, 50.0], "ts": [1.0, 2.5], "te": [2.0, 4.5]}
GEKKO = {
    "flush_t": 9_000_000, "hostname": "node7", "pid": 41, "io_type": "w", "start_t_micro": [1_000_000, 2_500_000],
    "end_t_micro": [2_000_000, 4_500_000], "req_size": [100, 100], "total_iops": 2, "total_bytes": 200,
}  # fmt: skip


def ftio_samples() -> list[bytes]:
    texts = [msgpack.packb(BURST), msgpack.packb(GEKKO), msgpack.packb(list(GEKKO.values()))]
    return [*texts, b"".join(texts), sample("tmio-8ranks.msgpack", 10**6)[:6000]]


def run_ftio(data: bytes) -> None:
    """A message of a tracer is parsed, and errors are reported."""
    read_message(data, Input("tcp://127.0.0.1:5555", ORIGIN), 1)


def targets() -> list[Target]:
    return [
        Target("wire-messages", samples, run_decode, changed, quick=3000),
        Target("wire-aggregator", samples, run_aggregator, changed, quick=50),
        Target("wire-collector", answers, run_collector, changed, quick=2000),
        Target("wire-ftio", ftio_samples, run_ftio, _changed_frame, quick=3000),
    ]
