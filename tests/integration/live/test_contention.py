"""Contention between jobs of a running aggregator: the API, its metrics and the command."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from pathlib import Path

import httpx
import msgspec
import numpy as np
import pytest
import zmq
import zmq.asyncio
from iotide.clients.job_fetch import fetch_for_all_jobs
from iotide.daemon.publish.pubsub import Publisher
from iotide.events import EventBatch, InputError, Kind, make_batch
from iotide.results.alerts import Alert, AlertList
from iotide.results.contention import Contention, FileSystemList
from iotide.results.jobs.file_systems import JobFileSystems
from support.servers.running_aggregator import Fed, asking, feeding, serving, until
from support.system.commands import iotide
from support.system.waiting import DEADLINE_S

NAMED = {"filesystems": {"names": {"/scratch": "scratch"}}}


async def test_jobs_on_one_file_system_are_in_the_api_the_metrics_and_the_command(tmp_path: Path) -> None:
    source = Fed()
    options = {"analyzers": NAMED, "contention": {"interval_s": 0.1, "capacity": {"scratch": 1e7}}}
    async with (
        serving(**options) as server,
        httpx.AsyncClient(base_url=server.http_url or "") as client,
        feeding(server, source),
    ):
        for job in ("one", "two"):
            source.open(job, job, host="n1", user="ada")
            source.periodic(job)
        await until(lambda: all(job in server.aggregator.jobs for job in ("one", "two")))
        await until(lambda: all(session.prediction is not None for session in server.aggregator.jobs.values()))
        use = JobFileSystems.model_validate_json((await client.get("/api/v1/jobs/one/filesystems")).content)
        (scratch,) = use.file_systems
        assert (scratch.file_system, sum(not phase.continues for phase in scratch.phases)) == ("scratch", 12)
        async with asyncio.timeout(DEADLINE_S):
            while not (found := await asked(client)).collisions:
                await asyncio.sleep(0.05)
        assert [(state.file_system, state.capacity.known) for state in found.file_systems] == [
            ("scratch", "configured")
        ]
        assert found.file_systems[0].jobs == ["one", "two"]
        assert {each.job for each in found.collisions[0].jobs} == {"one", "two"}
        assert [(file.path, file.file_system) for file in found.files] == [("/scratch/out", "scratch")]
        assert sorted(user.job for user in found.files[0].jobs) == ["one", "two"]
        listed = FileSystemList.model_validate_json((await client.get("/api/v1/filesystems")).content)
        assert [state.file_system for state in listed.file_systems] == ["scratch"]
        metrics = (await client.get("/metrics")).text
        assert 'iotide_filesystem_capacity_bytes_per_second{file_system="scratch",known="configured"} 1e+07' in metrics
        assert 'iotide_filesystem_busy_ratio{file_system="scratch"}' in metrics
        assert "iotide_contention_looks_total" in metrics
        url = server.http_url or ""
        shown = await printed("contention", url, cwd=tmp_path)
        assert "scratch" in shown
        assert "/scratch/out is shared by" in shown
        told = json.loads(await printed("contention", "--json", url, cwd=tmp_path))
        assert [state["file_system"] for state in told["file_systems"]] == ["scratch"]


async def test_alert_is_published_and_in_the_api_and_the_metrics() -> None:
    source = Fed()
    alerting = {"looks": 1, "probability": 0.01, "min_delay_s": 0.0}
    settings = {"interval_s": 0.1, "capacity": {"scratch": 1e7}, "min_probability": 0.01, "alerts": alerting}
    context = zmq.asyncio.Context()
    subscriber = context.socket(zmq.SUB)
    try:
        async with (
            serving(analyzers=NAMED, contention=settings) as server,
            httpx.AsyncClient(base_url=server.http_url or "") as client,
            feeding(server, source),
        ):
            subscriber.connect(server.publish_endpoint or "")
            subscriber.subscribe(b"job.")
            subscriber.subscribe(b"alert.")
            # a subscription takes a moment to reach the publisher; a job's results show that it did
            probes = 0
            while not await subscriber.poll(100):
                probes += 1
                source.open(f"probe{probes}", f"probe{probes}")
            for job in ("one", "two"):
                source.open(job, job, host="n1")
                source.periodic(job)
            async with asyncio.timeout(DEADLINE_S):
                while not (frames := await subscriber.recv_multipart())[0].startswith(b"alert."):
                    pass
            assert frames[0] == b"alert.collision.scratch"
            published = Alert.model_validate(msgspec.msgpack.decode(frames[1]))
            assert (published.state, sorted(published.victims)) == ("raised", ["one", "two"])
            listed = AlertList.model_validate_json((await client.get("/api/v1/alerts")).content)
            assert [alert.key for alert in listed.raised] == [published.key]
            metrics = (await client.get("/metrics")).text
            active = 'iotide_contention_alert_active{file_system="scratch",job_id="",kind="collision"} 1.0'
            assert active in metrics
            assert 'iotide_contention_alerts_total{kind="collision",state="raised"} 1.0' in metrics
    finally:
        subscriber.close(0)
        context.term()


def metadata_calls(seconds: Sequence[tuple[float, float]]) -> EventBatch:
    """Creates of files, each with start (seconds before now) and duration."""
    now_s = time.time()
    starts, durations = np.array(seconds).T
    columns = {
        "start": ((now_s - starts) * 1e9).astype(np.int64), "duration": (durations * 1e9).astype(np.int64), "call": 1,
        "kind": int(Kind.CREATE), "layer": 1, "file": 1,
    }  # fmt: skip
    return make_batch(len(seconds), columns)


async def test_job_that_slows_down_metadata_calls_of_another_is_named_and_raises_an_alert(tmp_path: Path) -> None:
    """The culprit creates files in 4 of 16 s. Each of the victim's creates takes three times as long meanwhile."""
    source = Fed()
    turns = range(20)
    storms = [(16.0 * turn + 4 - 0.02 * call, 0.02) for turn in reversed(turns) for call in range(200)]
    bursts = [
        (2.0 * burst + 1.5 - (0.03 if burst % 8 < 2 else 0.01) * call, 0.03 if burst % 8 < 2 else 0.01)
        for burst in reversed(range(8 * len(turns)))
        for call in range(30)
    ]
    options = {"analyzers": NAMED, "contention": {"interval_s": 0.1, "alerts": {"looks": 1}}}
    async with serving(**options) as server, asking(server) as client, feeding(server, source):
        for job, user, calls in (("victim", "ada", bursts), ("culprit", "bob", storms)):
            source.open(job, job, host="n1", user=user)
            source.feed(job, metadata_calls(calls), ["openat"], [f"/scratch/{job}"])
        async with asyncio.timeout(DEADLINE_S):
            while not (listed := AlertList.model_validate_json((await client.get("/api/v1/alerts")).content)).raised:
                await asyncio.sleep(0.05)
        (alert,) = listed.raised
        assert (alert.kind, alert.job, alert.measure, alert.culprits) == ("slowdown", "victim", "metadata", ["culprit"])
        assert (
            "Metadata calls (open, create, stat, unlink ...) of job victim on scratch take 3.00 times" in alert.summary
        )
        assert "job culprit (user bob, 100% of the other jobs' calls)" in alert.summary
        (slowed,) = (each for each in (await asked(client)).slowdowns if each.verdict == "slowed")
        assert (slowed.job, [each.job for each in slowed.culprits]) == ("victim", ["culprit"])
        shown = await printed("contention", server.http_url or "", cwd=tmp_path)
        assert "victim needs 3.00 times as long for a metadata call on scratch" in shown


