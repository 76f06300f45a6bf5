"""After any failures in a cluster, each job has all of its calls, each counted once; a seed determines the failures.

``IOTIDE_CLUSTER_SEED=N pytest tests/faults`` repeats one seed; ``IOTIDE_CLUSTER_SCHEDULES=50`` tries more.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError

import pytest
from iotide.collectors.transport.agent import Agent
from support.servers.clusters import children, jobs_in_all_partitions, json_of, members_of, stop_member
from support.servers.nats_servers import NatsServers, nats_servers
from support.servers.running_aggregator import Fed, collecting, until
from support.servers.served_process import Served

PARTITIONS = 2
FAULTS = 3
PERIODS = 2
CALLS = 10 * PERIODS
_LOG_LINES = 40
"""Lines of a member's log in the report of a failure."""


def seeds() -> list[int]:
    if chosen := os.environ.get("IOTIDE_CLUSTER_SEED"):
        return [int(chosen)]
    return list(range(int(os.environ.get("IOTIDE_CLUSTER_SCHEDULES", "1"))))


class Schedule:
    """Two members at a NATS server, and jobs in all partitions that continue during failures."""

    def __init__(self, folder: Path, servers: NatsServers, seed: int, stack: ExitStack) -> None:
        self.random, self._servers = random.Random(seed), servers
        self.members = members_of(folder, servers, "ab", PARTITIONS, "[contention]\ninterval_s = 0.5\n")
        for each in self.members:
            stack.callback(stop_member, each)
            each.start()
        self.jobs = jobs_in_all_partitions(PARTITIONS)
        self.source = Fed()
        self.agent: Agent | None = None
        self.made = 0
        self._log: list[str] = []
        self._begin_s = time.time() - 600.0
        for job in self.jobs:
            self.source.open(job, job, host="n1")

    @property
    def endpoints(self) -> list[str]:
        return [each.endpoint for each in self.members]

    def feed(self) -> None:
        """Let each job make some calls."""
        self.made += CALLS
        for job in self.jobs:
            self.source.periodic(job, periods=PERIODS, until_s=self._begin_s + self.made)

    def cluster(self, member: Served) -> Any:
        with suppress(HTTPError, URLError, TimeoutError, OSError):
            return json_of(member.url, "/api/v1/cluster")
        return {"unserved": [-1], "members": {}}

    def is_whole(self) -> bool:
        """Return whether both members serve, and each knows the other."""
        for member in self.members:
            found = self.cluster(member)
            served = [len(each["serves"]) for each in found["members"].values()]
            if found["unserved"] or sorted(served) != [1, 1]:
                return False
        return True

    def has_all(self) -> bool:
        """Return whether each member reports all calls of each job."""
        for member in self.members:
            for job in self.jobs:
                try:
                    found = json_of(member.url, f"/api/v1/jobs/{job}")
                except (HTTPError, URLError, TimeoutError, OSError):
                    return False
                assert found["events"] <= self.made, f"{job} has calls twice"
                if found["events"] != self.made:
                    return False
        return True

    async def wait(self, condition: Callable[[], object]) -> None:
        """Wait for a condition; on timeout fail with the state that each member reports."""
        begun_s = time.monotonic()

        def holds() -> bool:
            for member in self.members:
                member.output()
            return bool(condition())

        try:
            await until(holds)
        except TimeoutError:
            raise AssertionError(self._report(getattr(condition, "__name__", "the condition"))) from None
        self._log.append(f"{getattr(condition, '__name__', 'condition')} after {time.monotonic() - begun_s:.1f} s")

    def _report(self, what: str) -> str:
        lines = [f"timeout waiting for {what} of {self.made} calls per job", *self._log]
        if self.agent is not None:
            counters = dict(self.agent.counters())
            lines.append(f"collector: {self.agent.unacknowledged} unacknowledged, {self.agent.silence_s} s silent")
            lines.append(f"collector: {counters}")
        for member in self.members:
            lines.append(f"member {member.endpoint}: {self.cluster(member)}")
            lines += [f"  {job}: {self._answer(member, job)}" for job in self.jobs]
            lines += [f"  | {line.rstrip()}" for line in member.output()[-_LOG_LINES:]]
        return "\n".join(lines)

    def _answer(self, member: Served, job: str) -> str:
        try:
            found = json_of(member.url, f"/api/v1/jobs/{job}")
        except HTTPError as error:
            return f"{error.code} {error.read().decode(errors='replace')}"
        except OSError as error:
            return repr(error)
        return f"{found['events']} calls, losses {found['losses']}"

    # ---- failures ----

    def kill_member(self) -> None:
        member = self.random.choice(self.members)
        stop_member(member)  # as if its machine was lost
        self.feed()
        member.start()

    def end_member(self) -> None:
        member = self.random.choice(self.members)
        member.end(signal.SIGTERM)
        self.feed()
        member.start()

    def kill_server(self) -> None:
        self._servers.kill()
        self.feed()
        self._servers.start()

    def kill_owner(self) -> None:
        os.kill(self._owner()[1], signal.SIGKILL)
        self.feed()

    async def stop_owner(self) -> None:
        """Stall an owner until another one has its partition; it then notices this."""
        number, process, member = self._owner()
        (other,) = (each for each in self.members if each is not member)
        os.kill(process, signal.SIGSTOP)
        try:
            self.feed()

            def taken_over() -> bool:
                about = self.cluster(other)["members"].values()
                return any(each["http"] == other.url and number in each["serves"] for each in about)

            await self.wait(taken_over)
            await self.wait(self.has_all)
        finally:
            with suppress(ProcessLookupError):  # its member has killed it
                os.kill(process, signal.SIGCONT)

    def _owner(self) -> tuple[int, int, Served]:
        """Return a partition with its process and its member."""
        number = self.random.randrange(PARTITIONS)
        for member in self.members:
            about = self.cluster(member)["members"].values()
            if any(each["http"] == member.url and number in each["serves"] for each in about):
                for process in children(member.pid):
                    if f"partition-{number}/".encode() in Path(f"/proc/{process}/cmdline").read_bytes():
                        return number, process, member
        raise AssertionError(f"no member serves partition {number}")

    async def fail(self) -> None:
        """Cause a failure while calls are in transit, and wait for the full recovery."""
        kinds = [self.kill_member, self.end_member, self.kill_server, self.kill_owner, self.stop_owner]
        self.feed()
        failure = self.random.choice(kinds)
        self._log.append(failure.__name__)
        waiting = failure()
        if waiting is not None:
            await waiting
        await self.wait(self.has_all)
        await self.wait(self.is_whole)


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds())
async def test_faults_of_a_cluster_are_seen_in_no_job(tmp_path: Path, seed: int) -> None:
    with ExitStack() as stack:
        servers = stack.enter_context(nats_servers(tmp_path / "nats"))
        schedule = Schedule(tmp_path, servers, seed, stack)
        await schedule.wait(schedule.is_whole)
        first, *others = schedule.endpoints
        async with collecting(first, [schedule.source], heartbeat_s=0.2, others=tuple(others)) as agent:
            schedule.agent = agent
            for _ in range(FAULTS):
                await schedule.fail()
            for job in schedule.jobs:
                found = json_of(schedule.members[0].url, f"/api/v1/jobs/{job}")
                assert (found["events"], found["losses"]) == (schedule.made, {})
                assert found["bytes_written"] == schedule.made * 1_000_000
