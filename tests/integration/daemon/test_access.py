"""Access to an aggregator, and the visible data: real sockets, keys, certificates and users."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import ssl
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
import zmq
import zmq.asyncio
from iotide.cli.serve_loop import serve_ftio
from iotide.clients.job_fetch import TOKEN_FILE, fetch, fetch_for_all_jobs
from iotide.clients.subscriber import AsyncJobSubscriber, AsyncSubscriber
from iotide.daemon.access.access import REFUSED
from iotide.daemon.ingest.ingest import Ingest
from iotide.daemon.publish.pubsub import Publisher
from iotide.daemon.server import Server
from iotide.daemon.settings import AggregatorSettings
from iotide.events import BatchJob, ConfigError, InputError, StreamInfo
from iotide.events.network.curve import make_keys, read_pair
from iotide.events.network.vouchers import Voucher, read_voucher
from iotide.events.network.wire import Hello, encode
from iotide.results.base import Model
from iotide.results.contention import Contention
from iotide.results.jobs.job import JobList
from iotide.results.layers import Layers
from msgspec import msgpack
from support.servers.principals import Listed, certificate, client_keys, collector_keys
from support.servers.running_aggregator import Fed, feeding, serving
from support.servers.sinks import RememberingSink
from support.system.waiting import DEADLINE_S

JOB = "/api/v1/jobs/{job}"
FTIO_MESSAGE = {"b": [100.0], "ts": [1.0], "te": [2.0]}


async def until(condition: Callable[[], object], what: str = "the condition") -> None:
    async with asyncio.timeout(DEADLINE_S):
        while not condition():
            await asyncio.sleep(0.01)


def fed(stream: str, job: str, **facts: object) -> Fed:
    source = Fed()
    source.open(stream, job, **facts)
    source.periodic(stream)
    return source


def has_events(server: Server, job: str) -> bool:
    session = server.aggregator.jobs.get(job)
    return session is not None and session.totals.events > 0


@pytest.fixture
def listed(tmp_path: Path) -> Listed:
    return Listed(tmp_path)


async def test_collector_with_a_listed_key_ships_and_others_do_not(listed: Listed) -> None:
    known, reader = listed.key("node", "collect"), listed.key("reader", "read")
    async with serving(access=listed.settings()) as server:
        counters = server.aggregator.counters
        async with (
            feeding(server, fed("a", "known"), **collector_keys(known)) as shipped,
            feeding(server, fed("b", "unknown"), **collector_keys(listed.stranger())),
            feeding(server, fed("c", "forbidden"), **collector_keys(reader)),
            feeding(server, fed("d", "plain")),
        ):
            await until(lambda: has_events(server, "known"))
            await until(lambda: counters[f"{REFUSED}ingest"] >= 2)
            await until(lambda: shipped.silence_s is not None)
            assert set(server.aggregator.jobs) == {"known"}


async def test_streams_belong_to_the_user_of_the_key_despite_other_claims(listed: Listed) -> None:
    alice = listed.key("alice", "collect", user="alice")
    async with serving(access=listed.settings()) as server:
        source = fed("a", "4711", user="root")
        async with feeding(server, source, **collector_keys(alice)):
            await until(lambda: has_events(server, "4711"))
            assert server.aggregator.jobs["4711"].user == "alice"
            assert {info.user for info in server.aggregator.jobs["4711"].infos.values()} == {"alice"}


async def test_stream_in_a_job_of_another_user_is_a_job_of_its_own(listed: Listed) -> None:
    alice, bob = (listed.key(name, "collect", user=name) for name in ("alice", "bob"))
    async with (
        serving(access=listed.settings()) as server,
        feeding(server, fed("a", "4711"), **collector_keys(alice)),
    ):
        await until(lambda: has_events(server, "4711"))
        before = server.aggregator.jobs["4711"].totals.events
        liar = fed("b", "4711", user="alice")
        liar.lose("b", {"events_dropped:ring_full": 5})
        async with feeding(server, liar, **collector_keys(bob)):
            await until(lambda: has_events(server, "4711@bob"))
        hers = server.aggregator.jobs["4711"]
        assert (hers.totals.events, hers.losses.total) == (before, {})
        assert server.aggregator.jobs["4711@bob"].user == "bob"
        assert server.aggregator.counters[f"{REFUSED}job_of_another"]


async def test_revoked_key_is_cut_off_while_others_go_on(listed: Listed) -> None:
    kept, gone = listed.key("kept", "collect"), listed.key("gone", "collect")
    async with serving(access=listed.settings()) as server:
        one, other = fed("a", "kept"), fed("b", "gone")
        async with feeding(server, one, **collector_keys(kept)), feeding(server, other, **collector_keys(gone)):
            await until(lambda: has_events(server, "kept") and has_events(server, "gone"))
            listed.revoke("gone")
            await until(
                lambda: server.aggregator.counters[f"{REFUSED}ingest"] > 0, "rejection of the revoked principal"
            )
            before = {job: server.aggregator.jobs[job].totals.events for job in ("kept", "gone")}
            other.periodic("b")
            one.periodic("a")
            await until(lambda: server.aggregator.jobs["kept"].totals.events > before["kept"])
            assert server.aggregator.jobs["gone"].totals.events == before["gone"]


async def test_message_of_a_connection_whose_key_was_revoked_is_refused(listed: Listed) -> None:
    """A message in transit when the list changes belongs to a connection that was accepted."""
    secret, public = listed.key("gone", "collect")
    async with serving(access=listed.settings()) as server:
        context = zmq.asyncio.Context()
        dealer = context.socket(zmq.DEALER)
        dealer.linger = 0
        client_keys((secret, public)).secure(dealer)
        dealer.connect(server.ingest_endpoint)
        await dealer.send_multipart(encode(Hello(collector="c", stream="s", info=StreamInfo(job="j", source="test"))))
        await until(lambda: "j" in server.aggregator.jobs)
        assert server.access.principals is not None
        listed.revoke("gone")
        server.access.principals.reload()
        await dealer.send_multipart(encode(Hello(collector="c", stream="t", info=StreamInfo(job="k", source="test"))))
        async with asyncio.timeout(DEADLINE_S):
            assert b"may not send any more" in (await dealer.recv_multipart())[0]
        assert "k" not in server.aggregator.jobs
        dealer.close()
        context.term()


async def test_aggregator_and_collector_take_another_key_without_a_restart(listed: Listed) -> None:
    keys = listed.key("node", "collect")
    async with serving(access=listed.settings()) as server:
        source = fed("a", "job")
        quick = {"away_after_s": 0.3, "heartbeat_s": 0.1}
        async with feeding(server, source, **collector_keys(keys), **quick):
            await until(lambda: has_events(server, "job"))
            before = server.aggregator.jobs["job"].totals.events
            listed.change()
            source.periodic("a")
            await until(lambda: server.aggregator.jobs["job"].totals.events == 2 * before, "both have the new key")
            assert server.aggregator.jobs["job"].losses.total == {}


async def test_list_that_is_broken_leaves_the_one_before(listed: Listed, caplog: pytest.LogCaptureFixture) -> None:
    keys = listed.key("node", "collect")
    async with serving(access=listed.settings()) as server:
        listed.path.write_text("[[principal]]\nname = 5\n")
        await until(lambda: "the earlier list of principals stays in use" in caplog.text)
        async with feeding(server, fed("a", "job"), **collector_keys(keys)):
            await until(lambda: has_events(server, "job"))


async def test_subscribing_needs_the_permission_to_operate(listed: Listed) -> None:
    node = listed.key("node", "collect")
    operator, alice = listed.key("operator", "operate"), listed.key("alice", "read", user="alice")
    async with serving(access=listed.settings()) as server, feeding(server, fed("a", "job"), **collector_keys(node)):
        assert server.publish_endpoint is not None
        async with AsyncSubscriber(server.publish_endpoint, keys=client_keys(operator), timeout_s=DEADLINE_S) as news:
            assert (await news.receive()).job == "job"
        refused = server.aggregator.counters[f"{REFUSED}publish"]
        async with AsyncJobSubscriber(server.publish_endpoint, keys=client_keys(alice)):
            await until(lambda: server.aggregator.counters[f"{REFUSED}publish"] > refused)


async def test_user_sees_own_jobs_alone_on_every_route(listed: Listed) -> None:
    node = listed.key("node", "collect")
    alice = listed.token("alice", "read", user="alice")
    operator, prometheus = listed.token("operator", "operate"), listed.token("prometheus", "metrics")
    async with serving(access=listed.settings(visibility="own")) as server:
        hers, his = fed("a", "hers", user="alice"), fed("b", "his", user="bob")
        async with feeding(server, hers, his, **collector_keys(node)):
            await until(lambda: has_events(server, "hers") and has_events(server, "his"))
            await until(lambda: server.aggregator.jobs["hers"].prediction is not None)
            await until(lambda: server.aggregator.jobs["his"].prediction is not None)
            async with httpx.AsyncClient(base_url=str(server.http_url), timeout=DEADLINE_S) as http:
                seen = (await http.get("/api/v1/jobs", headers=alice)).json()["jobs"]
                assert [job["job"] for job in seen] == ["hers"]
                assert len((await http.get("/api/v1/jobs", headers=operator)).json()["jobs"]) == 2
                fleet = (await http.get("/api/v1/fleet", headers=alice)).json()
                assert ([job["job"] for job in fleet["jobs"]], fleet["total"], fleet["alerts"]) == (["hers"], 1, None)
                assert (await http.get("/api/v1/fleet?search=his", headers=alice)).json()["matching"] == 0
                assert (await http.get("/api/v1/fleet", headers=operator)).json()["total"] == 2
                paths = (await http.get("/api/v1/openapi.json", headers=operator)).json()["paths"]
                routes = [path.removeprefix(JOB) for path in paths if path.startswith(JOB)]
                assert len(routes) > 8
                for route in routes:
                    own = await http.get(f"/api/v1/jobs/hers{route}", headers=alice)
                    assert own.status_code == 200 or (route == "/limit" and "no job" not in own.text), route
                    hidden = await http.get(f"/api/v1/jobs/his{route}", headers=alice)
                    missing = await http.get(f"/api/v1/jobs/none{route}", headers=alice)
                    assert (hidden.status_code, hidden.text) == (404, missing.text.replace("none", "his")), route
                    shown = await http.get(f"/api/v1/jobs/his{route}", headers=operator)
                    assert shown.status_code == own.status_code, route
                compared = await http.get("/api/v1/jobs/hers/dfg?versus=his", headers=alice)
                assert compared.status_code == 404
                assert "his" not in (await http.get("/api/v1/rank", headers=alice)).text
                assert "his" not in (await http.get("/api/v1/jobs/hers/culprits", headers=alice)).text
                for route in ("contention", "filesystems", "alerts", "status", "live-io?file_system=x"):
                    assert (await http.get(f"/api/v1/{route}", headers=alice)).status_code == 403
                assert (await http.get("/metrics", headers=alice)).status_code == 403
                assert 'job_id="his"' in (await http.get("/metrics", headers=prometheus)).text
                assert (await http.get("/api/v1/jobs", headers=prometheus)).status_code == 403
                for path in ("/rules.yml", "/runbooks", "/runbooks.md"):  # allowed, but this server has no pages
                    assert (await http.get(path, headers=prometheus)).status_code == 404


async def test_members_of_a_project_see_the_jobs_that_nodes_vouch_for(listed: Listed, tmp_path: Path) -> None:
    """mallory states the account, alice's name and alice's stolen voucher, in a job of her own and in alice's."""
    alice, mallory = (listed.key(name, "collect", user=name) for name in ("alice", "mallory"))
    tokens = {name: listed.token(f"{name}-web", "read", user=name) for name in ("alice", "bob", "mallory")}
    members, key = tmp_path / "projects.toml", make_keys(tmp_path, "vouching")[1]
    members.write_text('[sea]\nusers = ["alice", "bob"]\n')
    voucher = Voucher("4711", "alice", "sea").text(read_pair(key).secret)
    access = listed.settings(visibility="project", projects=members, vouching=key)
    claims = {"user": "alice", "batch": BatchJob(account="sea")}

    async def seen(server: Server) -> dict[str, list[str]]:
        async with httpx.AsyncClient(base_url=str(server.http_url), timeout=DEADLINE_S) as http:
            found = {}
            for name, token in tokens.items():
                fleet = (await http.get("/api/v1/fleet", headers=token)).json()["jobs"]
                jobs = (await http.get("/api/v1/jobs", headers=token)).json()["jobs"]
                found[name] = sorted(job["job"] for job in jobs)
                assert sorted(job["job"] for job in fleet) == found[name]
            for job, status in (("4711", 200), ("private", 404), ("5000", 404), ("none", 404)):
                for route in ("", "/dfg", "/layers", "/culprits"):
                    asked = f"/api/v1/jobs/{job}{route}"
                    assert (await http.get(asked, headers=tokens["bob"])).status_code == status, asked
            return found

    expected = {"alice": ["4711", "private"], "bob": ["4711"], "mallory": ["4711@mallory", "5000"]}
    async with serving(access=access, state=tmp_path / "state") as server:
        hers = fed("a", "4711", user="alice"), fed("b", "private", **claims)
        false = fed("c", "5000", **claims), fed("d", "4711", **claims)
        async with (
            feeding(server, *hers, voucher=voucher, **collector_keys(alice)),
            feeding(server, false[0], voucher=voucher, **collector_keys(mallory)),
        ):
            await until(lambda: all(has_events(server, job) for job in ("4711", "private", "5000")))
            async with feeding(server, false[1], voucher=voucher, **collector_keys(mallory)):
                await until(lambda: has_events(server, "4711@mallory"))
                assert await seen(server) == expected
                assert server.aggregator.jobs.projects == {"4711": "sea"}
    async with serving(access=access, state=tmp_path / "state") as server:
        assert await seen(server) == expected  # also of jobs that nobody has looked at since


