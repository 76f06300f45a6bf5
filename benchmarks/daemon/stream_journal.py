"""Cost of appending to a shared journal: batches at NATS servers on loopback, beside the journal in files.

One server with ``sync_interval: always``, and three with three replicas, all on the disk of the files. Batches of 4,096
events are appended in groups of 16, each stored before the next one, or with at most 16 MB waiting, as in an aggregator
with many collectors. The order of the journals changes from round to round.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from iotide.benchmarks.common.events import DEFINITIONS, make_batches
from iotide.benchmarks.common.figures import Figure, report
from iotide.daemon.journal.contract import DurableJournal, Moment, Position
from iotide.daemon.journal.jetstream.stream_journal import wait_for_lease
from iotide.daemon.journal.segment_journal import SegmentJournal
from iotide.events.network.wire import encode_batch

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from support.servers.nats_servers import NatsServers, nats_servers

ROUNDS = 5
GROUP = 16
BATCHES = 256
LENGTH = 4096
WAITING = 16 << 20
MOMENT = Moment(1.0, 2.0, 3.0)


@contextlib.contextmanager
def in_files(folder: Path) -> Iterator[DurableJournal]:
    journal = SegmentJournal(folder, 1 << 26, 1 << 40)
    journal.begin(Position(0, 0), lambda: None)
    yield journal
    journal.close()


@contextlib.contextmanager
def at_servers(servers: NatsServers, name: str) -> Iterator[DurableJournal]:
    with tempfile.TemporaryDirectory() as folder:
        journal = asyncio.run(wait_for_lease(servers.settings(name=name), lambda _: None))
        journal.fetch_snapshot(Path(folder) / "jobs.state")
        list(journal.replay(journal.start))
        journal.begin(Position(0, 0), lambda: None)
        yield journal
        journal.release()


def appended(journal: DurableJournal, messages: list[list[bytes]], *, grouped: bool) -> float:
    """Return the time until all are stored, s."""
    begun = time.perf_counter()
    for at, message in enumerate(messages, 1):
        journal.append(message, b"peer", MOMENT)
        if grouped and at % GROUP == 0:
            journal.sync(wait=True)
        elif not grouped:
            journal.sync()
            while journal.pending_bytes > WAITING:
                time.sleep(0.001)
    journal.sync(wait=True)
    return time.perf_counter() - begun


def replayed(servers: NatsServers, name: str) -> float:
    """Return the time to read everything again in s, including the claim."""
    with tempfile.TemporaryDirectory() as folder:
        journal = asyncio.run(wait_for_lease(servers.settings(name=name), lambda _: None))
        begun = time.perf_counter()
        journal.fetch_snapshot(Path(folder) / "jobs.state")
        count = sum(1 for _ in journal.replay(journal.start))
        took = time.perf_counter() - begun
        assert count == BATCHES
        journal.begin(Position(0, 0), lambda: None)
        journal.release()
        return took


def measure() -> list[Figure]:
    batches = make_batches(BATCHES, LENGTH, step_ns=20_000)
    encoded = [encode_batch("s", at, batch, DEFINITIONS) for at, batch in enumerate(batches, 1)]
    messages = [[bytes(frame) for frame in frames] for frames in encoded]
    size = sum(len(frame) for message in messages for frame in message)
    figures = [Figure("appended bytes per event", size / BATCHES / LENGTH, "bytes", better="lower")]
    times: dict[tuple[str, bool], list[float]] = {}
    reading: dict[str, list[float]] = {}
    with (
        tempfile.TemporaryDirectory(dir=os.environ.get("IOTIDE_JOURNAL_FOLDER")) as place,
        nats_servers(Path(place) / "one") as one,
        nats_servers(Path(place) / "three", 3) as three,
    ):
        known = {"one server": one, "three servers": three}
        for turn in range(ROUNDS):
            for grouped in (True, False):
                names = ["files", *known]
                for name in names[turn % 3 :] + names[: turn % 3]:
                    if name == "files":
                        with tempfile.TemporaryDirectory(dir=place) as folder, in_files(Path(folder)) as journal:
                            took = appended(journal, messages, grouped=grouped)
                    else:
                        label = f"t{turn}{int(grouped)}"
                        with at_servers(known[name], label) as journal:
                            took = appended(journal, messages, grouped=grouped)
                        reading.setdefault(name, []).append(replayed(known[name], label))
                    times.setdefault((name, grouped), []).append(took)
    for (name, grouped), took in times.items():
        if name != "files":
            text = f"{name}, {'16 a sync' if grouped else 'always more to append'}, kept"
            ours, files = (size / statistics.median(of) / 1e6 for of in (took, times["files", grouped]))
            figures.append(Figure(text, ours, "MB/s", peer="files", peer_value=files))
            events = BATCHES * LENGTH / statistics.median(took) / 1e6
            figures.append(Figure(f"{text}, events", events, "M events/s", ">= 1 with one server"))
    for name, took in reading.items():
        figures.append(Figure(f"{name}, claimed and read again", size / statistics.median(took) / 1e6, "MB/s"))
    return figures


if __name__ == "__main__":
    report(measure())
