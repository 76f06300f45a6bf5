"""A running aggregator fed over real sockets: HTTP, Prometheus, subscribers, faults on the wire."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import platform
import re
import signal
import subprocess
import urllib.parse
from pathlib import Path

import pytest
import zmq
import zmq.asyncio
from iotide.clients.subscriber import AsyncSubscriber, Subscriber, SubscriptionTimeoutError
from iotide.daemon.jobs.job_state import State
from iotide.daemon.jobs.job_summary import detail_of
from iotide.daemon.publish.all_families import FAMILIES
from iotide.daemon.server import Server
from iotide.daemon.settings import AggregatorSettings
from iotide.events import ConfigError
from iotide.events.network.wire import Heartbeat, encode
from iotide.results.jobs.job import JobDetail, JobList, SignalSeries
from iotide.results.prediction import Prediction
from support.places import DATA, ROOT
from support.servers.running_aggregator import PERIOD_S, Fed, asking, feeding, serving, until
from support.system.commands import IOTIDE, Program, iotide, plain_environment
from support.system.signals import handles
from support.system.waiting import DEADLINE_S, wait_for
from support.tracing.programs import need

SYS_WRITE = {"x86_64": 1, "aarch64": 64}.get(platform.machine(), 1)
DOCS = ROOT / "docs"


async def predicted(server: Server, job: str = "job") -> Prediction:
    await until(lambda: job in server.aggregator.jobs and server.aggregator.jobs[job].prediction is not None)
    prediction = server.aggregator.jobs[job].prediction
    assert prediction is not None
    return prediction


async def test_results_are_the_same_over_http_and_zeromq() -> None:
    source = Fed()
    async with (
        serving() as server,
        AsyncSubscriber(server.publish_endpoint or "", timeout_s=DEADLINE_S) as subscriber,
        asking(server) as client,
        feeding(server, source),
    ):
        source.open("s", "job", host="n1", user="ada", command="simulate")
        # A subscription takes a moment to reach the publisher; bursts continue until one prediction has arrived.
        receiving = asyncio.create_task(subscriber.receive())
        while not receiving.done():
            source.periodic("s")
            await asyncio.wait([receiving], timeout=0.2)
        published = receiving.result()
        assert published.period_s is not None
        assert published.period_s.value == pytest.approx(PERIOD_S, rel=0.02)
        served = Prediction.model_validate((await client.get("/api/v1/jobs/job/prediction")).json())
        assert served.period_s is not None
        jobs = JobList.model_validate((await client.get("/api/v1/jobs")).json()).jobs
        assert [(job.job, job.user, job.state) for job in jobs] == [("job", "ada", "running")]
        detail = JobDetail.model_validate((await client.get("/api/v1/jobs/job")).json())
        assert detail.files[0].path == "/scratch/out"
        signal_series = SignalSeries.model_validate((await client.get("/api/v1/jobs/job/signal")).json())
        assert sum(signal_series.written) * signal_series.bin_s == pytest.approx(detail.bytes_written)


def jobs_with_archives(folder: Path) -> list[str]:
    return sorted(re.split("[-.]", path.name)[0] for path in folder.iterdir())


async def test_job_beyond_max_jobs_is_told_everywhere_and_gets_in_once_there_is_room(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    source = Fed()
    options = {"max_jobs": 1, "linger_s": 0.1, "archive": {"folder": tmp_path}}
    async with (
        serving(**options) as server,
        feeding(server, source),
        asking(server) as client,
    ):
        source.open("a", "first")
        source.periodic("a")
        await until(lambda: "first" in server.aggregator.jobs)
        for number in range(3):
            source.open(f"b{number}", "second")
            source.periodic(f"b{number}")
        await until(lambda: server.aggregator.counters["events_dropped:no_job"] == 3 * 120)
        answer = await client.get("/api/v1/jobs/second")
        assert answer.status_code == 404
        assert "max_jobs = 1" in answer.json()["error"]
        metrics = (await client.get("/metrics")).text
        assert 'iotide_streams_refused_total{reason="max_jobs"} 3.0' in metrics
        assert 'iotide_events_dropped_total{reason="no_job"} 360.0' in metrics
        assert len([record for record in caplog.records if "max_jobs" in record.getMessage()]) == 1
        source.end("a")
        await until(lambda: server.aggregator.jobs["first"].state is State.ENDED)
        source.periodic("b1")
        await until(lambda: "second" in server.aggregator.jobs and server.aggregator.jobs["second"].analyzers.events)
        detail = JobDetail.model_validate((await client.get("/api/v1/jobs/second")).json())
        assert (detail.events, detail.complete) == (120, False)
        assert detail.losses["events_dropped:max_jobs"] == 360
        assert detail.losses["streams_refused:max_jobs"] == 3
    assert jobs_with_archives(tmp_path) == ["first", "second"]


async def test_job_ids_with_odd_characters_work_everywhere() -> None:
    odd = 'a/b c"\\%é'
    source = Fed()
    async with (
        serving() as server,
        feeding(server, source),
        asking(server) as client,
    ):
        source.open("s", odd)
        source.periodic("s")
        await predicted(server, odd)
        quoted = urllib.parse.quote(odd, safe="")
        assert (await client.get(f"/api/v1/jobs/{quoted}")).json()["job"] == odd
        assert (await client.get(f"/api/v1/jobs/{quoted}/prediction")).json()["job"] == odd
        check_metrics((await client.get("/metrics")).text)


async def test_unknown_job_is_answered_with_what_was_expected() -> None:
    async with serving() as server, asking(server) as client:
        for path in ("/api/v1/jobs/x", "/api/v1/jobs/x/prediction", "/api/v1/jobs/x/signal"):
            answer = await client.get(path)
            assert answer.status_code == 404
            assert answer.json() == {"error": "no job 'x'", "expected": "a job of /api/v1/jobs"}


async def test_health_reports_missing_predictions() -> None:
    async with serving() as server, asking(server) as client:
        # It reports a delay if the machine stalled for an eighth of a second.
        async with asyncio.timeout(DEADLINE_S):
            while (answer := await client.get("/readyz")).status_code != 200:
                assert answer.text == "the prediction loop is late\n"
        assert answer.text == "ready\n"
        assert (await client.head("/healthz")).status_code == 200
    # Started, but not running: it responds, and predicts nothing.
    stuck = Server(AggregatorSettings(ingest="tcp://127.0.0.1:*", http="127.0.0.1:0", publish=None))
    await stuck.start()
    async with asking(stuck) as client:
        answer = await client.get("/readyz")
        assert (answer.status_code, answer.text) == (503, "the prediction loop is late\n")
    await stuck.stop()


async def test_openapi_document_names_every_path() -> None:
    async with serving() as server, asking(server) as client:
        document = (await client.get("/api/v1/openapi.json")).json()
    api = (DOCS / "api.md").read_text()
    for path in document["paths"]:
        assert f"`{path.replace(':path', '')}`" in api, path


def check_metrics(text: str) -> None:
    """Check an exposition with Prometheus' own checker."""
    done = subprocess.run(
        [need("promtool"), "check", "metrics"], input=text, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


async def test_metrics_are_clean_with_and_without_jobs() -> None:
    source = Fed()
    async with (
        serving() as server,
        feeding(server, source),
        asking(server) as client,
    ):
        check_metrics((await client.get("/metrics")).text)
        source.open("s", "job")
        source.periodic("s")
        await predicted(server)
        text = (await client.get("/metrics")).text
        check_metrics(text)
        period = re.search(r'^iotide_job_period_seconds\{job_id="job"\} (\S+)$', text, re.MULTILINE)
        assert period is not None
        assert float(period[1]) == pytest.approx(PERIOD_S, rel=0.02)
        assert 'iotide_job_written_bytes_total{job_id="job"} 1.2e+08' in text


def test_every_metric_is_documented_and_no_other() -> None:
    documented = set(re.findall(r"^\| `(iotide_\w+)`", (DOCS / "metrics.md").read_text(), re.MULTILINE))
    assert {name for name in documented if not name.startswith("iotide_cluster_")} == set(FAMILIES)


async def test_series_of_jobs_are_bounded() -> None:
    source = Fed()
    async with (
        serving(max_job_series=2) as server,
        feeding(server, source),
        asking(server) as client,
    ):
        for number in range(5):
            source.open(f"s{number}", f"job{number}")
            source.periodic(f"s{number}")
        await until(lambda: len(server.aggregator.jobs) == 5)
        text = (await client.get("/metrics")).text
        assert text.count("iotide_job_events_total{") == 2
        assert "iotide_jobs_without_series 3.0" in text


async def test_reasons_of_drops_are_bounded() -> None:
    async with serving() as server, asking(server) as client:
        counters = {f"events_dropped:{'x' * 70}{number}": number for number in range(1, 101)}
        server.aggregator.heartbeat("c", "n1", counters)
        text = (await client.get("/metrics")).text
    check_metrics(text)
    found = re.findall(r'^iotide_events_dropped_total\{reason="([^"]*)"\} (\S+)$', text, re.MULTILINE)
    assert len(found) == 51
    assert sum(float(count) for _, count in found) == sum(range(1, 101))


async def test_removed_job_vanishes_from_all_channels() -> None:
    source = Fed()
    async with (
        serving(linger_s=0.0, retain_s=0.0) as server,
        feeding(server, source),
        asking(server) as client,
    ):
        source.open("s", "job")
        source.periodic("s")
        await predicted(server)
        source.end("s")
        await until(lambda: not server.aggregator.jobs)
        assert 'job_id="job"' not in (await client.get("/metrics")).text
        assert (await client.get("/api/v1/jobs/job")).status_code == 404


async def test_garbage_on_the_wire_affects_only_its_sender() -> None:
    source = Fed()
    context = zmq.asyncio.Context()
    async with serving() as server, feeding(server, source) as agent:
        hostile = context.socket(zmq.DEALER)
        hostile.connect(server.ingest_endpoint)
        source.open("s", "job")
        for number in range(50):
            await hostile.send_multipart([bytes([number]) * number, os.urandom(20)])
            await hostile.send_multipart(encode(Heartbeat(collector="x" * number)))
            source.periodic("s", periods=1)
        await until(lambda: "job" in server.aggregator.jobs and server.aggregator.jobs["job"].totals.events == 500)
        await until(lambda: server._ingest.core.stats.malformed >= 50)
        assert await agent.drain(DEADLINE_S)
        hostile.close(0)
    context.term()


async def test_aggregator_that_comes_later_gets_everything(tmp_path: Path) -> None:
    source = Fed()
    endpoint = f"ipc://{tmp_path}/ingest"
    unborn = Server(AggregatorSettings(ingest=endpoint, http=None, publish=None))
    unborn.ingest_endpoint = endpoint
    async with feeding(unborn, source):
        source.open("s", "job")
        source.periodic("s")
        await asyncio.sleep(0)
        async with serving(ingest=endpoint) as server:
            await predicted(server)
            assert server.aggregator.jobs["job"].totals.events == 120
            assert (tmp_path / "ingest").stat().st_mode & 0o077 == 0
    await unborn.stop()
    unborn._ingest.close()
    unborn._context.term()


async def test_aggregator_that_is_replaced_goes_on_with_the_job(tmp_path: Path) -> None:
    source = Fed()
    endpoint = f"ipc://{tmp_path}/ingest"
    async with serving(ingest=endpoint) as first:
        agent_context = feeding(first, source, away_after_s=0.5, resend_after_s=0.2)
        await agent_context.__aenter__()
        source.open("s", "job")
        source.periodic("s")
        await predicted(first)
    async with serving(ingest=endpoint) as second:
        source.periodic("s")
        await predicted(second)
        assert detail_of(second.aggregator.jobs["job"], 0).files[0].path == "/scratch/out"
        await agent_context.__aexit__(None, None, None)


@pytest.mark.parametrize(
    "options",
    [
        {"ingest": "tcp://0.0.0.0:0"},
        {"ingest": "nonsense"},
        {"ingest": "ipc:///nonexistent/folder/socket"},
        {"http": "0.0.0.0:0"},
        {"http": "nonsense"},
        {"publish": "tcp://0.0.0.0:0"},
    ],
)
async def test_endpoint_that_is_open_or_broken_is_refused_and_all_is_released(options: dict[str, str]) -> None:
    values = {"ingest": "tcp://127.0.0.1:*", "http": None, "publish": None}
    with pytest.raises(ConfigError):
        await Server(AggregatorSettings.model_validate(values | options)).start()


def test_blocking_subscriber_reports_a_timeout() -> None:
    with (
        Subscriber("tcp://127.0.0.1:1", timeout_s=0.05) as subscriber,
        pytest.raises(SubscriptionTimeoutError, match=r"0\.05 s"),
    ):
        subscriber.receive()


async def test_subscriber_counts_what_it_does_not_know() -> None:
    async with serving() as server:
        with Subscriber(server.publish_endpoint or "", timeout_s=DEADLINE_S) as subscriber:
            receiving = asyncio.create_task(asyncio.to_thread(subscriber.receive))
            source = Fed()
            source.open("s", "job")
            async with feeding(server, source):
                while not receiving.done():
                    source.periodic("s")
                    for _, listener in server.aggregator.on_predictions._listeners:
                        listener.__self__._socket.send_multipart([b"prediction.job", b"\xc1"])  # type: ignore[attr-defined]
                    await asyncio.wait([receiving], timeout=0.1)
            assert receiving.result().job == "job"


def test_serve_collect_and_watch_work_as_three_programs(tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    ingest, publish = f"ipc://{tmp_path}/in", f"ipc://{tmp_path}/out"
    serve = [*IOTIDE, "serve", "--ingest", ingest, "--publish", publish, "--http", "none", "--interval", "0.1"]
    with (
        Program(serve, cwd=tmp_path, env=plain_environment(), stderr=subprocess.PIPE, text=True) as server,
        Program(
            [*IOTIDE, "collect", "--connect", ingest, "--job", "followed", str(trace)],
            cwd=tmp_path,
            env=plain_environment(),
        ) as collector,
    ):
        assert server.stderr is not None
        assert "ingest" in server.stderr.readline()
        with Program(
            [*IOTIDE, "watch", "--connect", publish, "--json", "--count", "1", "--timeout", str(DEADLINE_S)],
            cwd=tmp_path,
            env=plain_environment(),
            stdout=subprocess.PIPE,
            text=True,
        ) as watch:
            with trace.open("a") as out:
                at = 0

                def told() -> bool:
                    nonlocal at
                    for _ in range(20):
                        at += 1
                        row = {"call": "write", "path": "/f", "pid": 1, "start": 2.0 * at, "dur": 0.3, "size": 10**6}
                        out.write(json.dumps(row) + "\n")
                    out.flush()
                    return watch.poll() is not None

                wait_for(told, what="a prediction")
            assert watch.stdout is not None
            prediction = Prediction.model_validate_json(watch.stdout.read())
        assert prediction.job == "followed"
        for process in (collector, server):
            process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=DEADLINE_S) == 0


def test_signal_ends_the_aggregator_in_order_once_it_has_printed_its_endpoints(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    try:
        fill(writing)  # its output has to wait
        serve = [*IOTIDE, "serve", "--ingest", f"ipc://{tmp_path}/in", "--publish", "none", "--http", "none"]
        with Program(serve, cwd=tmp_path, env=plain_environment(), stderr=writing) as server:
            wait_for(lambda: (tmp_path / "in").exists() and writes(server.pid), what="a write that waits for a reader")
            assert handles(server.pid, signal.SIGTERM)
            assert handles(server.pid, signal.SIGINT)
            server.send_signal(signal.SIGTERM)
            os.close(writing)
            writing = -1
            said = b"".join(iter(lambda: os.read(reading, 65_536), b""))
            assert server.wait(timeout=DEADLINE_S) == 0
        assert b"iotide: ingest ipc://" in said
    finally:
        os.close(reading)
        if writing >= 0:
            os.close(writing)


def fill(pipe: int) -> None:
    """Write into a pipe until it is full."""
    os.set_blocking(pipe, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(pipe, b"." * 4096)
    os.set_blocking(pipe, True)


def writes(pid: int) -> bool:
    """Return whether a process waits in a call that writes to its standard error."""
    call = Path(f"/proc/{pid}/syscall").read_text().split()
    return call[0] == str(SYS_WRITE) and call[1] == "0x2"


def test_replayed_file_is_acknowledged_to_its_end(tmp_path: Path) -> None:
    sample = DATA / "tmio-8ranks.jsonl"
    ingest = f"ipc://{tmp_path}/in"
    with Program(
        [*IOTIDE, "serve", "--ingest", ingest, "--publish", "none", "--http", "none"],
        cwd=tmp_path,
        env=plain_environment(),
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stderr is not None
        server.stderr.readline()
        done = iotide("collect", "--replay", "--connect", ingest, "--job", "replayed", sample, cwd=tmp_path)
        server.send_signal(signal.SIGTERM)
        assert server.wait(timeout=DEADLINE_S) == 0
    assert (done.returncode, done.stderr) == (0, "")


def test_collect_without_an_aggregator_is_reported(tmp_path: Path) -> None:
    sample = DATA / "tmio-custom-ranks.json"
    with Program(
        [*IOTIDE, "collect", "--connect", f"ipc://{tmp_path}/nobody", str(sample)],
        cwd=tmp_path,
        env=plain_environment(),
        stderr=subprocess.PIPE,
        text=True,
    ) as collector:
        wait_for(lambda: handles(collector.pid, signal.SIGTERM), what="the signal handler")
        collector.send_signal(signal.SIGTERM)
        _, err = collector.communicate(timeout=DEADLINE_S)
    assert collector.returncode == 1
    assert "is the aggregator running?" in err