async def test_only_operators_may_publish_a_plan(listed: Listed) -> None:
    alice, operator = listed.token("alice", "read", user="alice"), listed.token("operator", "operate")
    plan = {"file_system": "scratch", "policy": "fcfs", "capacity_bytes_per_s": 1e9, "jobs": []}
    async with serving(access=listed.settings()) as server, httpx.AsyncClient(base_url=str(server.http_url)) as http:
        for headers, status in ((alice, 403), ({}, 401), (operator, 204)):
            assert (await http.put("/api/v1/pacing", json=plan, headers=headers)).status_code == status
            deleted = await http.delete("/api/v1/pacing?file_system=scratch", headers=headers)
            assert deleted.status_code == status


async def test_page_that_was_drawn_for_an_operator_is_not_shown_to_others(listed: Listed) -> None:
    from iotide.clients.pages.live_pages import LivePages

    node, alice = listed.key("node", "collect"), listed.token("alice", "read", user="alice")
    operator = listed.token("operator", "operate")
    async with serving(pages=LivePages(), access=listed.settings(visibility="own")) as server:
        hers, his = fed("a", "hers", user="alice"), fed("b", "his", user="bob")
        async with feeding(server, hers, his, **collector_keys(node)):
            await until(lambda: has_events(server, "hers") and has_events(server, "his"))
            async with httpx.AsyncClient(base_url=str(server.http_url), timeout=DEADLINE_S) as http:
                for path in ("/jobs/his/dfg", "/jobs/his/layers", "/jobs/hers/dfg?versus=his", "/jobs/his"):
                    assert (await http.get(path, headers=operator)).status_code == 200
                    assert (await http.get(path, headers=alice)).status_code == 404
                for path in ("/jobs/hers/dfg", "/jobs/hers", "/", "/filesystems", "/assets/fleet.js"):
                    assert (await http.get(path, headers=alice)).status_code == 200
                    assert (await http.get(path)).status_code == 401


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "Bearer",
        "Bearer wrong",
        "Basic",
        "Basic !!",
        "Basic YWxpY2U6d3Jvbmc=",
        "Digest x",
        "Bearer " + "x" * 2000,
    ],
)
async def test_request_without_a_listed_token_gets_a_challenge(listed: Listed, header: str | None) -> None:
    listed.token("alice", "read", user="alice")
    async with serving(access=listed.settings()) as server, httpx.AsyncClient(base_url=str(server.http_url)) as http:
        headers = {} if header is None else {"authorization": header}
        for path in ("/api/v1/jobs", "/metrics", "/api/v1/openapi.json", "/jobs/x/dfg", "/nothing"):
            answer = await http.get(path, headers=headers)
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"].startswith("Basic")
        for path in ("/healthz", "/readyz"):
            assert (await http.get(path, headers=headers)).status_code in (200, 503)


async def test_browser_sends_the_token_as_password(listed: Listed) -> None:
    listed.token("alice", "read", user="alice")
    async with (
        serving(access=listed.settings()) as server,
        httpx.AsyncClient(base_url=str(server.http_url), auth=("any", "token of alice")) as http,
    ):
        assert (await http.get("/api/v1/jobs")).status_code == 200


async def test_https_answers_and_takes_another_certificate(listed: Listed, tmp_path: Path) -> None:
    chain, key = certificate(tmp_path)
    alice = listed.token("alice", "read", user="alice")
    async with serving(access=listed.settings(certificate=chain, certificate_key=key)) as server:
        assert server.http_url is not None
        assert server.http_url.startswith("https://")
        trust = ssl.create_default_context(cafile=str(chain))
        async with httpx.AsyncClient(base_url=server.http_url, verify=trust) as http:
            assert (await http.get("/api/v1/jobs", headers=alice)).status_code == 200
        assert server.http is not None
        (tmp_path / "next").mkdir()
        for new, old in zip(certificate(tmp_path / "next"), (chain, key), strict=True):
            new.replace(old)
        server.http.reload()
        trust = ssl.create_default_context(cafile=str(chain))
        async with httpx.AsyncClient(base_url=server.http_url, verify=trust) as http:
            assert (await http.get("/api/v1/jobs", headers=alice)).status_code == 200


