"""Faults in each analysis and each publisher of a running aggregator: they affect only the job, or the publisher."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from iotide.analyzers.pipeline.contract import Analyzer, JobContext
from iotide.analyzers.pipeline.job_totals import JobTotals
from iotide.analyzers.registry import ANALYZERS
from iotide.cli.serve_loop import serve_ftio
from iotide.clients.pages.live_pages import LivePages
from iotide.daemon.aggregator import Aggregator
from iotide.daemon.background_tasks import ServerFailedError, run_forever
from iotide.daemon.jobs.job_state import State
from iotide.daemon.jobs.session import PREDICTION, SIGNAL
from iotide.daemon.server import Server
from iotide.daemon.settings import AggregatorSettings
from iotide.results.jobs.job import JobDetail, JobList
from support.jobs.analyzer_kinds import replace_analyzer
from support.servers.running_aggregator import Fed, asking, collecting, feeding, serving, until
from support.system.waiting import DEADLINE_S

TAKES_IN = ("update", "close_stream", "compact")
ANSWERS = {
    "totals": ("calls", "files"),
    "graph": ("losses", "deferred_result", "top"),
    "layers": ("losses", "deferred_result"),
    "groups": ("losses", "answer"),
    "filesystems": ("losses", "deferred_result"),
    "heatmap": ("losses", "deferred_result"),
    "advice": ("losses", "deferred_result"),
}
PREDICTOR = {SIGNAL: ("update", "flush", "series"), PREDICTION: ("predict",)}
FAULTS = [
    *(
        (name, method)
        for name in ANALYZERS
        for method in (*TAKES_IN, *ANSWERS.get(name, ("losses", "deferred_result", "shared")))
    ),
    *((name, method) for name, methods in PREDICTOR.items() for method in methods),
]
ROUTES = {
    "": set(),
    "/prediction": {SIGNAL, PREDICTION},
    "/signal": {SIGNAL},
    "/dfg": {"graph"},
    "/layers": {"layers"},
    "/rank": {"interactions"},
    "/culprits": {SIGNAL, "totals"},
    "/filesystems": {"filesystems"},
    "/heatmap": {"heatmap"},
    "/advice": {"advice"},
}
"""Results of a job, and the analyses that each needs."""
FAILURES = "iotide_analysis_failures_total"


def fail(*_: object, **__: object) -> Any:
    raise ArithmeticError("out of order")


def break_analyzer(monkeypatch: pytest.MonkeyPatch, name: str, method: str) -> None:
    """Let one analyzer of the job ``bad`` raise when a method of it is called."""
    make = ANALYZERS[name].make

    def made(context: JobContext) -> Analyzer | None:
        analyzer = make(context)
        if context.job == "bad":
            setattr(analyzer, method, fail)
            if isinstance(analyzer, JobTotals):
                setattr(analyzer.totals, method, fail)
        return analyzer

    replace_analyzer(monkeypatch, name, made)


def break_predictor(aggregator: Aggregator, method: str) -> None:
    setattr(aggregator.jobs["bad"].predictor, method, fail)


async def until_idle(server: Server, source: Fed) -> None:
    """Feed both jobs, one batch before and one after a pause in which they were queried and settled."""
    for job in ("good", "bad"):
        source.open(f"of {job}", job, host="n1", pid=1)
        source.periodic(f"of {job}")
    jobs = server.aggregator.jobs
    await until(lambda: {"good", "bad"} <= set(jobs) and all(job.analyzers.events == 120 for job in jobs.values()))


@pytest.mark.parametrize(("name", "method"), FAULTS)
async def test_analysis_that_breaks_costs_its_job_that_analysis(
    monkeypatch: pytest.MonkeyPatch, name: str, method: str
) -> None:
    source = Fed()
    monkeypatch.setattr("iotide.daemon.jobs.job_analyzers._MIN_BATCH_EVENTS", 1)  # as of a job with more events
    monkeypatch.setattr("iotide.daemon.jobs.job_analyzers._MIN_SPAN_S", 0.0)  # and of one that lasts
    if name in ANALYZERS:
        break_analyzer(monkeypatch, name, method)
    else:
        make = Aggregator.opened

        def opened(self: Aggregator, stream: str, info: Any) -> None:
            make(self, stream, info)
            if info.job == "bad":
                break_predictor(self, method)

        monkeypatch.setattr(Aggregator, "opened", opened)
    async with (
        serving(pages=LivePages(), idle_after_s=0.2, linger_s=0.2) as server,
        asking(server) as client,
        feeding(server, source) as agent,
    ):
        jobs = server.aggregator.jobs
        await until_idle(server, source)
        good, bad = jobs["good"], jobs["bad"]
        await until(lambda: good.prediction is not None and good.state is State.IDLE)
        await until(lambda: bad.state is State.IDLE)
        for job in ("good", "bad"):
            source.periodic(f"of {job}")
            source.end(f"of {job}")
        await until(lambda: good.state is bad.state is State.ENDED)
        asked = {route: await client.get(f"/api/v1/jobs/bad{route}") for route in ROUTES}
        metrics = await client.get("/metrics")
        listed = JobList.model_validate((await client.get("/api/v1/jobs")).json())
        assert (await client.get("/api/v1/rank")).status_code == 200
        assert (await client.get("/jobs/good/dfg")).status_code == 200
        for route in ROUTES:
            assert (await client.get(f"/api/v1/jobs/good{route}")).status_code == 200, route
        for route, needed in ROUTES.items():
            answer = asked[route]
            if answer.status_code != 200:
                assert name in needed
                assert answer.status_code == 503
                assert f"the analysis {name} of job 'bad' failed" in answer.json()["error"]
                assert "ArithmeticError: out of order" in answer.json()["error"]
        if method in TAKES_IN:  # it may have received a part: nothing of it is reported
            assert all(asked[route].status_code == 503 for route, needed in ROUTES.items() if name in needed)
        assert metrics.status_code == 200
        assert f'{FAILURES}{{analysis="{name}"}}' in metrics.text
        assert 'iotide_job_events_total{job_id="good"} 240.0' in metrics.text
        assert 'iotide_job_events_total{job_id="bad"} 240.0' in metrics.text
        (failure,) = next(job.failures for job in listed.jobs if job.job == "bad")
        assert (failure.analysis, failure.reason) == (name, "ArithmeticError: out of order")
        assert failure.stopped == (method in (*TAKES_IN, "flush"))
        assert abs(failure.at_s - good.prediction.made_at_s) < 60  # type: ignore[union-attr]
        assert JobDetail.model_validate(asked[""].json()).events == 240
        assert next(job.failures for job in listed.jobs if job.job == "good") == []
        assert good.totals.events == 240
        assert not server.stats.rejected
        assert agent.counters()["events_dropped:rejected"] == 0
        later = time.monotonic() + 10_000
        monkeypatch.setattr(server.aggregator, "_steady", lambda: later)
        await until(lambda: not jobs)
        async with asyncio.timeout(DEADLINE_S):
            while (await client.get("/readyz")).status_code != 200:  # late, if the machine stalled
                pass
        assert (await client.get("/metrics")).status_code == 200


@contextlib.asynccontextmanager
async def with_all_publishers(folder: Path) -> AsyncIterator[Server]:
    options: dict[str, Any] = {
        "archive": {"folder": str(folder)},
        "ftio_listen": "tcp://127.0.0.1:*",
        "ftio_reply": "tcp://127.0.0.1:9",
        "linger_s": 0.2,
    }
    async with serving(**options) as server, serve_ftio(server, AggregatorSettings.model_validate(options)):
        yield server


async def test_failing_publisher_is_named_and_affects_no_other(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with with_all_publishers(tmp_path) as server:
        names = server.aggregator.on_predictions.names() | server.aggregator.on_jobs.names()
    assert names == {"zeromq", "archive", "ftio"}
    heard: list[str] = []
    for name in sorted(names):
        caplog.clear()
        heard.clear()
        source = Fed()
        async with (
            with_all_publishers(tmp_path) as server,
            asking(server) as client,
            collecting(server.ingest_endpoint, [source]),
        ):
            for listeners in (server.aggregator.on_predictions, server.aggregator.on_jobs):
                listeners.replace(name, fail)  # type: ignore[attr-defined]
                listeners.add("test", lambda news: heard.append(type(news).__name__))  # type: ignore[attr-defined]
            source.open("s", "job")
            source.periodic("s")
            source.end("s")
            jobs = server.aggregator.jobs
            await until(lambda: "job" in jobs and jobs["job"].state is State.ENDED)  # noqa: B023
            metrics = (await client.get("/metrics")).text
        assert set(heard) == {"Prediction", "JobSummary"}
        assert f'iotide_publisher_errors_total{{publisher="{name}"}}' in metrics
        assert f"job job: the publisher {name} raised an exception" in caplog.text


async def test_message_that_breaks_ingest_costs_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    source = Fed()
    async with serving() as server, feeding(server, source):
        source.open("s", "job")
        source.periodic("s")
        jobs = server.aggregator.jobs
        await until(lambda: "job" in jobs and jobs["job"].analyzers.events == 120)
        monkeypatch.setattr("iotide.daemon.ingest.ingest_core.IngestCore.receive", fail)
        source.periodic("s")
        await until(lambda: server.stats.failed)
        monkeypatch.undo()
        await until(lambda: jobs["job"].analyzers.events == 240)


@pytest.mark.parametrize("broken", ["aggregator.Aggregator.tick", "ingest.ingest_core.IngestCore.tick"])
async def test_task_that_fails_is_started_again(monkeypatch: pytest.MonkeyPatch, broken: str) -> None:
    source = Fed()
    async with (
        serving() as server,
        feeding(server, source),
        asking(server) as client,
    ):
        counted: Callable[[], int] = lambda: sum(  # noqa: E731
            count for name, count in server.aggregator.counters.items() if name.startswith("task_failures:")
        )
        monkeypatch.setattr(f"iotide.daemon.{broken}", fail)
        await until(lambda: counted() >= 2)
        monkeypatch.undo()
        source.open("s", "job")
        source.periodic("s")
        await until(lambda: "job" in server.aggregator.jobs and server.aggregator.jobs["job"].prediction is not None)
        assert "iotide_task_failures_total" in (await client.get("/metrics")).text


async def test_http_that_ends_is_started_again() -> None:
    async with serving() as server:
        async with asking(server) as client:
            assert (await client.get("/healthz")).status_code == 200
        assert server.http is not None
        await server.http.stop_answering()
        await until(lambda: server.aggregator.counters["task_failures:http"])
        async with asking(server) as client:
            assert (await client.get("/healthz")).status_code == 200


async def test_permanently_failing_task_ends_the_server_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(AggregatorSettings(ingest="tcp://127.0.0.1:*", http=None, publish=None))
    await server.start()
    monkeypatch.setattr("iotide.daemon.aggregator.Aggregator.tick", fail)
    monkeypatch.setattr("iotide.daemon.background_tasks._PAUSE_S", 0.0)
    try:
        with pytest.raises(ServerFailedError, match="the task jobs failed 10 times in a row: ArithmeticError"):
            await server.run()
    finally:
        await server.stop()


async def test_task_is_cancelled_as_any_other() -> None:
    counters: Counter[str] = Counter()
    task = asyncio.create_task(run_forever("sleep", lambda: asyncio.sleep(1000), counters))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not counters
