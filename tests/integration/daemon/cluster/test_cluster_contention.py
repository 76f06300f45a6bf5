"""Real processes: jobs of different partitions collide on a shared file system, and alerts survive a takeover."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeVar

import httpx
import pytest
from support.servers.clusters import jobs_in_all_partitions, kill_machine, members_of, stop_member
from support.servers.http_receivers import HttpReceiver, http_receiver
from support.servers.nats_servers import nats_servers
from support.servers.running_aggregator import Fed, collecting, until
from support.servers.served_process import Served
from support.system.waiting import DEADLINE_S

T = TypeVar("T")
PARTITIONS = 2
SETTINGS = """
[contention]
interval_s = 0.3
capacity = {{ scratch = 1e7 }}
min_probability = 0.01
alerts = {{ looks = 1, probability = 0.01, min_delay_s = 0.0, quiet_s = 3600.0 }}
[analyzers.filesystems.names]
"/scratch" = "scratch"
[notify]
webhooks = ["{receiver}"]
"""


def told(receiver: HttpReceiver) -> list[tuple[str, list[str]]]:
    """Return the alerts that the receiver got: their states and jobs."""
    alerts = [alert for _, _, body in receiver.requests for alert in json.loads(body)["alerts"]]
    return [(alert["status"], sorted(alert["annotations"]["victims"].split(", "))) for alert in alerts]


async def answer(member: Served, path: str) -> Any:
    async with httpx.AsyncClient(base_url=member.url, trust_env=False, timeout=DEADLINE_S) as client:
        found = await client.get(path)
        return found.json() if found.status_code == 200 else None


async def analyzers(member: Served) -> list[int]:
    """Return the partitions whose processes analyze contention now."""
    found = []
    async with httpx.AsyncClient(base_url=member.url, trust_env=False, timeout=DEADLINE_S) as client:
        for number in range(PARTITIONS):
            text = (await client.get(f"/partitions/{number}/metrics")).text
            found += [number] * ("iotide_contention_analyzer 1.0" in text)
    return found


async def delivered(member: Served, number: int, receiver: HttpReceiver) -> bool:
    """Return whether the receiver has accepted all alerts of a partition's process."""
    async with httpx.AsyncClient(base_url=member.url, trust_env=False, timeout=DEADLINE_S) as client:
        text = (await client.get(f"/partitions/{number}/metrics")).text
    return f'iotide_notifications_waiting{{receiver="{receiver.url}"}} 0.0' in text


async def looked(member: Served, after_s: float) -> bool:
    """Return whether contention was analyzed later than some time."""
    return bool((await answer(member, "/api/v1/contention"))["made_at_s"] > after_s)


async def soon(condition: Callable[[], Awaitable[T]]) -> T:
    """Return the first true result of a condition that queries members."""
    async with asyncio.timeout(DEADLINE_S):
        while not (answered := await condition()):
            await asyncio.sleep(0.02)
    return answered


@pytest.mark.slow
async def test_jobs_of_two_partitions_collide_and_the_alert_outlasts_the_analyzer(tmp_path: Path) -> None:
    jobs = jobs_in_all_partitions(PARTITIONS)
    source = Fed()
    with ExitStack() as stack:
        receiver = stack.enter_context(http_receiver())
        servers = stack.enter_context(nats_servers(tmp_path / "nats"))
        settings = SETTINGS.format(receiver=receiver.url)
        first, second = members = members_of(tmp_path, servers, "ab", PARTITIONS, settings)
        for each in members:
            stack.callback(stop_member, each)
            each.start()

        async def shared_out() -> bool:
            found = await answer(first, "/api/v1/cluster")
            return [len(each["serves"]) for each in found["members"].values()] == [1, 1]

        await soon(shared_out)
        async with collecting(f"ipc://{tmp_path}/a/in", [source], heartbeat_s=0.1):
            for job in jobs:
                source.open(job, job, host="n1")
                source.periodic(job)
            await until(lambda: told(receiver))
            assert told(receiver) == [("firing", sorted(jobs))]
            (alert,) = (await answer(first, "/api/v1/alerts"))["raised"]

            async def alike() -> bool:
                for path in ("/api/v1/alerts", "/api/v1/contention", "/api/v1/filesystems"):
                    one, other = await answer(first, path), await answer(second, path)
                    if one != other or one is None:
                        return False
                return True

            await soon(alike)  # except between an analysis and its arrival at the other member
            for member in members:
                assert (await answer(member, "/api/v1/fleet"))["alerts"] == 1

            (number,) = await soon(lambda: analyzers(first))
            await soon(lambda: delivered(first, number, receiver))
            for _ in range(2):  # analyses: the second one has published that the alert was delivered
                made_at_s = (await answer(first, "/api/v1/contention"))["made_at_s"]
                await soon(lambda: looked(first, made_at_s))  # noqa: B023
            served = {member.url: member for member in members}
            about = (await answer(first, "/api/v1/cluster"))["members"].values()
            holder = next(served[each["http"]] for each in about if number in each["serves"])
            other = second if holder is first else first
            kill_machine(holder)

            async def taken_over() -> bool:
                found = await answer(other, "/api/v1/cluster")
                return not found["unserved"] and await analyzers(other) != []

            await soon(taken_over)
            before = (await answer(other, "/api/v1/contention"))["made_at_s"]
            await soon(lambda: looked(other, before))
            after = (await answer(other, "/api/v1/alerts"))["raised"]
            assert [(each["kind"], each["since_s"], each["victims"]) for each in after] == [
                (alert["kind"], alert["since_s"], alert["victims"])
            ]
            assert told(receiver) == [("firing", sorted(jobs))]