async def test_connection_that_speaks_no_tls_costs_itself(listed: Listed, tmp_path: Path) -> None:
    chain, key = certificate(tmp_path)
    access = listed.settings(certificate=chain, certificate_key=key)
    async with serving(access=access, http_limits={"header_timeout_s": 0.2}) as server:
        assert server.http_url is not None
        address = ("127.0.0.1", int(server.http_url.rpartition(":")[2]))
        with socket.create_connection(address) as plain, socket.create_connection(address) as silent:
            plain.sendall(b"GET / HTTP/1.1\r\n\r\n")
            await until(lambda: server.aggregator.counters["http_timeouts"] > 0)
            assert silent
        trust = ssl.create_default_context(cafile=str(chain))
        async with httpx.AsyncClient(base_url=server.http_url, verify=trust) as http:
            assert (await http.get("/healthz")).status_code == 200


@pytest.mark.parametrize("is_own", [False, True])
async def test_unix_socket_is_private_unless_users_see_their_own(tmp_path: Path, is_own: bool) -> None:
    path = tmp_path / "http.sock"
    visibility = "own" if is_own else "all"
    async with serving(http=f"unix:{path}", access={"visibility": visibility}):
        assert path.stat().st_mode & 0o077 == (0o066 if is_own else 0)
        transport = httpx.AsyncHTTPTransport(uds=str(path))
        async with httpx.AsyncClient(transport=transport, base_url="http://iotide") as http:
            assert (await http.get("/metrics")).status_code == 200  # the owner of the daemon may operate it
    assert not path.exists()


