"""Real processes: in a cluster with keys, listed peers reach all jobs through any member, and others reach none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
import zmq
from iotide.events import StreamInfo
from iotide.events.network.wire import Hello, encode
from support.servers.clusters import (
    bytes_written_of,
    jobs_in_all_partitions,
    json_of,
    kill_machine,
    members_of,
    served_partitions,
    stop_member,
    text_of,
    unserved_partitions,
    writers,
)
from support.servers.nats_servers import nats_servers
from support.servers.principals import Listed, client_keys
from support.servers.served_process import Served
from support.system.commands import IOTIDE, Program, iotide, plain_environment
from support.system.line_process import LineProcess
from support.system.waiting import wait_for

PARTITIONS = 2
ACCESS = """
[access]
key = "{key}"
principals = "{principals}"
"""
GATEWAY = bytes(16)


def refused(text: str, place: str) -> float:
    """Return the number of refused peers at a place, from the text of /metrics."""
    found = re.findall(rf'^iotide_\w*refused_total{{where="{place}"}} (\S+)$', text, re.MULTILINE)
    return sum(map(float, found))


@contextmanager
def connected(kind: int, endpoints: list[str], keys: tuple[Path, Path]) -> Iterator[zmq.Socket[bytes]]:
    with zmq.Context() as context, context.socket(kind) as socket:
        socket.linger = 0
        if kind == zmq.DEALER:
            socket.routing_id = GATEWAY
        client_keys(keys).secure(socket)
        for endpoint in endpoints:
            socket.connect(endpoint)
        if kind == zmq.SUB:
            socket.subscribe(b"")
        yield socket


@pytest.mark.slow
def test_listed_keys_reach_all_jobs_through_any_member_and_others_reach_none(tmp_path: Path) -> None:
    listed = Listed(tmp_path)
    node, alice = listed.key("node", "collect"), listed.key("alice", "collect", user="alice")
    operator, token = listed.key("operator", "operate"), listed.token("operator-web", "operate")
    jobs = jobs_in_all_partitions(PARTITIONS)
    keys = dict(zip(jobs, (node, alice), strict=True))
    access = ACCESS.format(key=listed.secret, principals=listed.path)
    with ExitStack() as stack:
        servers = stack.enter_context(nats_servers(tmp_path / "nats"))
        first, second = members = members_of(tmp_path, servers, "ab", PARTITIONS, access, publish=True)
        for each in members:
            stack.callback(stop_member, each)
        first.start()
        wait_for(lambda: not unserved_partitions(first.url, token), what="all partitions at one member")
        second.start()
        wait_for(
            lambda: sorted(map(len, served_partitions(second.url, token).values())) == [1, 1],
            what="the partitions at both members",
        )
        line = second.wait_for_line(", epoch")  # of the process that serves its partition
        owner = re.findall(r"ingest (\S+),", line)[0]
        programs = stack.enter_context(writers(tmp_path, [each.endpoint for each in (second, first)], jobs, keys))
        stack.enter_context(a_stranger(tmp_path, second, listed))
        for program in programs:
            program.write_line("1000")
        for url in (first.url, second.url):
            for job in jobs:
                wait_for(lambda: bytes_written_of(url, job, token) == 1_000_000, what=f"{job} at {url}")  # noqa: B023
        wait_for(lambda: refused(text_of(second.url, "/metrics", token), "ingest"), what="rejection of the stranger")
        found = {job["job"]: job["user"] for job in json_of(first.url, "/api/v1/jobs", token)["jobs"]}
        assert found.keys() == set(jobs)
        assert found[jobs[1]] == "alice"  # the user of the key, from the member that received it
        collectors_cannot_bypass_gateways(first, owner, node, token)
        endpoints = [each.endpoint.replace("/in", "/out") for each in members]
        with connected(zmq.SUB, endpoints, operator) as subscriber, connected(zmq.SUB, endpoints, node):
            wait_for(lambda: programs[0].write_line("1") or subscriber.poll(200), what="a prediction for an operator")
            for each in members:
                wait_for(lambda: refused(text_of(each.url, "/metrics", token), "publish"), what="the node")  # noqa: B023
        before = bytes_written_of(first.url, jobs[1], token)
        kill_machine(second)
        programs[1].write_line("500")
        wait_for(
            lambda: bytes_written_of(first.url, jobs[1], token) == before + 500_000, what="the job at the other member"
        )
        listed.change()
        before = bytes_written_of(first.url, jobs[0], token)
        programs[0].write_line("500")
        wait_for(lambda: bytes_written_of(first.url, jobs[0], token) == before + 500_000, what="all have the new key")
        listed.revoke("alice")
        wait_for(lambda: refused(text_of(first.url, "/metrics", token), "ingest"), what="rejection of the revoked key")


@contextmanager
def a_stranger(folder: Path, member: Served, listed: Listed) -> Iterator[LineProcess]:
    """Run a traced program whose collector has an unlisted key."""
    secret, server = listed.stranger()
    tracer = folder / "stranger-tracer"
    command = [*IOTIDE, "collect", "--socket", str(tracer), "--connect", member.endpoint, "--job", "strange"]
    command += ["--key", str(secret), "--server-key", str(server)]
    with ExitStack() as stack:
        collector = stack.enter_context(Program[bytes](command, env=plain_environment()))
        stack.callback(collector.kill)  # it would wait for its aggregator
        wait_for(lambda: tracer.exists() or collector.poll() is not None, what="the socket")
        said = iotide("collect", "--socket", tracer, "--job", "strange", "--print-environment", cwd=folder).stdout
        writes = "open('strange', 'wb', buffering=0).write(bytes(1000)); input()"
        yield stack.enter_context(LineProcess(["env", "-C", str(folder), *said.split(), "python3", "-c", writes]))


def collectors_cannot_bypass_gateways(
    member: Served, owner: str, keys: tuple[Path, Path], token: dict[str, str]
) -> None:
    """A listed collector that connects to a partition's process like a gateway is rejected, because it could name any
    user.
    """
    hello = encode(Hello(collector="c", stream="s", info=StreamInfo(job="forged", source="test")))
    with connected(zmq.DEALER, [owner], keys) as socket:
        socket.send_multipart([b"peer", b"root", *hello], zmq.NOBLOCK)

        def is_refused() -> bool:
            paths = (f"/partitions/{number}/metrics" for number in range(PARTITIONS))
            return any(refused(text_of(member.url, path, token), "ingest") for path in paths)

        wait_for(is_refused, what="rejection of the collector by the owner")
    assert "forged" not in {job["job"] for job in json_of(member.url, "/api/v1/jobs", token)["jobs"]}