async def test_watch_prints_alerts(tmp_path: Path) -> None:
    alert = Alert(
        kind="slowdown", state="raised", file_system="scratch", job="one", measure="data", since_s=1.7e9,
        changed_at_s=1.7e9, victims=["one"], culprits=["two"], sure=0.999, completeness=1.0,
        summary="I/O of one takes 2.00 times as long while two does I/O", advice="move one",
    )  # fmt: skip
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    publisher = Publisher(context, "tcp://127.0.0.1:*", allow_remote=False)
    try:
        arguments = ("watch", "--alerts", "--count", "1", "--connect", publisher.endpoint)
        watching = [asyncio.create_task(printed(*arguments, *more, cwd=tmp_path)) for more in ((), ("--json",))]
        while not all(task.done() for task in watching):  # the command takes a moment to listen
            publisher.alert(alert)
            await asyncio.wait(watching, timeout=0.1)
        line, as_json = (task.result() for task in watching)
    finally:
        publisher.close()
        context.term()
    assert "raised: I/O of one takes 2.00 times as long" in line
    assert Alert.model_validate_json(as_json) == alert


async def test_disabled_contention_is_reported() -> None:
    async with (
        serving(contention={"enabled": False}) as server,
        httpx.AsyncClient(base_url=server.http_url or "") as client,
    ):
        answer = await client.get("/api/v1/contention")
        assert answer.status_code == 404
        assert "contention.enabled" in answer.json()["expected"]
        with pytest.raises(InputError, match=r"is not analyzed; expected .*contention\.enabled"):
            await asyncio.to_thread(fetch_for_all_jobs, server.http_url or "", "contention", Contention)


async def asked(client: httpx.AsyncClient) -> Contention:
    return Contention.model_validate_json((await client.get("/api/v1/contention")).content)


async def printed(*arguments: str, cwd: Path) -> str:
    done = await asyncio.to_thread(iotide, *arguments, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout
