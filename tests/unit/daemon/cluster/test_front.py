"""A member answers for all partitions, and forwards a request to the partition of its path."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from iotide.daemon.access.settings import AccessSettings
from iotide.daemon.cluster import partition_requests
from iotide.daemon.cluster.http_front import MISSING_HEADER, Front
from iotide.daemon.cluster.http_serving import trusted
from iotide.daemon.cluster.members import Member, Worker
from iotide.daemon.cluster.partition_requests import partitions_of_path
from iotide.daemon.cluster.partitions import partition_of
from iotide.daemon.publish.http.http_server import HttpServer
from iotide.daemon.publish.http.job_paths import JobPaths
from iotide.events.network.job_addresses import job_path
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from support.servers.principals import certificate
from support.system.waiting import DEADLINE_S


def partition(number: int, jobs: Mapping[str, float]) -> Starlette:
    """Return an application that responds like a partition's process."""

    def rows(*names: str) -> list[dict[str, Any]]:
        return [{"job": job, **dict.fromkeys(names, size)} for job, size in jobs.items()]

    async def listed(_: Request) -> Response:
        return JSONResponse({"version": 1, "jobs": rows("last_event_at_s")})

    async def fleet(request: Request) -> Response:
        begin, count = int(request.query_params["begin"]), int(request.query_params["count"])
        shown = sorted(rows("bandwidth"), key=lambda row: -row["bandwidth"])[begin : begin + count]
        total = {"total": len(jobs), "matching": len(jobs), "bandwidth": 1.0, "states": {"idle": len(jobs)}}
        return JSONResponse({"version": 1, "begin": begin, "alerts": 1, "recent_bin_s": 1, **total, "jobs": shown})

    async def job(request: Request) -> Response:
        name = request.path_params["job"]
        if name not in jobs:
            return JSONResponse({"error": "no such job"}, 404)
        said = request.headers.get("authorization", "")
        return JSONResponse({"job": name, "at": number, "said": said, "top": request.query_params.get("top")})

    return Starlette(
        routes=[
            Route("/api/v1/jobs", listed),
            Route("/api/v1/fleet", fleet),
            Route("/api/v1/status", lambda _: JSONResponse({"at": number})),
            Route("/api/v1/jobs/{job:job}/signal", job),
            Route("/api/v1/jobs/{job:job}", job),
        ],
        middleware=[Middleware(JobPaths)],
    )


@asynccontextmanager
async def serving(jobs: list[str], count: int, away: int | None = None) -> AsyncIterator[httpx.AsyncClient]:
    """Run a member of two: this one owns the even partitions, the other one the odd ones."""
    async with AsyncExitStack() as stack:
        urls: dict[int, str] = {}
        for number in range(count):
            own = {job: float(place) for place, job in enumerate(jobs) if partition_of(job, count) == number}
            if number != away:
                urls[number] = await at(stack, partition(number, own))
        odd = {number: url for number, url in urls.items() if number % 2}
        other = Front(count, dict, lambda: odd, "b", bytes, str, 5.0)
        stack.push_async_callback(other.close)
        url = await at(stack, other.app)
        worker = Worker(ingest="tcp://127.0.0.1:1", started="")
        members = {"b": Member(http=url, serves=dict.fromkeys(odd, worker))}
        even = {number: url for number, url in urls.items() if not number % 2}
        front = Front(count, lambda: members, lambda: even, "a", bytes, str, 5.0)
        stack.push_async_callback(front.close)
        base = await at(stack, front.app)
        yield await stack.enter_async_context(httpx.AsyncClient(base_url=base, trust_env=False))


async def at(stack: AsyncExitStack, app: Starlette) -> str:
    server = HttpServer(app, "127.0.0.1:0", allow_remote=False)
    stack.push_async_callback(server.stop)
    await server.start()
    return server.url


JOBS = [f"job-{number}" for number in range(12)]


@pytest.mark.slow
async def test_lists_are_those_of_all_partitions() -> None:
    async with serving(JOBS, 4) as client:
        answer = await client.get("/api/v1/jobs")
        assert [row["job"] for row in answer.json()["jobs"]] == JOBS[::-1]
        assert MISSING_HEADER not in answer.headers
        assert [row["job"] for row in (await client.get("/api/v1/jobs?latest=2")).json()["jobs"]] == JOBS[:-3:-1]


