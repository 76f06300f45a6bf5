"""The ranking of running jobs: per job, and of all jobs by the files that they share."""

from __future__ import annotations

import asyncio
import json
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from iotide.events import Kind, Layer, make_batch
from support.servers.running_aggregator import Fed, feeding, serving, until
from support.system.commands import iotide
from support.system.waiting import DEADLINE_S


def answer(address: str) -> dict[str, Any]:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(address, timeout=DEADLINE_S) as got:
        found: dict[str, Any] = json.loads(got.read())
    return found


def feed(source: Fed, job: str, kind: Kind, files: list[str], start: int) -> None:
    """Two processes: the first writes a pipe that the second reads; the second accesses the files."""
    source.open(job, job, host="node", clock_offset_ns=None)
    count = len(files)
    columns = {
        "start": np.arange(start, start + 2 + count) * 10**9,
        "duration": 1000,
        "call": 1,
        "layer": int(Layer.POSIX),
        "kind": np.array([int(Kind.WRITE), int(Kind.READ), *[int(kind)] * count]),
        "tid": np.array([11, 12, *[12] * count]),
        "file": np.array([1, 1, *range(2, 2 + count)]),
        "bytes": 100,
    }
    source.feed(job, make_batch(2 + count, columns), [kind.name.lower()], ["pipe:[7]", *files])


async def test_running_jobs_are_ranked_alone_and_together(tmp_path: Path) -> None:
    source = Fed()
    async with serving() as server, feeding(server, source):
        feed(source, "flow", Kind.WRITE, ["/scratch/field"], 10)
        feed(source, "post/plot", Kind.READ, ["/scratch/field", "/scratch/own"], 20)
        feed(source, "other", Kind.READ, ["/scratch/else"], 30)
        await until(lambda: sum(job.totals.events for job in server.aggregator.jobs.values()) == 10)
        base = f"{server.http_url}/api/v1"

        one = await asyncio.to_thread(answer, f"{base}/jobs/post/plot/rank")
        assert sorted(actor["tid"] for actor in one["actors"]) == [11, 12]
        assert [(edge["kind"], edge["count"], edge["connections"]) for edge in one["edges"]] == [("pipe", 1, 1)]

        jobs = await asyncio.to_thread(answer, f"{base}/rank")
        assert [actor["name"] for actor in jobs["actors"]] == ["post/plot", "flow"]
        assert [file["path"] for file in jobs["files"]] == ["/scratch/field"]
        assert jobs["alone"] == 1

        shown = await asyncio.to_thread(iotide, "rank", server.http_url, cwd=tmp_path)
        assert shown.returncode == 0, shown.stderr
        assert "2 jobs interact in 1 component, 1 with nobody" in shown.stdout
        alone = await asyncio.to_thread(iotide, "rank", f"{server.http_url}/jobs/flow", cwd=tmp_path)
        assert "2 processes interact" in alone.stdout
        refused = await asyncio.to_thread(iotide, "rank", "--top", "3", server.http_url, cwd=tmp_path)
        assert refused.returncode == 2
        with pytest.raises(urllib.error.HTTPError) as error:
            await asyncio.to_thread(answer, f"{base}/jobs/nobody/rank")
        error.value.close()
        assert error.value.code == 404


async def test_disturbing_jobs_are_reported_with_shares(tmp_path: Path) -> None:
    source = Fed()
    now = time.time() - 10
    async with serving() as server, feeding(server, source):
        for job, until_s in (("sim/1", now), ("backup", now + 0.5), ("between", now + 2.5)):
            source.open(job, job, host="n1", user="ann")
            source.periodic(job, until_s=until_s)
        await until(lambda: sum(job.totals.events for job in server.aggregator.jobs.values()) == 360)
        base = f"{server.http_url}/api/v1/jobs"
        found = await asyncio.to_thread(answer, f"{base}/sim/1/culprits")
        (backup, between) = found["culprits"]
        assert (backup["job"], backup["user"], backup["files"]) == ("backup", "ann", ["/scratch/out"])
        assert 0.25 < backup["share"] < 0.45
        assert backup["interactions"] == 240
        assert (between["job"], between["bytes"], between["share"]) == ("between", 0, 0.0)
        assert found["share"] == pytest.approx(1 - backup["share"])
        assert 10 < found["active_s"] < 14
        part = await asyncio.to_thread(answer, f"{base}/sim/1/culprits?from_s={now - 3}&to_s={now}&top=1")
        assert len(part["culprits"]) == 1
        assert part["culprits"][0]["bytes"] < backup["bytes"] / 6

        shown = await asyncio.to_thread(iotide, "rank", "--culprits", f"{server.http_url}/jobs/sim/1", cwd=tmp_path)
        assert shown.returncode == 0, shown.stderr
        assert "of what was moved meanwhile 6" in shown.stdout
        assert "backup   ann   /scratch/out" in shown.stdout
        refused = await asyncio.to_thread(iotide, "rank", "--culprits", server.http_url, cwd=tmp_path)
        assert refused.returncode == 2
        assert "give one http://HOST:PORT/jobs/JOB" in refused.stderr


async def test_where_it_is_switched_off_there_is_no_ranking() -> None:
    source = Fed()
    async with serving(rank={"enabled": False}) as server, feeding(server, source):
        feed(source, "flow", Kind.WRITE, ["/scratch/field"], 10)
        await until(lambda: sum(job.totals.events for job in server.aggregator.jobs.values()) == 3)
        with pytest.raises(urllib.error.HTTPError) as error:
            await asyncio.to_thread(answer, f"{server.http_url}/api/v1/jobs/flow/rank")
        with error.value:
            assert "rank.enabled" in error.value.read().decode()