async def test_address_that_is_still_taken_is_told_as_what_the_guard_tries_again() -> None:
    """ZeroMQ's own error is no OSError: it would end the checking task, and after ten of them the daemon."""
    context = zmq.asyncio.Context()
    ingest = Ingest(context, "tcp://127.0.0.1:*", RememberingSink())
    ingest.bind()
    publisher = Publisher(zmq.Context(context), "tcp://127.0.0.1:*", allow_remote=False)
    for listener in (ingest, publisher):
        with pytest.raises(OSError, match="in use"):
            listener.listen()  # it has not released its address
        listener.close()
    context.term()


async def test_revoked_key_is_cut_off_over_ipc_too(listed: Listed, tmp_path: Path) -> None:
    kept, gone = listed.key("kept", "collect"), listed.key("gone", "collect")
    async with serving(ingest=f"ipc://{tmp_path}/in", access=listed.settings()) as server:
        one, other = fed("a", "kept"), fed("b", "gone")
        async with feeding(server, one, **collector_keys(kept)), feeding(server, other, **collector_keys(gone)):
            await until(lambda: has_events(server, "kept") and has_events(server, "gone"))
            before = server.aggregator.jobs["kept"].totals.events
            listed.revoke("gone")
            await until(
                lambda: server.aggregator.counters[f"{REFUSED}ingest"] > 0, "rejection of the revoked principal"
            )
            one.periodic("a")
            await until(lambda: server.aggregator.jobs["kept"].totals.events > before)