@pytest.mark.slow
async def test_requests_wait_for_the_new_owner_of_a_partition(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partition_requests, "_HAND_OVER_S", DEADLINE_S)
    ended = "http://127.0.0.1:1"
    one, other = (next(job for job in JOBS if partition_of(job, 2) == number) for number in range(2))
    async with AsyncExitStack() as stack:
        owners = {0: await at(stack, partition(0, {one: 1.0})), 1: ended}
        tried, searched = asyncio.Event(), asyncio.Event()

        def own() -> dict[int, str]:
            (tried if 1 in owners else searched).set()
            return owners

        front = Front(2, dict, own, "a", bytes, str, DEADLINE_S)
        stack.push_async_callback(front.close)
        base = await at(stack, front.app)
        client = await stack.enter_async_context(httpx.AsyncClient(base_url=base, trust_env=False, timeout=DEADLINE_S))
        asked = [asyncio.create_task(client.get(path)) for path in ("/api/v1/jobs", f"/api/v1/jobs/{other}")]
        async with asyncio.timeout(DEADLINE_S):
            await tried.wait()  # the process refuses the connection
            del owners[1]
            await searched.wait()
        assert not any(each.done() for each in asked)
        owners[1] = await at(stack, partition(1, {other: 2.0}))
        found, job = await asyncio.gather(*asked)
        assert [row["job"] for row in found.json()["jobs"]] == [other, one]
        assert MISSING_HEADER not in found.headers
        assert job.json()["at"] == 1


@pytest.mark.slow
async def test_only_the_first_request_waits_while_a_partition_stays_without_an_owner(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with AsyncExitStack() as stack:
        owners = {0: await at(stack, partition(0, {"a": 1.0}))}
        front = Front(2, dict, lambda: owners, "a", bytes, str, 10 * DEADLINE_S)
        stack.push_async_callback(front.close)
        base = await at(stack, front.app)
        client = await stack.enter_async_context(httpx.AsyncClient(base_url=base, trust_env=False, timeout=DEADLINE_S))
        for wait_s in (0.0, 10 * DEADLINE_S):
            monkeypatch.setattr(partition_requests, "_HAND_OVER_S", wait_s)
            assert (await client.get("/api/v1/jobs")).headers[MISSING_HEADER] == "1"


@pytest.mark.slow
async def test_requests_wait_in_each_hand_over_also_without_a_request_between_two(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with AsyncExitStack() as stack:
        owners: dict[int, str] = {}
        searched = asyncio.Event()

        def own() -> dict[int, str]:
            searched.set()
            return owners

        front = Front(1, dict, own, "a", bytes, str, DEADLINE_S)
        stack.push_async_callback(front.close)
        base = await at(stack, front.app)
        client = await stack.enter_async_context(httpx.AsyncClient(base_url=base, trust_env=False, timeout=DEADLINE_S))
        monkeypatch.setattr(partition_requests, "_HAND_OVER_S", 0.0)
        assert (await client.get("/api/v1/jobs")).status_code == 503
        monkeypatch.setattr(partition_requests, "_HAND_OVER_S", DEADLINE_S)
        url = owners[0] = await at(stack, partition(0, {"a": 1.0}))
        front.note_owners()
        del owners[0]
        front.note_owners()
        searched.clear()
        asked = asyncio.create_task(client.get("/api/v1/jobs"))
        async with asyncio.timeout(DEADLINE_S):
            await searched.wait()
        owners[0] = url
        assert (await asked).status_code == 200


@pytest.mark.slow
async def test_a_partition_that_does_not_answer_is_named() -> None:
    gone = partition_of(JOBS[0], 4)
    async with serving(JOBS, 4, away=gone) as client:
        answer = await client.get("/api/v1/jobs")
        there = [job for job in JOBS if partition_of(job, 4) != gone]
        assert sorted(row["job"] for row in answer.json()["jobs"]) == sorted(there)
        assert answer.headers[MISSING_HEADER] == str(gone)
        assert (await client.get(f"/api/v1/jobs/{JOBS[0]}")).status_code == 503


@pytest.mark.slow
async def test_status_is_that_of_each_partition() -> None:
    async with serving(JOBS, 3, away=1) as client:
        found = (await client.get("/api/v1/status")).json()
    assert found["partitions"] == {"0": {"at": 0}, "2": {"at": 2}}
    assert list(found["missing"]) == ["1"]


@pytest.mark.slow
async def test_a_page_of_the_fleet_is_made_of_those_of_all() -> None:
    async with serving(JOBS, 4) as client:
        found = (await client.get("/api/v1/fleet?begin=3&count=4")).json()
        assert [row["job"] for row in found["jobs"]] == JOBS[::-1][3:7]
        assert (found["total"], found["begin"], found["alerts"]) == (12, 3, 1)
        assert found["states"] == {"idle": 12}


@pytest.mark.slow
async def test_a_job_is_found_at_its_owner_with_all_that_was_asked() -> None:
    async with serving([*JOBS, "a/b", "lärm x", "a%20b", "a%3Fb", "a?b"], 4) as client:
        for job in [*JOBS, "a/b", "a%2Fb", "l%C3%A4rm%20x", "a%2520b", "a%253Fb", "a%3Fb"]:
            for below in ("", "/signal"):
                path = f"/api/v1/jobs/{job}{below}?top=3"
                found = (await client.get(path, headers={"authorization": "Bearer t"})).json()
                assert found["at"] == partition_of(found["job"], 4)
                assert (found["said"], found["top"]) == ("Bearer t", "3")
        assert (await client.get("/api/v1/jobs/none/signal")).status_code == 404


async def test_address_of_an_odd_name_reaches_its_owner_unchanged() -> None:
    names = ["a/../b", "/", "a/signal", "a//b", "%2e%2e", "?x=1"]
    async with serving(names, 4) as client:
        for name in names:
            answer = await client.get(f"/api/v1/jobs/{job_path(name)}/signal")
            assert (answer.status_code, answer.json().get("job")) == (200, name), answer.text
        reader, writer = await asyncio.open_connection(client.base_url.host, client.base_url.port)
        writer.write(b"GET /api/v1/jobs/a/../b/signal HTTP/1.0\r\nhost: x\r\n\r\n")  # as clients wrote it before
        assert b'"job":"a/../b"' in await reader.read()
        writer.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "status"),
    [
        ("%2Fx", 404),
        ("%2F@127.0.0.1:1/x", 404),  # not a request to that host
        ("/partitions/0%2Fapi/v1/status", 200),
        ("/%70artitions/1/api/v1/status", 200),
        ("/partitions/x/api/v1/status", 404),
        (f"/partitions/{'9' * 5000}/api/v1/status", 404),
        (f"/api/v1/jobs?latest={'9' * 5000}", 200),
        (f"/api/v1/fleet?begin={'9' * 5000}&count=5", 200),
        ("/api/v1/fleet?begin=999999999999&count=5", 200),
    ],
)
async def test_odd_targets_are_answered_by_a_partition_or_refused(target: str, status: int) -> None:
    async with serving(JOBS, 4) as client, asyncio.timeout(DEADLINE_S):
        reader, writer = await asyncio.open_connection(client.base_url.host, client.base_url.port)
        writer.write(f"GET {target} HTTP/1.1\r\nhost: x\r\n\r\n".encode())
        assert int((await reader.readline()).split()[1]) == status
        writer.close()


