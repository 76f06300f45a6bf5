"""Cost of appending to a shared journal: batches at NATS servers on loopback, beside the journal in files.

One server with ``sync_interval: always``, and three with three replicas, all on the disk of the files. Batches of 4,096
events are appended in groups of 16, each stored before the next one, or with at most 16 MB waiting, as in an aggregator
with many collectors. The order of the journals changes from round to round.

At a constant rate, CPU time of server and client per record, as it is and with each message sent at once.
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
from iotide.benchmarks.common.processes import children_of, used_ns
from iotide.daemon.journal.contract import DurableJournal, Moment, Position
from iotide.daemon.journal.jetstream import stream_writer
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
RATE = 400
"""Records per second at a constant rate."""
PACED_S = 2.0
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


def paced_us(servers: NatsServers, folder: Path, name: str, gather_s: float) -> float:
    """Return the CPU time of server and client per record at a constant rate, us.

    Args:
        servers: one server, a child of this process.
        folder: its folder.
        name: name of the journal.
        gather_s: least time between small messages, s.
    """
    usual_s, stream_writer._GATHER_S = stream_writer._GATHER_S, gather_s  # type: ignore[misc]
    record, done = [os.urandom(300), os.urandom(17_000)], 0
    commands = {pid: Path(f"/proc/{pid}/cmdline").read_bytes() for pid in children_of(os.getpid())}
    server = next(pid for pid, command in commands.items() if str(folder).encode() in command)
    with at_servers(servers, name) as journal:
        before = used_ns(server) + time.process_time_ns() - time.thread_time_ns()
        begun_s = time.monotonic()
        while (passed_s := time.monotonic() - begun_s) < PACED_S:
            while done < passed_s * RATE:
                journal.append(record, b"peer", MOMENT)
                journal.sync()
                done += 1
            time.sleep(0.002)
        journal.sync(wait=True)
        after = used_ns(server) + time.process_time_ns() - time.thread_time_ns()
    stream_writer._GATHER_S = usual_s  # type: ignore[misc]
    return (after - before) / 1e3 / done


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
    paced: dict[float, list[float]] = {stream_writer._GATHER_S: [], 0.0: []}
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
            for gather_s, spent_us in paced.items():
                spent_us.append(paced_us(one, Path(place) / "one", f"p{turn}{int(gather_s > 0)}", gather_s))
    for (name, grouped), took in times.items():
        if name != "files":
            text = f"{name}, {'16 a sync' if grouped else 'always more to append'}, kept"
            ours, files = (size / statistics.median(of) / 1e6 for of in (took, times["files", grouped]))
            figures.append(Figure(text, ours, "MB/s", peer="files", peer_value=files))
            events = BATCHES * LENGTH / statistics.median(took) / 1e6
            figures.append(Figure(f"{text}, events", events, "M events/s", ">= 1 with one server"))
    gathered_us, single_us = (statistics.median(each) for each in paced.values())
    text = f"one server, {RATE} messages of 17 kB per second, CPU"
    peer = {"peer": "each at once", "peer_value": single_us, "better": "lower"}
    figures.append(Figure(text, gathered_us, "us a message", **peer))  # type: ignore[arg-type]
    for name, took in reading.items():
        figures.append(Figure(f"{name}, claimed and read again", size / statistics.median(took) / 1e6, "MB/s"))
    return figures


if __name__ == "__main__":
    report(measure())
