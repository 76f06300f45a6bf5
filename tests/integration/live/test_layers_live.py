"""Layers of running jobs: through the session, the aggregator and HTTP."""

from __future__ import annotations

import asyncio
import json
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from iotide.clients.pages.live_pages import LivePages
from iotide.daemon.settings import AggregatorSettings
from iotide.events import Kind, Layer
from iotide.results.layers import Layers
from support.references.layers_naive import Call, batch_of
from support.servers.running_aggregator import Fed, feeding, serving, until
from support.system.commands import iotide
from support.system.waiting import DEADLINE_S

BEGIN = 1_790_000_000 * 10**9


def transfer(size: int) -> Call:
    """Return a write through three layers."""
    bottom = Call(Layer.POSIX, Kind.WRITE, 10, size, file=1)
    middle = Call(Layer.MPIIO, Kind.WRITE, 2, size, file=1, below=[bottom])
    return Call(Layer.HDF5, Kind.WRITE, 5, size, file=1, below=[middle])


def asked(address: str) -> bytes:
    with urllib.request.urlopen(address, timeout=DEADLINE_S) as answer:
        content: bytes = answer.read()
    return content


async def test_live_pages_show_the_losses_of_the_job() -> None:
    source = Fed()
    async with serving(pages=LivePages()) as server, feeding(server, source):
        source.open("s", "job")
        source.feed("s", batch_of([transfer(1000)], begin=BEGIN), ["write"], ["/a"])
        await until(lambda: "job" in server.aggregator.jobs and server.aggregator.jobs["job"].totals.events == 3)
        source.lose("s", {"events_dropped:ring_full": 7, "bytes_dropped:ring_full": 700})
        await until(lambda: server.aggregator.jobs["job"].losses.total)
        for name in ("layers", "dfg", "dfg?versus=job"):
            shown = (await asyncio.to_thread(asked, f"{server.http_url}/jobs/job/{name}")).decode()
            lost = "14" if "versus" in name else "7"  # of both
            assert f"Lost on the way, and missing here: {lost} calls dropped as a thread&#39;s ring was full" in shown
            assert "raise --ring-records" in shown


async def test_running_job_tells_its_layers_over_http_and_in_the_terminal(tmp_path: Path) -> None:
    source = Fed()
    async with serving(pages=LivePages()) as server, feeding(server, source):
        source.open("s", "group/job")
        source.feed("s", batch_of([transfer(1000) for _ in range(50)], begin=BEGIN), ["write"], ["/a"])
        await until(lambda: "group/job" in server.aggregator.jobs)
        job = server.aggregator.jobs["group/job"]
        await until(lambda: job.totals.events == 150)
        address = f"{server.http_url}/api/v1/jobs/group/job/layers"
        layers = Layers.model_validate_json(await asyncio.to_thread(asked, address))
        assert [(row.layer, row.calls, row.bytes_written) for row in layers.layers] == [
            (name, 50, 50_000) for name in ("HDF5", "MPIIO", "POSIX")
        ]
        assert sum(row.exclusive_seconds for row in layers.layers) == pytest.approx(layers.threads_seconds)
        shown = await asyncio.to_thread(iotide, "layers", f"{server.http_url}/jobs/group/job", cwd=tmp_path)
        assert shown.returncode == 0, shown.stderr
        assert "MPI-IO write: passed on in one call of the same size" in shown.stdout
        told = await asyncio.to_thread(iotide, "layers", "--json", address, cwd=tmp_path)
        assert json.loads(told.stdout)["layers"]["events"] == 150
        page = (await asyncio.to_thread(asked, f"{server.http_url}/jobs/group/job/layers")).decode()
        assert "group/job</h1>" in page
        assert "Live: asks again every 2 s" in page
        metrics = (await asyncio.to_thread(asked, f"{server.http_url}/metrics")).decode()
        assert 'iotide_layers_dropped_total{reason="orphans"} 0.0' in metrics
        both = await asyncio.to_thread(iotide, "layers", address, "--filter", "rank=0", cwd=tmp_path)
        assert (both.returncode, "without --filter" in both.stderr) == (2, True)


async def test_job_without_layers_is_reported() -> None:
    source = Fed()
    async with serving(layers={"enabled": False}) as server, feeding(server, source):
        source.open("s", "job")
        source.feed("s", batch_of([transfer(1)], begin=BEGIN), ["write"], ["/a"])
        await until(lambda: "job" in server.aggregator.jobs)
        with pytest.raises(urllib.error.HTTPError) as refused:
            await asyncio.to_thread(asked, f"{server.http_url}/api/v1/jobs/job/layers")
        with refused.value as answer:
            assert answer.code == 404
            assert "has no layers" in json.loads(answer.read())["error"]


def test_layers_are_kept_by_default() -> None:
    assert AggregatorSettings().layers.enabled