@pytest.mark.slow
async def test_prometheus_is_told_of_members_and_their_partitions() -> None:
    async with serving(JOBS, 4) as client:
        groups = (await client.get("/api/v1/prometheus")).json()
        paths = [group["labels"]["__metrics_path__"] for group in groups]
        assert paths == ["/metrics", "/partitions/1/metrics", "/partitions/3/metrics"]
        assert (await client.get("/partitions/9/metrics")).status_code == 404


@pytest.mark.slow
async def test_the_own_routes_of_a_member_refuse_unknown_and_repeated_parameters() -> None:
    async with serving(JOBS, 2) as client:
        for path in ("/metrics", "/api/v1/cluster", "/api/v1/prometheus"):
            refused = await client.get(f"{path}?lastt=1")
            known = "jobs" if path == "/metrics" else "none"
            assert (refused.status_code, refused.json()["error"]) == (422, f"query lastt: unknown; known are: {known}")
            assert (await client.get(path)).status_code == 200
        assert (await client.get("/metrics?jobs=1")).status_code == 200  # which partitions have
        assert (await client.get("/metrics?jobs=1&jobs=2")).status_code == 422
        assert (await client.get("/healthz?x=1")).status_code == 200


def test_ambiguous_path_is_searched_in_few_partitions() -> None:
    found = partitions_of_path("a/b/signal", 64)
    assert found == [partition_of(job, 64) for job in ("a/b/signal", "a/b", "a")]


@pytest.mark.slow
@pytest.mark.parametrize(("trusts", "status"), [(True, 200), (False, 503)])
async def test_a_member_asks_others_over_https_if_it_trusts_their_certificate(
    tmp_path: Path, trusts: bool, status: int
) -> None:
    chain, key = certificate(tmp_path)
    access = AccessSettings(certificate=chain, certificate_key=key)
    async with AsyncExitStack() as stack:
        own = await at(stack, partition(0, {"j": 1.0}))
        other = Front(1, dict, lambda: {0: own}, "b", bytes, str, 5.0)
        stack.push_async_callback(other.close)
        server = HttpServer(other.app, "127.0.0.1:0", access, allow_remote=False)
        stack.push_async_callback(server.stop)
        await server.start()
        members = {"b": Member(http=server.url, serves={0: Worker(ingest="tcp://127.0.0.1:1", started="")})}
        front = Front(1, lambda: members, dict, "a", bytes, str, 5.0, trusted(chain if trusts else None))
        stack.push_async_callback(front.close)
        base = await at(stack, front.app)
        client = await stack.enter_async_context(httpx.AsyncClient(base_url=base, trust_env=False))
        assert (await client.get("/api/v1/jobs/j")).status_code == status
