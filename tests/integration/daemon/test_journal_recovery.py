"""A killed aggregator loses nothing that it acknowledged, and counts nothing twice."""

from __future__ import annotations

import contextlib
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from iotide.daemon.publish.metrics import AggregatorCollector
from iotide.daemon.server import Server
from support.servers.restarted_job import copy_folder, feed_part, opened_source, published_results, wait_for_events
from support.servers.running_aggregator import feeding, serving, until


@contextlib.asynccontextmanager
async def killed(folder: Path, copy: Path, **options: object) -> AsyncIterator[Server]:
    """Run an aggregator; copy the part of its folder that is on disk at the end, as after a kill."""
    async with serving(state=folder, **options) as server:
        yield server
        copy_folder(folder, copy)


def history(server: Server) -> list[object]:
    return list(server.aggregator.jobs["job"].history)


def recovery_s(server: Server) -> float:
    """Return the duration of the replay at the start by the metrics."""
    collector = AggregatorCollector(server.aggregator, lambda: server.stats, 10, time.time)
    (family,) = (each for each in collector.collect() if each.name == "iotide_journal_recovery_seconds")
    return float(family.samples[0].value)


@pytest.mark.parametrize("snapshot_s", [0.05, 1000.0])
@pytest.mark.parametrize("parts", [1, 2, 3])
async def test_kill_is_seen_in_nothing(tmp_path: Path, parts: int, snapshot_s: float) -> None:
    undisturbed, restarted = opened_source(), opened_source()
    async with serving(ingest=f"ipc://{tmp_path}/u") as server, feeding(server, undisturbed):
        for part in range(4):
            feed_part(undisturbed, part)
            await wait_for_events(server, 180 * (part + 1))
        expected = published_results(server.aggregator.jobs["job"])
    options: dict[str, object] = {"ingest": f"ipc://{tmp_path}/r", "journal": {"snapshot_s": snapshot_s}}
    async with killed(tmp_path / "first", tmp_path / "second", **options) as first:
        agent = feeding(first, restarted)
        shipping = await agent.__aenter__()
        for part in range(parts):
            feed_part(restarted, part)
            await wait_for_events(first, 180 * (part + 1))
            await until(lambda: shipping._shipper.flushed)
        if snapshot_s < 1:
            await until(lambda: first.aggregator.counters["snapshots"])
    async with killed(tmp_path / "second", tmp_path / "third", **options) as second:
        assert second.aggregator.jobs["job"].analyzers.events == 180 * parts
        for part in range(parts, 4):
            feed_part(restarted, part)
        await wait_for_events(second, 720)
        assert published_results(second.aggregator.jobs["job"]) == expected
        await until(lambda: shipping._shipper.flushed)
    async with serving(state=tmp_path / "third", **options) as third:
        assert published_results(third.aggregator.jobs["job"]) == expected
        assert third.aggregator.counters["journal_damaged"] == 0
        assert recovery_s(third) > 0
    await agent.__aexit__(None, None, None)