async def test_tracers_of_ftio_are_taken_where_collectors_need_keys(listed: Listed) -> None:
    """Their collector is in the aggregator's process, and no file contains its key."""
    listed.key("node", "collect")
    options = {"access": listed.settings(), "ftio_listen": "tcp://127.0.0.1:*", "ftio_job": "traced"}
    async with serving(**options) as server:
        settings = AggregatorSettings.model_validate({"ftio_listen": "tcp://127.0.0.1:*", "ftio_job": "traced"})
        async with serve_ftio(server, settings) as endpoint:
            context = zmq.asyncio.Context()
            tracer = context.socket(zmq.PUSH)
            tracer.connect(endpoint)
            await tracer.send(msgpack.encode(FTIO_MESSAGE))
            await until(lambda: "traced" in server.aggregator.jobs, "the job of the tracer")
            tracer.close(0)
            context.term()


async def told(
    url: str, model: type[Model], result: str, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> Model:
    """Send a request as the commands do."""
    for name in (TOKEN_FILE, "SSL_CERT_FILE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    if "/jobs/" in url:
        return await asyncio.to_thread(fetch, url, result, model)
    return await asyncio.to_thread(fetch_for_all_jobs, url, result, model)


async def test_commands_send_their_token_and_use_their_trust_settings(
    listed: Listed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chain, key = certificate(tmp_path)
    node, alice = listed.key("node", "collect"), tmp_path / "token"
    alice.write_text(listed.token("alice", "read", user="alice")["authorization"].removeprefix("Bearer ") + "\n")
    access = listed.settings(certificate=chain, certificate_key=key, visibility="own")
    async with (
        serving(access=access) as server,
        feeding(server, fed("a", "hers", user="alice"), **collector_keys(node)),
    ):
        await until(lambda: has_events(server, "hers"))
        url, trust = str(server.http_url), {"SSL_CERT_FILE": str(chain)}
        both = trust | {TOKEN_FILE: str(alice)}
        found = await told(f"{url}/jobs/hers", Layers, "layers", both, monkeypatch)
        assert isinstance(found, Layers)
        assert len((await told(url, JobList, "jobs", both, monkeypatch)).jobs) == 1  # type: ignore[attr-defined]
        for asked, model, result in ((f"{url}/jobs/hers", Layers, "layers"), (url, JobList, "jobs")):
            with pytest.raises(InputError, match=f"the request has no valid token.*{TOKEN_FILE}"):
                await told(asked, model, result, trust, monkeypatch)
        with pytest.raises(InputError, match=f"jobs of all users.*{TOKEN_FILE}"):
            await told(url, Contention, "contention", both, monkeypatch)
        with pytest.raises(InputError, match=r"certificate is not trusted.*SSL_CERT_FILE"):
            await told(url, JobList, "jobs", {TOKEN_FILE: str(alice)}, monkeypatch)
        with pytest.raises(ConfigError, match="No such file"):
            await told(url, JobList, "jobs", trust | {TOKEN_FILE: str(tmp_path / "none")}, monkeypatch)
        with pytest.raises(ConfigError, match="plain text beyond loopback"):
            await told("http://192.0.2.1:9788", JobList, "jobs", both, monkeypatch)


async def test_commands_ask_over_a_unix_socket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(http=f"unix:{tmp_path}/http.sock") as server, feeding(server, fed("a", "job")):
        await until(lambda: has_events(server, "job"))
        url = str(server.http_url)
        assert isinstance(await told(f"{url}/jobs/job", Layers, "layers", {}, monkeypatch), Layers)
        with pytest.raises(InputError, match=r"no job 'none'.*it has job"):
            await told(f"{url}/jobs/none", Layers, "layers", {}, monkeypatch)
    with pytest.raises(InputError, match="no answer"):
        await told(url, JobList, "jobs", {}, monkeypatch)


async def test_token_is_not_carried_to_where_an_answer_points(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[str] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append((await reader.readuntil(b"\r\n\r\n")).decode())
        port = writer.get_extra_info("sockname")[1]
        writer.write(
            f"HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:{port}/else\r\ncontent-length: 0\r\n\r\n".encode()
        )
        await writer.drain()
        writer.close()

    (tmp_path / "token").write_text("secret")
    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        with pytest.raises(InputError, match="302"):
            await told(url, JobList, "jobs", {TOKEN_FILE: str(tmp_path / "token")}, monkeypatch)
    assert len(heard) == 1
    assert "Bearer secret" in heard[0]


_ASK = """
import http.client, json, socket, sys
def asked(path):
    connection = http.client.HTTPConnection("iotide")
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.connect(sys.argv[1])
    connection.request("GET", path)
    answer = connection.getresponse()
    return answer.status, answer.read().decode()
print(json.dumps([asked(path) for path in sys.argv[2:]]))
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another user")
async def test_another_user_of_the_machine_sees_what_is_of_that_user(tmp_path: Path) -> None:
    path = Path("/tmp") / f"iotide-{os.getpid()}-{tmp_path.name}.sock"  # a folder that the other user may enter
    async with serving(http=f"unix:{path}", access={"visibility": "own"}) as server:
        hers, his = fed("a", "hers", user="root"), fed("b", "his", user="nobody")
        async with feeding(server, hers, his):
            await until(lambda: has_events(server, "hers") and has_events(server, "his"))
            paths = ["/api/v1/jobs", "/api/v1/jobs/hers", "/api/v1/jobs/his", "/metrics", "/api/v1/alerts"]
            asking = await asyncio.create_subprocess_exec(
                "/usr/bin/env", "python3", "-c", _ASK, str(path), *paths,
                stdout=subprocess.PIPE, user="nobody", group="nogroup", extra_groups=[], cwd="/",
                env={"PATH": "/usr/bin:/bin"},
            )  # fmt: skip
            out, _ = await asking.communicate()
            answers = json.loads(out)
            assert [status for status, _ in answers] == [200, 404, 200, 403, 403]
            assert [job["job"] for job in json.loads(answers[0][1])["jobs"]] == ["his"]


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        ({"access": {"key": "none.key_secret"}}, "access.principals"),
        ({"access": {"principals": "none.toml"}}, "none.toml"),
        ({"http": "0.0.0.0:0", "access": {}}, "access.certificate"),
        ({"http": "unix:"}, "a Unix socket's path"),
        ({"http": "unix:/no/such/folder/http.sock"}, "cannot listen"),
        ({"access": {"certificate": "a.pem"}}, "need each other: set both"),
        ({"access": {"certificate": "a.pem", "certificate_key": "b.pem"}}, "access.certificate = a.pem"),
        ({"ingest": "tcp://0.0.0.0:*"}, "access.key"),
        ({"access": {"local_users": True}}, "needs ingest = ipc:///PATH"),
        ({"publish": "tcp://0.0.0.0:*"}, "access.key"),
    ],
)
async def test_settings_that_would_not_do_are_refused(given: dict[str, object], wrong: str) -> None:
    with pytest.raises(ConfigError, match=wrong):
        async with serving(**given):
            pass


async def test_address_beyond_loopback_needs_no_further_permission_with_keys(listed: Listed) -> None:
    node = listed.key("node", "collect")
    options = {"ingest": "tcp://0.0.0.0:*", "publish": "tcp://0.0.0.0:*", "access": listed.settings()}
    async with serving(**options) as server:
        port = server.ingest_endpoint.rpartition(":")[2]
        server.ingest_endpoint = f"tcp://127.0.0.1:{port}"
        async with feeding(server, fed("a", "job"), **collector_keys(node)):
            await until(lambda: has_events(server, "job"))


def test_commands_make_keys_list_them_and_connect(tmp_path: Path) -> None:
    """The whole procedure on the command line, as for a new operator."""
    iotide = [sys.executable, "-m", "iotide"]

    def said(*arguments: str | Path) -> str:
        done = subprocess.run([*iotide, "keys", *arguments], cwd=tmp_path, capture_output=True, text=True, check=True)
        return done.stdout

    said("new", "aggregator")
    said("new", "node")
    said("allow", "list.toml", "--name", "node", "--key", "node.key", "--may", "collect")
    token = said("token", "list.toml", "--name", "me", "--may", "operate").strip()
    assert [each["name"] for each in json.loads(said("list", "list.toml", "--json"))] == ["node", "me"]
    assert token not in (tmp_path / "list.toml").read_text()
    assert (tmp_path / "node.key_secret").stat().st_mode & 0o077 == 0
    voucher = said("vouch", "node.key_secret", "--job", "7", "--user", "ann", "--account", "sea").strip()
    assert read_voucher(voucher, read_pair(tmp_path / "node.key_secret").secret) == Voucher("7", "ann", "sea")
    said("revoke", "list.toml", "me")
    assert [each["name"] for each in json.loads(said("list", "list.toml", "--json"))] == ["node"]
    again = subprocess.run([*iotide, "keys", "new", "node"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (again.returncode, again.stderr) == (
        2,
        "iotide: node.key is there already: remove it first, or choose another name\n",
    )
