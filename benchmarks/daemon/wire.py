"""Events per second over an ipc socket, including encoding and decoding; the peer sends lists of maps."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgpack
import zmq
from iotide.benchmarks.common.events import DEFINITIONS, make_batches
from iotide.benchmarks.common.figures import Figure, report
from iotide.collectors.settings import CollectorSettings
from iotide.collectors.source import Chunk, Opened
from iotide.collectors.transport.shipper import Shipper
from iotide.daemon.ingest.ingest_core import IngestCore
from iotide.daemon.ingest.ingest_settings import IngestSettings
from iotide.events import Definitions, EventBatch, StreamInfo
from iotide.events.network.wire import Frame, decode, encode_batch

BATCHES = 400
LENGTH = 4096
PEER_BATCHES = 8


def over_socket(count: int, encode: Callable[[int], Sequence[Frame]], take: Callable[[Sequence[Frame]], int]) -> float:
    """Send ``count`` messages from one thread to another; return events per second of the slower end."""
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    with tempfile.TemporaryDirectory() as folder:
        endpoint = f"ipc://{Path(folder)}/wire"
        receiver = context.socket(zmq.PULL)
        receiver.bind(endpoint)
        sender = context.socket(zmq.PUSH)
        sender.connect(endpoint)
        seen = 0

        def receive() -> None:
            nonlocal seen
            for _ in range(count):
                seen += take([frame.buffer for frame in receiver.recv_multipart(copy=False)])

        receiving = threading.Thread(target=receive)
        start = time.perf_counter()
        receiving.start()
        for at in range(count):
            sender.send_multipart(encode(at), copy=False)
        receiving.join()
        seconds = time.perf_counter() - start
        sender.close(0)
        receiver.close(0)
    context.term()
    return seen / seconds


def columnar() -> float:
    batches = make_batches(16, LENGTH)

    def take(frames: Sequence[Frame]) -> int:
        _, events = decode(frames)
        return 0 if events is None else int((events.bytes > 0).sum())

    nothing = Definitions([], [])
    return over_socket(BATCHES, lambda at: encode_batch("s", at + 1, batches[at % 16], nothing), take)


def maps() -> float:
    names = ("start", "duration", "call", "kind", "tid", "file", "handle", "offset", "requested", "bytes")
    rows = [
        [dict(zip(names, row, strict=True)) for row in zip(*(getattr(batch, n).tolist() for n in names), strict=True)]
        for batch in make_batches(2, LENGTH)
    ]

    def take(frames: Sequence[Frame]) -> int:
        return len(msgpack.unpackb(frames[0]))

    return over_socket(PEER_BATCHES, lambda at: [msgpack.packb(rows[at % 2])], take)


class CountingSink:
    """Count the received messages."""

    def __init__(self) -> None:
        self.events = 0

    def opened(self, stream: str, info: StreamInfo) -> None: ...

    def changed(self, stream: str, info: StreamInfo) -> None: ...

    def batch(self, stream: str, batch: EventBatch, definitions: Definitions) -> None:
        self.events += len(batch)

    def closed(self, stream: str, losses: Mapping[str, int]) -> None: ...

    def heartbeat(self, collector: str, host: str, counters: object, job: str = "") -> None: ...

    def collector_lost(self, collector: str) -> None: ...

    def stream_losses(self, stream: str, losses: Mapping[str, int]) -> None: ...

    def events_taken(self, stream: str, events: int, *, ended: bool) -> None: ...

    def silence_changed(self, stream: str, is_silent: bool) -> None: ...

    def job_losses(self, collector: str, job: str, losses: Mapping[str, int]) -> None: ...

    def stream_refused(self, info: StreamInfo, reason: str) -> None: ...


def numbered_and_acknowledged() -> float:
    """The protocol without sockets: shipper, sequence numbers, credit, acks, ingest."""
    batches = make_batches(16, LENGTH)
    sink = CountingSink()
    shipper, core = Shipper("bench", CollectorSettings(batch_events=LENGTH)), IngestCore(sink, IngestSettings())
    shipper.take([Opened("s", StreamInfo(job="j", source="bench"))], 0.0)
    start = time.perf_counter()
    sent, now = 0, 0.0
    while sent < BATCHES or not shipper.flushed:
        now += 0.001
        if sent < BATCHES:
            definitions = DEFINITIONS if sent == 0 else Definitions([], [])
            shipper.take([Chunk("s", batches[sent % 16], definitions)], now)
            sent += 1
        for message in shipper.outgoing(now):
            for _, reply in core.receive(b"peer", message, now):
                shipper.receive(reply, now)
    return sink.events / (time.perf_counter() - start)


def measure() -> list[Figure]:
    peer = maps()
    return [
        Figure("wire, both ends, batches of 4096", columnar() / 1e6, "M events/s", ">= 10", "msgpack maps", peer / 1e6),
        Figure("shipper and ingest without socket", numbered_and_acknowledged() / 1e6, "M events/s"),
    ]


if __name__ == "__main__":
    report(measure())
