"""Results over the jobs of several partitions equal those of one aggregator with all jobs."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from iotide.daemon.access.access import Access
from iotide.daemon.access.settings import AccessSettings
from iotide.daemon.cluster.http_front import MISSING_HEADER, Front
from iotide.daemon.cluster.members import Member, Worker
from iotide.daemon.cluster.partitions import Partition, partition_of
from iotide.daemon.publish.http.authentication import Authentication
from iotide.daemon.publish.http.http_server import HttpServer
from iotide.daemon.server import Server
from iotide.daemon.settings import AggregatorSettings
from iotide.events import Interner, Kind, StreamInfo, make_batch
from support.servers.principals import Listed
from support.system.waiting import DEADLINE_S

PARTITIONS = 3
JOBS = {"writer": "alice", "reader": "bob", "other": "bob", "third": "alice", "alone": "carol", "sixth": "alice"}
NAMED = {"filesystems": {"names": {"/scratch": "scratch"}}}
ASKED = ["/internal/rank", "/internal/culprits?job=writer", "/internal/dfg?job=writer&versus=x"]
BEGIN_S = 1_700_000_000
TOKENS = {"a": "token-of-a", "b": "token-of-b"}
MEMBER = {"x-iotide-member": TOKENS["a"]}
"""Header of a member that asks member a, which the tests ask."""


def fill(server: Server, job: str) -> None:
    """Let a job write and read shared files for some time."""
    place, count, interner = list(JOBS).index(job), 400, Interner()
    files = np.array([interner.file(f"/scratch/{name}") for name in ("a", "b", job)])
    kinds = np.where(np.arange(count) % 2 == place % 2, int(Kind.WRITE), int(Kind.READ)).astype("u1")
    columns = {
        "start": BEGIN_S * 10**9 + np.arange(count) * 50_000_000 + place * 10**7,
        "duration": 10_000_000,
        "kind": kinds,
        "layer": 1,
        "pid": 7,
        "tid": 7,
        "call": np.where(kinds == int(Kind.WRITE), interner.string("write"), interner.string("read")),
        "file": files[(np.arange(count) + place) % 3],
        "bytes": 1000 * (place + 1),
    }
    info = StreamInfo(job=job, source="test", host=f"n{place % 2}", pid=7, user=JOBS[job])
    server.aggregator.opened(job, info)
    server.aggregator.batch(job, make_batch(count, columns), interner.take_fresh())


async def running(stack: AsyncExitStack, number: int | None, jobs: list[str], access: dict[str, Any]) -> str:
    """Run the aggregator of a partition, or a single one; return its URL."""
    values = {"ingest": "tcp://127.0.0.1:*", "http": "127.0.0.1:0", "publish": None, "access": access}
    more = {"contention": {"enabled": False}, "analyzers": NAMED, "state": None}
    settings = AggregatorSettings.model_validate(values | more)
    partition = None if number is None else Partition("c", number, TOKENS["b" if number % 2 else "a"])
    server = Server(settings, partition=partition)
    await server.start()
    stack.push_async_callback(server.stop)
    for job in jobs:
        fill(server, job)
    return str(server.http_url)


async def fronted(stack: AsyncExitStack, front: Front, access: dict[str, Any], token: str) -> str:
    settings = AccessSettings.model_validate(access)
    app: Any = front.app
    if not settings.is_open:
        app = Authentication(front.app, Access(settings, lambda _: None, Counter()))
    server = HttpServer(app, "127.0.0.1:0", allow_remote=False, member_token=token)
    stack.push_async_callback(server.stop)
    stack.push_async_callback(front.close)
    await server.start()
    return server.url


@asynccontextmanager
async def both(away: int | None = None, **access: Any) -> AsyncIterator[tuple[httpx.AsyncClient, httpx.AsyncClient]]:
    """Run one aggregator with all jobs, and a cluster of two members; yield a client of each."""
    async with AsyncExitStack() as stack:
        alone = await running(stack, None, list(JOBS), access)
        urls = {}
        for number in range(PARTITIONS):
            if number != away:
                own = [job for job in JOBS if partition_of(job, PARTITIONS) == number]
                urls[number] = await running(stack, number, own, access)
        odd = {number: url for number, url in urls.items() if number % 2}
        even = {number: url for number, url in urls.items() if not number % 2}
        other = Front(PARTITIONS, dict, lambda: odd, "b", bytes, str, DEADLINE_S, token=TOKENS["b"])
        there = await fronted(stack, other, access, TOKENS["b"])
        worker = Worker(ingest="tcp://127.0.0.1:1", started="")
        members = {"b": Member(http=there, serves=dict.fromkeys(odd, worker), token=TOKENS["b"])}
        front = Front(PARTITIONS, lambda: members, lambda: even, "a", bytes, str, DEADLINE_S, token=TOKENS["a"])
        here = await fronted(stack, front, access, TOKENS["a"])
        clients = [httpx.AsyncClient(base_url=url, trust_env=False, timeout=DEADLINE_S) for url in (alone, here)]
        one, several = [await stack.enter_async_context(client) for client in clients]
        yield one, several


def sorted_rows(value: Any) -> Any:
    """Return a result with its lists in a canonical order, without numbers that depend on the order."""
    if isinstance(value, list):
        return sorted(map(sorted_rows, value), key=repr)
    if isinstance(value, dict):
        return {name: sorted_rows(each) for name, each in value.items() if name not in ("made_at_s",)}
    return round(value, 9) if isinstance(value, float) else value


def pairs(ranking: Any) -> Any:
    """Return which processes interact with which file, by their names."""
    names = {(False, actor["id"]): actor["job"] for actor in ranking["actors"]}
    names |= {(True, file["id"]): file["path"] for file in ranking["files"]}
    edges = sorted(
        (*(names[edge[f"{end}_is_file"], edge[end]] for end in ("source", "target")), edge["count"])
        for edge in ranking["edges"]
    )
    ranks = {actor["job"]: round(actor["rank_converged"], 6) for actor in ranking["actors"]}
    return edges, ranks


def in_two_partitions() -> tuple[str, str]:
    first, *others = JOBS
    return first, next(job for job in others if partition_of(job, PARTITIONS) != partition_of(first, PARTITIONS))


@pytest.mark.slow
async def test_ranking_culprits_comparisons_and_live_io_are_over_all_partitions() -> None:
    job, versus = in_two_partitions()
    async with both() as (one, several):
        path = "/api/v1/rank"
        expected, found = (await one.get(path)).json(), (await several.get(path)).json()
        assert {actor["job"] for actor in expected["actors"]} >= {"writer", "reader"}
        assert pairs(found) == pairs(expected)
        for path in (
            f"/api/v1/jobs/{job}/culprits?top=5",
            f"/api/v1/jobs/{job}/culprits?from_s={BEGIN_S + 3}&to_s={BEGIN_S + 9}",
            f"/api/v1/jobs/{job}/dfg?versus={versus}",
            f"/api/v1/jobs/{job}/dfg",
            "/api/v1/live-io?file_system=scratch",
        ):
            answers = [await client.get(path) for client in (one, several)]
            assert [answer.status_code for answer in answers] == [200, 200], path
            assert MISSING_HEADER not in answers[1].headers
            assert sorted_rows(answers[1].json()) == sorted_rows(answers[0].json()), path
        assert (await several.get(f"/api/v1/jobs/{job}/culprits")).json()["culprits"]
        assert (await several.get("/api/v1/jobs/none/culprits")).status_code == 404
        assert (await several.get(f"/api/v1/jobs/{job}/dfg?versus=none")).status_code == 404
        refused = await several.get(f"/jobs/{job}/dfg?versus={versus}")
        assert (refused.status_code, "different partitions" in refused.json()["error"]) == (501, True)


@pytest.mark.slow
async def test_members_refuse_the_queries_that_an_aggregator_refuses() -> None:
    """Each parameter of the API with values in and out of its bounds, twice, and misspelt."""
    job, versus = in_two_partitions()
    wrong = ("x", "", "-1", "0", "nan", "1e308", "10001", versus)
    async with both() as (one, several):
        refused = 0
        for path, operations in (await one.get("/api/v1/openapi.json")).json()["paths"].items():
            if not path.startswith("/api/") or "get" not in operations:
                continue
            address = path.replace("{job}", job)
            all_of = operations["get"].get("parameters", [])
            asked = {each["name"]: each["required"] for each in all_of if each["in"] == "query"}
            needed = [(name, "scratch") for name, is_required in asked.items() if is_required]
            queries = [[*needed, ("lastt", "1")], [*needed, ("job", job)]]
            for name in asked:
                others = [pair for pair in needed if pair[0] != name]
                queries += [[*others, (name, value)] for value in wrong] + [[*others, (name, "1"), (name, "1")]]
            for query in queries:
                answers = [await client.get(address, params=query) for client in (one, several)]
                assert answers[0].status_code == answers[1].status_code, (path, query)
                refused += answers[0].status_code == 422
                assert answers[0].status_code != 422 or answers[0].json() == answers[1].json(), (path, query)
        assert refused > 100


@pytest.mark.slow
async def test_partitions_that_do_not_answer_are_named() -> None:
    job, versus = in_two_partitions()
    away = partition_of(versus, PARTITIONS)
    async with both(away=away) as (_, several):
        for path in ("/api/v1/rank", f"/api/v1/jobs/{job}/culprits", "/api/v1/live-io?file_system=scratch"):
            answer = await several.get(path)
            assert (answer.status_code, answer.headers[MISSING_HEADER]) == (200, str(away)), path
        assert (await several.get(f"/api/v1/jobs/{job}/dfg?versus={versus}")).status_code == 503


@pytest.mark.slow
async def test_users_of_a_cluster_see_their_own_jobs_if_configured(tmp_path: Path) -> None:
    listed = Listed(tmp_path)
    alice, operator = listed.token("alice", "read", user="alice"), listed.token("operator", "operate")
    hers = {job for job, user in JOBS.items() if user == "alice"}
    async with both(principals=str(listed.path), visibility="own") as (_, several):
        for headers, seen in ((alice, hers), (operator, set(JOBS))):
            rows = (await several.get("/api/v1/jobs", headers=headers)).json()["jobs"]
            assert {row["job"] for row in rows} == seen
            page = (await several.get("/api/v1/fleet", headers=headers)).json()
            assert ({row["job"] for row in page["jobs"]}, page["total"]) == (seen, len(seen))
            ranking = (await several.get("/api/v1/rank", headers=headers)).json()
            assert {actor["job"] for actor in ranking["actors"]} == seen
            for job in JOBS:
                status = (await several.get(f"/api/v1/jobs/{job}", headers=headers)).status_code
                assert (status == 200) == (job in seen)
                found = await several.get(f"/api/v1/jobs/{job}/culprits", headers=headers)
                assert (found.status_code == 200) == (job in seen)
                if job in seen:
                    assert {each["job"] for each in found.json()["culprits"]} <= seen
        assert (await several.get("/api/v1/live-io?file_system=scratch", headers=alice)).status_code == 403
        assert (await several.get("/api/v1/rank")).status_code == 401
        assert (await several.put("/api/v1/pacing", headers=alice, json={})).status_code == 403


@pytest.mark.parametrize(
    "path", ["/internal/rank", "/internal/culprits?job=writer", "/internal/dfg?job=writer&versus=b"]
)
@pytest.mark.slow
async def test_damaged_questions_of_a_member_are_refused(path: str) -> None:
    owner = partition_of("writer", PARTITIONS)
    async with both() as (_, several):
        answer = await several.post(f"/partitions/{owner}{path}", content=b"nonsense", headers=MEMBER)
        assert answer.status_code == 422, answer.text


@pytest.mark.slow
async def test_member_answers_questions_of_another_one_and_no_other_post(tmp_path: Path) -> None:
    """A member asks with the rights of a user. It also sends paths that look like its questions."""
    alice = Listed(tmp_path).token("alice", "read", user="alice")
    hers = {job for job, user in JOBS.items() if user == "alice"}
    owner = partition_of("writer", PARTITIONS)
    async with both(principals=str(tmp_path / "principals.toml"), visibility="own") as (_, several):

        async def asked(path: str, content: bytes) -> httpx.Response:
            return await several.post(path, content=content, headers=alice | MEMBER)

        rows = await several.get(f"/partitions/{owner}/internal/jobs", headers=alice | MEMBER)
        assert rows.status_code == 200
        ranking = await asked(f"/partitions/{owner}/internal/rank", rows.content)
        assert ranking.status_code == 200
        assert {actor["job"] for actor in ranking.json()["actors"]} <= hers
        for job, user in JOBS.items():
            number = partition_of(job, PARTITIONS)
            culprits = await asked(f"/partitions/{number}/internal/culprits?job={job}", rows.content)
            assert culprits.status_code == (200 if user == "alice" else 404), job
        assert (await asked(f"/partitions/{PARTITIONS}/internal/rank", rows.content)).status_code == 404
        for path in (
            "/api/v1/jobs/internal/rank",
            f"/api/v1/jobs/partitions/{owner}/internal/rank",
            "/jobs/x/internal/dfg",
            "/x/internal/culprits",
            f"/partitions/{owner}/internal/rank/x",
            f"/partitions/{owner}/internal/jobs",
            f"/partitions/{owner}/internal/rank%0A",
            f"/partitions/x{owner}/internal/rank",
            f"/partitions/{owner}/api/v1/pacing",
        ):
            assert (await asked(path, rows.content)).status_code == 403, path


@pytest.mark.slow
async def test_graph_that_cannot_be_compared_is_no_failure_of_the_job() -> None:
    owner = partition_of("writer", PARTITIONS)
    async with both() as (_, several):
        graph = (await several.get("/api/v1/jobs/writer/dfg")).json()
        question = f"/partitions/{owner}/internal/dfg?job=writer&versus=x"
        answer = await several.post(question, json=graph | {"mapping": "another"}, headers=MEMBER)
        assert answer.status_code == 422, answer.text
        assert (await several.post(question, json=graph, headers=MEMBER)).json()["distance"] == 0
        assert (await several.get("/api/v1/jobs/writer")).json()["failures"] == []


@pytest.mark.slow
async def test_internal_paths_are_closed_to_users(tmp_path: Path) -> None:
    """A reader has no token of a member, and cannot borrow that of the member that forwards the request."""
    alice = Listed(tmp_path).token("alice", "read", user="alice")
    async with both(principals=str(tmp_path / "principals.toml"), visibility="own") as (_, several):
        assert (await several.get("/api/v1/rank", headers=alice)).status_code == 200
        for number in range(PARTITIONS):
            for path in (
                *("internal/jobs", "internal/rank", "x/../internal/jobs", "%69nternal/jobs", "/internal/jobs"),
                *("int%09ernal/../internal/jobs", "internal%0a/../internal/jobs", "%0dinternal/x/../jobs"),
            ):
                for before in (f"/partitions/{number}/", "/", "/api/v1/jobs/x/../../../../"):
                    for given in ({}, {"x-iotide-member": "wrong"}, {"x-iotide-member": ""}):
                        request = several.build_request("GET", "/", headers=alice | given)
                        request.url = request.url.copy_with(raw_path=(before + path).encode())
                        answer = await several.send(request)
                        assert answer.status_code in (403, 404), (before, path)
            question = f"/partitions/{number}/internal/rank"
            assert (await several.post(question, headers=alice, content=bytes(1 << 20))).status_code == 403
