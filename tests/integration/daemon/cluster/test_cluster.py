"""Real processes: members of a cluster distribute the jobs, redirect to their owners, and survive the loss of one."""

from __future__ import annotations

import json
import os
import signal
from contextlib import ExitStack
from pathlib import Path

import pytest
from support.servers.clusters import (
    bytes_written_of,
    children,
    jobs_in_all_partitions,
    json_of,
    kill_machine,
    members_of,
    served_partitions,
    stop_member,
    unserved_partitions,
    writers,
)
from support.servers.nats_servers import nats_servers
from support.system.commands import iotide
from support.system.waiting import wait_for

PARTITIONS = 3


@pytest.mark.slow
def test_jobs_of_all_partitions_go_on_when_a_member_is_lost_and_another_one_joins(tmp_path: Path) -> None:
    jobs = jobs_in_all_partitions(PARTITIONS)
    with ExitStack() as stack:
        servers = stack.enter_context(nats_servers(tmp_path / "nats"))
        first, second = members = members_of(tmp_path, servers, "ab", PARTITIONS)
        for each in members:
            stack.callback(stop_member, each)
        first.start()
        wait_for(lambda: not unserved_partitions(first.url), what="all partitions at one member")
        second.start()
        wait_for(
            lambda: sorted(map(len, served_partitions(second.url).values())) == [1, 2],
            what="the partitions at two members",
        )
        programs = stack.enter_context(writers(tmp_path, [each.endpoint for each in members], jobs))
        for number, program in enumerate(programs):
            program.write_line(f"{1000 + number}")
        for url in (first.url, second.url):  # any member forwards to any job
            for number, job in enumerate(jobs):
                wait_for(lambda: bytes_written_of(url, job) == 1000 * (1000 + number), what=f"{job} at {url}")  # noqa: B023
            assert sorted(job["job"] for job in json_of(url, "/api/v1/jobs")["jobs"]) == sorted(jobs)
        told = iotide("doctor", "--journal", tmp_path / "serve.toml", "--json", cwd=tmp_path)
        checks = {each["name"]: each for each in json.loads(told.stdout)["checks"]}
        assert told.returncode == 0, checks
        assert all(checks[f"partition {number}"]["works"] for number in range(PARTITIONS))
        assert checks["members"]["detail"].count("http://") == 2
        kill_machine(second)
        for program in programs:
            program.write_line("500")
        for number, job in enumerate(jobs):
            expected = 1000 * (1500 + number)
            wait_for(lambda: bytes_written_of(first.url, job) == expected, what=f"{job} at the first member")  # noqa: B023
        assert not unserved_partitions(first.url)


@pytest.mark.slow
def test_partition_whose_process_crashed_does_not_wait_for_the_end_of_its_lease(tmp_path: Path) -> None:
    with nats_servers(tmp_path / "nats") as servers, ExitStack() as stack:
        (member,) = members_of(tmp_path, servers, "a", 1)
        stack.callback(stop_member, member)
        member.start()
        wait_for(lambda: not unserved_partitions(member.url), what="the partition")
        (process,) = children(member.pid)
        os.kill(process, signal.SIGKILL)
        member.wait_for_line("the lease of its crashed process was released")
        wait_for(lambda: children(member.pid) not in ([], [process]), what="the next process")
        wait_for(lambda: not unserved_partitions(member.url), what="the partition again")
