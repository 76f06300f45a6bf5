"""Finished jobs leave nothing behind: no table of the aggregator or of the sequence state grows with them."""

from __future__ import annotations

import gc
from collections import deque
from typing import Any

import msgspec
import numpy as np
import pytest
from iotide.analyzers.registry import ANALYZERS
from iotide.daemon.aggregator import Aggregator
from iotide.daemon.ingest.ingest_core import IngestCore
from iotide.daemon.ingest.ingest_settings import IngestSettings, IngestStats
from iotide.daemon.jobs.accounting import loss_sink
from iotide.daemon.publish.metrics import AggregatorCollector
from iotide.daemon.settings import AggregatorSettings
from iotide.events import Interner, StreamInfo
from iotide.events.network.wire import Bye, Heartbeat, Hello, encode, encode_batch
from support.servers.running_aggregator import periodic_batch

REMEMBERED = 20


def sizes(root: object) -> dict[str, int]:
    """Return the number of entries of each container that is reachable from an object, by its path."""
    found: dict[str, int] = {}
    seen: set[int] = set()
    waiting: list[tuple[str, Any]] = [("", root)]
    while waiting:
        path, value = waiting.pop()
        if id(value) in seen or isinstance(value, str | bytes | np.ndarray | type | msgspec.Struct):
            continue
        seen.add(id(value))
        if isinstance(value, dict | list | set | frozenset | tuple | deque):
            found[path] = len(value)
            inner = dict.values(value) if isinstance(value, dict) else value
            waiting += [(f"{path}[]", each) for each in inner if not isinstance(each, str | int | float)]
        if type(value).__module__.startswith("iotide."):  # some are both
            names = [
                *getattr(value, "__dict__", {}),
                *(n for k in type(value).__mro__ for n in k.__dict__.get("__slots__", ())),
            ]
            waiting += [(f"{path}.{name}", getattr(value, name)) for name in names if hasattr(value, name)]
    return found


@pytest.mark.slow
def test_jobs_that_are_gone_leave_no_entry_in_any_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loss_sink, "_MAX_SILENT", REMEMBERED)  # of silent collectors
    now = [1.7e9]
    settings = AggregatorSettings(linger_s=0.1, retain_s=0.1, max_ended_jobs=10)
    aggregator = Aggregator(settings, lambda: now[0])
    core = IngestCore(aggregator, IngestSettings(remembered_streams=REMEMBERED, forget_after_s=1.0, lost_after_s=0.5))

    def run(first: int, count: int) -> dict[str, int]:
        for number in range(first, first + count):
            name, interner = f"s{number}", Interner()
            batch = periodic_batch(interner, periods=3, until_s=now[0])
            peer, info = name.encode(), StreamInfo(job=f"job{number}", source="test", user="u", host=f"n{number}")
            messages = [
                encode(Hello(collector=f"c{number}", stream=name, info=info)),
                encode(Heartbeat(collector=f"c{number}")),
            ]
            messages.append(encode_batch(name, 1, batch, interner.take_fresh()))
            if number % 3:  # the others are cut off
                messages.append(encode(Bye(stream=name, last_seq=1)))
            for message in messages:
                core.receive(peer, [bytes(frame) for frame in message], now[0])
            now[0] += 0.2
            core.tick(now[0])
            while aggregator.tick():
                pass
        for _ in range(40):
            now[0] += 1.0
            core.tick(now[0])
            while aggregator.tick():
                pass
        assert not aggregator.jobs
        return {f"aggregator{path}": size for path, size in sizes(aggregator).items()} | {
            f"core{path}": size for path, size in sizes(core).items()
        }

    once, again = run(0, 60), run(60, 120)
    grown = {
        path: (once.get(path, 0), size) for path, size in again.items() if size > max(once.get(path, 0), REMEMBERED)
    }
    assert not grown


def test_removed_jobs_leave_nothing_to_the_garbage_collection() -> None:
    """The aggregator examines old objects rarely, so jobs and predictions must have no reference cycles."""
    now = [1.7e9]
    aggregator = Aggregator(AggregatorSettings(linger_s=0.1, retain_s=0.1), lambda: now[0])
    collector = AggregatorCollector(aggregator, IngestStats, 10, lambda: now[0])

    def run_job(stream: str) -> None:
        interner = Interner()
        aggregator.opened(stream, StreamInfo(job="job", source="test", host="n"))
        aggregator.batch(stream, periodic_batch(interner, until_s=now[0]), interner.take_fresh())
        session = aggregator.jobs["job"]
        aggregator.predict(session)
        assert session.prediction is not None
        assert session.prediction.period_s is not None
        assert None not in (session.totals, session.graph, session.layers, session.interactions)
        for name in ANALYZERS:
            session.analyzers.reporting_analyzer(name)
        assert list(collector.collect())
        aggregator.closed(stream, {})
        aggregator.end_job("job")
        for _ in range(3):
            now[0] += 1.0
            aggregator.tick()
        assert "job" not in aggregator.jobs

    run_job("first")  # creates what is created once
    gc.collect()
    gc.disable()
    try:
        run_job("second")
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        assert not [each for each in gc.garbage if type(each).__module__.startswith("iotide.")]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
