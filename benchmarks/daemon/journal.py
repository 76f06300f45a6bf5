"""Cost of the journal: plain segments beside alternative stores, and the aggregator with and without a journal.

Each store takes the same messages in the same groups, and syncs each group to disk before the next one. The order of
the stores changes from round to round. LMDB and RocksDB are measured if `lmdb` and `rocksdict` are installed.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from iotide.benchmarks.common.events import DEFINITIONS, make_batches
from iotide.benchmarks.common.figures import Figure, report
from iotide.daemon.aggregator import Aggregator
from iotide.daemon.clocks import Clocks
from iotide.daemon.ingest.ingest_core import IngestCore
from iotide.daemon.ingest.ingest_settings import IngestSettings
from iotide.daemon.journal.contract import Moment, Position
from iotide.daemon.journal.segment_journal import SegmentJournal
from iotide.daemon.journal.settings import JournalSettings
from iotide.daemon.settings import AggregatorSettings
from iotide.daemon.state.persistence import StatePersistence
from iotide.events import Definitions, StreamInfo
from iotide.events.network.wire import Hello, encode, encode_batch

ROUNDS = 5
GROUP = 16
SIZES = (1 << 10, 1 << 14, 1 << 17)
BATCHES = 300
LENGTH = 4096
Store = Callable[[Path, list[bytes]], None]


def groups(messages: list[bytes]) -> list[list[bytes]]:
    return [messages[at : at + GROUP] for at in range(0, len(messages), GROUP)]


def segments(folder: Path, messages: list[bytes]) -> None:
    journal = SegmentJournal(folder, 1 << 26, 1 << 40)
    journal.begin(Position(0, 0), lambda: None)
    moment = Moment(1.0, 2.0, 3.0)
    for group in groups(messages):
        for message in group:
            journal.append([message], b"peer", moment)
        journal.sync(wait=True)
    journal.close()


def sqlite(folder: Path, messages: list[bytes]) -> None:
    database = sqlite3.connect(folder / "journal.sqlite", isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = FULL")
    database.execute("CREATE TABLE journal (number INTEGER PRIMARY KEY, message BLOB)")
    for group in groups(messages):
        database.execute("BEGIN")
        database.executemany("INSERT INTO journal (message) VALUES (?)", ((message,) for message in group))
        database.execute("COMMIT")
    database.close()


def lmdb(folder: Path, messages: list[bytes]) -> None:
    environment = importlib.import_module("lmdb").open(str(folder), map_size=1 << 34)
    number = 0
    for group in groups(messages):
        with environment.begin(write=True) as transaction:
            for message in group:
                number += 1
                transaction.put(number.to_bytes(8, "big"), message, append=True)
    environment.close()


def rocksdb(folder: Path, messages: list[bytes]) -> None:
    rocks = importlib.import_module("rocksdict")
    database = rocks.Rdict(str(folder), rocks.Options(raw_mode=True))
    options = rocks.WriteOptions()
    options.sync = True
    number = 0
    for group in groups(messages):
        batch = rocks.WriteBatch(raw_mode=True)
        for message in group:
            number += 1
            batch.put(number.to_bytes(8, "big"), message)
        database.write(batch, options)
    database.close()


def stores() -> dict[str, Store]:
    others: dict[str, tuple[str, Store]] = {"LMDB": ("lmdb", lmdb), "RocksDB": ("rocksdict", rocksdb)}
    there = {name: store for name, (module, store) in others.items() if importlib.util.find_spec(module) is not None}
    return {"segments": segments, "SQLite": sqlite} | there


def measure_stores() -> list[Figure]:
    figures = []
    known = stores()
    for size in SIZES:
        count = min(4096, (1 << 26) // size) // GROUP * GROUP
        messages = [os.urandom(size) for _ in range(count)]
        rates: dict[str, list[float]] = {name: [] for name in known}
        busy: dict[str, list[float]] = {name: [] for name in known}
        for turn in range(ROUNDS):
            names = list(known)
            for name in names[turn % len(names) :] + names[: turn % len(names)]:
                with tempfile.TemporaryDirectory(dir=os.environ.get("IOTIDE_JOURNAL_FOLDER")) as folder:
                    begun, spent = time.perf_counter(), time.process_time()
                    known[name](Path(folder), messages)
                    rates[name].append(count * size / (time.perf_counter() - begun) / 1e6)
                    busy[name].append((time.process_time() - spent) / count * 1e6)
        for name in list(known)[1:]:
            text = f"messages of {size // 1024} KiB, {GROUP} a sync, "
            ours, theirs = statistics.median(rates["segments"]), statistics.median(rates[name])
            figures.append(Figure(text + "on disk", ours, "MB/s", peer=name, peer_value=theirs))
            ours, theirs = statistics.median(busy["segments"]), statistics.median(busy[name])
            figures.append(Figure(text + "CPU", ours, "us a message", peer=name, peer_value=theirs, better="lower"))
    return figures


def wired(now: float) -> list[list[bytes]]:
    batches = make_batches(BATCHES, LENGTH, start_ns=int((now - 60) * 1e9), step_ns=20_000)
    messages = [encode(Hello(collector="c", stream="s", info=StreamInfo(job="j", source="bench")))]
    for at, batch in enumerate(batches):
        messages.append(encode_batch("s", at + 1, batch, DEFINITIONS if at == 0 else Definitions([], [])))
    return [[bytes(frame) for frame in message] for message in messages]


def rate(messages: list[list[bytes]], folder: Path | None) -> tuple[float, float]:
    """Return events per second of CPU time, and of wall time; with a journal if a folder is given."""
    clocks, bounds = Clocks(), IngestSettings()
    aggregator = Aggregator(AggregatorSettings(), clocks.clock, clocks.steady)
    core = IngestCore(aggregator, bounds)
    keeping = None
    if folder is not None:
        keeping = StatePersistence(folder, JournalSettings(), aggregator, clocks, core, bounds)
        keeping.begin(lambda: None)
    durability = keeping.durability if keeping is not None else None
    begun, spent = time.perf_counter(), time.process_time()
    for at, message in enumerate(messages):
        (durability or core).receive(b"peer", message, time.monotonic())
        if durability is not None and at % GROUP == 0:
            durability.sync()
            durability.pop_durable()
        if at % 50 == 0:
            aggregator.tick()
    if durability is not None:
        durability.journal.sync(wait=True)
    events = BATCHES * LENGTH
    rates = events / (time.process_time() - spent), events / (time.perf_counter() - begun)
    if keeping is not None:
        keeping.close()
    return rates


def measure_aggregator() -> list[Figure]:
    messages = wired(time.time())
    found: dict[bool, list[tuple[float, float]]] = {True: [], False: []}
    for turn in range(2 * ROUNDS):
        for journals in (True, False) if turn % 2 else (False, True):
            folder = Path(tempfile.mkdtemp(dir=os.environ.get("IOTIDE_JOURNAL_FOLDER")))
            found[journals].append(rate(messages, folder if journals else None))
            shutil.rmtree(folder)
    size = sum(len(frame) for message in messages for frame in message) / BATCHES / LENGTH
    figures = [Figure("journal bytes per event", size, "bytes", better="lower")]
    for column, of in enumerate(("CPU", "wall")):
        ours, without = (float(np.median([each[column] for each in found[on]])) / 1e6 for on in (True, False))
        figures.append(
            Figure(
                f"aggregator with a journal, {of} time",
                ours,
                "M events/s",
                ">= 0.8 of without",
                peer="without",
                peer_value=without,
            )
        )
    return figures


def measure() -> list[Figure]:
    return measure_aggregator() + measure_stores()


if __name__ == "__main__":
    report(measure())
