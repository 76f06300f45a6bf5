"""A running job and the commands on its archive report the same: both feed the same events to the same analyzers."""

from __future__ import annotations

import asyncio
import json
import time
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from iotide.events import EventBatch, Kind, Layer, make_batch
from support.jobs.alike import assert_alike
from support.servers.running_aggregator import Fed, feeding, serving, until
from support.system.commands import iotide
from support.system.waiting import DEADLINE_S

RANKS, PHASES, PAIRS = 3, 14, 40
EVENTS = RANKS * PHASES * PAIRS * 3
PERIOD_NS = 4 * 10**9
CALLS = ["MPI_File_write_at_all", "pwrite64", "read", "open"]
FILES = ["/scratch/run/out.dat", "/scratch/run/in.dat", "/usr/lib/libm.so.6"]


def phase(rank: int, begin_ns: int) -> EventBatch:
    """Write through MPI-IO, each with a stdio write, then reads; some accesses to system files."""
    at = begin_ns + rank * 50_000 + np.arange(PAIRS) * 20_000_000
    small = np.arange(PAIRS) % 8 == 0
    return make_batch(
        3 * PAIRS,
        {
            "start": np.stack([at + 1_000_000, at, at + 15_000_000], 1).ravel(),
            "duration": np.tile([10_000_000, 12_000_000, 2_000_000], PAIRS),
            "call": np.tile([2, 1, 3], PAIRS),
            "layer": np.tile([Layer.POSIX, Layer.MPIIO, Layer.POSIX], PAIRS),
            "kind": np.tile([Kind.WRITE, Kind.WRITE, Kind.READ], PAIRS),
            "depth": np.tile([1, 0, 0], PAIRS),
            "file": np.stack([np.full(PAIRS, 1), np.full(PAIRS, 1), np.where(small, 3, 2)], 1).ravel(),
            "bytes": np.tile([1 << 20, 1 << 20, 4096], PAIRS),
            "requested": np.tile([1 << 20, 1 << 20, 4096], PAIRS),
            "handle": np.tile([3, 1, 4], PAIRS),
            "parent": np.tile([1, 0, 0], PAIRS),
            "rank": rank,
            "pid": 100 + rank,
            "tid": 100 + rank,
        },
    )


async def told_live(folder: Path) -> dict[str, Any]:
    """Feed a job of several ranks, phase by phase, and return its report; its archive is in ``folder``."""
    source = Fed()
    first = int(time.time() * 1e9) - PHASES * PERIOD_NS
    async with serving(archive={"folder": folder}) as server, feeding(server, source):
        for rank in range(RANKS):
            facts = {"host": f"n{rank // 2}", "rank": rank, "ranks": RANKS, "pid": 100 + rank, "command": "./sim"}
            source.open(f"r{rank}", "sim", **facts)
        for number in range(PHASES):
            for rank in range(RANKS):
                fresh = (CALLS, FILES) if not number else ((), ())
                source.feed(f"r{rank}", phase(rank, first + number * PERIOD_NS), *fresh)
        for rank in range(RANKS):
            source.end(f"r{rank}")
        jobs = server.aggregator.jobs
        await until(lambda: "sim" in jobs and jobs["sim"].analyzers.events == EVENTS and not jobs["sim"].streams)
        server.aggregator.end_job("sim")
        base = f"{server.http_url}/api/v1/jobs/sim"
        parts = ("", "/dfg", "/layers", "/rank", "/filesystems", "/heatmap", "/advice")
        return {part.strip("/") or "job": await asyncio.to_thread(asked, base + part) for part in parts}


def asked(address: str) -> Any:
    with urllib.request.urlopen(address, timeout=DEADLINE_S) as answer:
        return json.loads(answer.read())


def told_offline(command: str, archive: Path) -> Any:
    done = iotide(*command.split(), "--json", archive, cwd=archive.parent)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def without(told: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in told.items() if name not in names}


@pytest.mark.slow
def test_running_job_and_its_archive_have_the_same_results(tmp_path: Path) -> None:
    live = asyncio.run(told_live(tmp_path))
    (archive,) = tmp_path.glob("*.iotide")
    graph = told_offline("dfg", archive)["graph"]
    for each in (live["dfg"], graph):
        for activity in each["activities"]:
            del activity["exact"]  # whether events arrived in order, as from an archive
    assert_alike(without(live["dfg"], "job"), without(graph, "job"), "graph")
    assert graph["edges"]
    layers = told_offline("layers", archive)["layers"]
    # the timeline of a running job is coarser, by layers.max_marks
    assert_alike(without(live["layers"], "job", "marks"), without(layers, "job", "marks"), "layers")
    ranking = told_offline("rank", archive)["ranking"]
    assert_alike(without(live["rank"], "job"), without(ranking, "job"), "ranking")
    assert ranking["files"]
    phases = told_offline("analyze filesystems", archive)
    assert_alike(without(live["filesystems"], "job"), without(phases, "job"), "file systems")
    heat = told_offline("analyze heatmap", archive)
    assert_alike(without(live["heatmap"], "job"), without(heat, "job"), "heat map")
    assert heat["members"] == RANKS
    advice = told_offline("advise", archive)
    assert_alike(without(live["advice"], "job"), without(advice, "job"), "advice")
    assert advice["bytes_written"]
    found = told_offline("detect", archive)
    for name in ("events", "bytes_read", "bytes_written", "not_counted"):
        assert_alike(live["job"][name], found[name], name)
    word = live["job"]["last_word"]
    assert word["period_s"]["value"] == pytest.approx(PERIOD_NS / 1e9, rel=0.01)
    assert found["prediction"]["period_s"]["value"] == pytest.approx(word["period_s"]["value"], rel=0.01)
