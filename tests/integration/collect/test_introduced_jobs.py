"""The collector of a batch job introduces the job before its first program, and ends at once without calls."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from iotide.collectors.settings import CollectorSettings
from iotide.collectors.transport.agent import Agent
from iotide.daemon.jobs.job_state import State
from iotide.daemon.jobs.job_summary import summary_of
from iotide.events import BatchJob
from support.servers.running_aggregator import Fed, serving, until
from support.system.waiting import DEADLINE_S

MELT = BatchJob(name="melt", nodes="node[1-2]", node_count=2)


def of_job(endpoint: str, **options: object) -> CollectorSettings:
    told = {"endpoint": endpoint, "host": "node1", "user": "u", "batch": MELT, "ends_job": "7", "serves_job": "7"}
    return CollectorSettings.model_validate(told | options)


async def test_job_is_listed_before_its_first_program_and_ends_with_its_collector() -> None:
    async with serving(http=None, linger_s=0.0) as server:
        agent = Agent([], of_job(server.ingest_endpoint, away_after_s=600))
        running = asyncio.create_task(agent.run())
        await until(lambda: "7" in server.aggregator.jobs)
        session = server.aggregator.jobs["7"]
        told = summary_of(session, 0.0)
        assert told.batch is not None
        assert (told.state, told.user, told.batch.name, told.batch.nodes) == ("running", "u", "melt", "node[1-2]")
        assert (told.streams, told.events, told.hosts, told.complete) == (0, 0, [], True)
        running.cancel()
        await asyncio.wait([running])
        assert await agent.drain(DEADLINE_S)
        agent.close()
        await until(lambda: session.state is State.ENDED)


@pytest.mark.parametrize("with_stream", [False, True])
async def test_collector_without_calls_does_not_wait_for_an_aggregator_that_is_away(
    tmp_path: Path, *, with_stream: bool
) -> None:
    source = Fed()
    if with_stream:
        source.open("s", "7")
    agent = Agent([source], of_job(f"ipc://{tmp_path}/nobody", away_after_s=0.01))
    assert await asyncio.wait_for(agent.drain(100 * DEADLINE_S), DEADLINE_S)
    agent.close()
