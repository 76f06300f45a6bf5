"""A job of three streams that is fed in parts, and its report: for aggregators that restart in between."""

from __future__ import annotations

import contextlib
import shutil
import urllib.request
from http.client import HTTPException
from pathlib import Path

from iotide.daemon.jobs.job_summary import detail_of
from iotide.daemon.jobs.session import JobSession
from iotide.daemon.server import Server
from iotide.results.jobs.job import JobDetail
from support.servers.running_aggregator import Fed, until
from support.system.waiting import DEADLINE_S

UNTIL_S = 1_700_000_000.0


def published_results(session: JobSession) -> list[object]:
    """Everything in the report that does not depend on the time of the request."""
    assert session.graph is not None
    assert session.layers is not None
    assert session.interactions is not None
    detail = detail_of(session, UNTIL_S)
    kept = {name: getattr(detail, name) for name in ("files", "calls", "losses", "streams", "ranks", "events")}
    return [
        kept,
        session.bytes_written,
        session.graph.graph(),
        session.layers.deferred_result()(),
        session.interactions.deferred_result()(),
        session.signal(),
    ]


def copy_folder(folder: Path, copy: Path) -> None:
    """Copy a folder in use, as a kill would leave it; skip files that vanish meanwhile."""

    def copy_one(source: str, target: str) -> str:
        with contextlib.suppress(FileNotFoundError):
            shutil.copy2(source, target)
        return target

    shutil.copytree(folder, copy, copy_function=copy_one, ignore=shutil.ignore_patterns("lock"))


def feed_part(source: Fed, part: int, streams: int = 3) -> None:
    for stream in range(streams):
        source.periodic(f"s{stream}", periods=6, until_s=UNTIL_S - 1000 + 60 * part + stream)


async def wait_for_events(server: Server, events: int) -> None:
    jobs = server.aggregator.jobs
    await until(lambda: "job" in jobs and jobs["job"].analyzers.events >= events)


def opened_source() -> Fed:
    source = Fed()
    for stream in range(3):
        source.open(f"s{stream}", "job", host="n1", pid=stream + 1, rank=stream, ranks=3)
    return source


def job_at(url: str) -> JobDetail | None:
    try:
        with urllib.request.urlopen(f"{url}/api/v1/jobs/j", timeout=DEADLINE_S) as answer:
            return JobDetail.model_validate_json(answer.read())
    except (OSError, HTTPException):  # absent, or no process listens
        return None
