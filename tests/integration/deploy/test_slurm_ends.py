"""Unplanned ends of Slurm jobs: a job killed by Slurm, a killed slurmd, a lost node."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from iotide.cli.cluster_demo.processes import program, run_process
from iotide.cli.cluster_demo.small_slurm import Slurm, install_scripts
from iotide.clients.job_fetch import fetch
from iotide.events import InputError
from iotide.results.jobs.job import JobDetail
from support.servers.served_process import Served, served
from support.servers.slurm import slurm
from support.system.waiting import wait_for
from support.tracing.programs import need

WRITE = "head -c 10000 /dev/zero >>out.$SLURM_JOB_ID.$SLURM_PROCID; sleep 0.2"
WRITE_BYTES = 10_000


@dataclass
class Cluster:
    """A Slurm, and the aggregator of its collectors."""

    slurm: Slurm
    server: Served
    folder: Path
    stack: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    def submit(self, folder: Path, script: str, *options: str) -> str:
        (folder / "job.sh").write_text(f"#!/bin/sh\n{script}\n")
        command = [need("sbatch"), "--parsable", "--output=%j.out", "-N2", "--comment=iotide", *options, "job.sh"]
        asked = subprocess.run(
            command, cwd=folder, env=self.slurm.environment, capture_output=True, text=True, check=True
        )
        return asked.stdout.strip()

    def job(self, job: str) -> JobDetail | None:
        with contextlib.suppress(InputError):
            return fetch(f"{self.server.url}/jobs/{job}", "", JobDetail)
        return None

    def on_both_nodes(self, job: str) -> JobDetail | None:
        found = self.job(job)
        return found if found is not None and len(found.hosts) == 2 and found.bytes_written else None

    def over(self, job: str) -> bool:
        return not self.slurm.output_of("squeue", "-h", "-j", job, "-o", "%T").strip()

    def closed(self, job: str) -> JobDetail | None:
        found = self.job(job)
        return found if found is not None and not found.streams else None

    def state(self, job: str) -> str:
        return self.slurm.output_of("scontrol", "show", "job", job).partition("JobState=")[2].split()[0]

    def processes(self, node: str) -> list[int]:
        """Return all processes of a node, which see only its files."""
        place = Path(f"/proc/{self.daemon(node)}/ns/mnt").readlink()
        found = []
        for path in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if (path / "ns/mnt").readlink() == place:
                    found.append(int(path.name))
        return found

    def daemon(self, node: str) -> int:
        return int((self.folder / f"{node}.pid").read_text())

    def restart_daemon(self, node: str) -> None:
        """Kill a node's slurmd, and start another on the node."""
        place = os.open(f"/proc/{self.daemon(node)}/ns/mnt", os.O_RDONLY)
        self.stack.callback(os.close, place)
        os.kill(self.daemon(node), signal.SIGKILL)
        words = [f"--mount=/proc/{os.getpid()}/fd/{place}", program("slurmd"), "-D", "-N", node]
        command = [need("nsenter"), *words, "-f", self.slurm.environment["SLURM_CONF"]]
        self.stack.enter_context(run_process(command, self.folder / f"{node}.again", self.slurm.environment))


@pytest.fixture
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("s")
    with served(tmp_path_factory.mktemp("a")) as server:
        lines = install_scripts(folder, folder / "node", server.endpoint, start_s="60", stop_s="60", ask_s="30")
        with slurm(folder, *lines, "KillWait=2") as running_slurm, contextlib.ExitStack() as stack:
            yield Cluster(running_slurm, server, folder, stack)


def missing(job: JobDetail, folder: Path) -> list[int]:
    """Return the number of unseen bytes of each task's file."""
    seen = {row.path: row.bytes_written for row in job.files}
    files = [folder / f"out.{job.job}.{rank}" for rank in (0, 1)]
    return [path.stat().st_size - seen.get(str(path), 0) for path in files]


@pytest.mark.slow
def test_job_that_slurm_kills_and_a_slurmd_that_is_killed_cost_no_call(cluster: Cluster, tmp_path: Path) -> None:
    """At a time limit Slurm does the same: SIGTERM, which this job ignores, then SIGKILL to all of it."""
    killed = cluster.submit(tmp_path, f"exec srun --overlap sh -c 'trap \"\" TERM; while :; do {WRITE}; done'")
    until = "until test -e go.on; do " + WRITE + "; done; " + WRITE
    kept = cluster.submit(tmp_path, f"exec srun --overlap sh -c '{until}'", "--time=10")
    for job in (killed, kept):
        wait_for(lambda job=job: cluster.on_both_nodes(job), what=f"job {job} on both nodes")
    before = cluster.job(kept)
    assert before is not None
    cluster.restart_daemon("node2")
    wait_for(lambda: (found := cluster.job(kept)) and found.events > before.events, what="calls without slurmd")
    cluster.slurm.output_of("scancel", killed)
    wait_for(lambda: cluster.over(killed), what="the end by Slurm")
    assert cluster.state(killed) == "CANCELLED"
    (tmp_path / "go.on").touch()
    wait_for(lambda: cluster.over(kept), what="the end of the other job")
    assert cluster.state(kept) == "COMPLETED"
    for job in (killed, kept):
        told = wait_for(lambda job=job: cluster.closed(job), what="the ends of its streams")
        assert told.losses == {}
        assert all(0 <= count <= WRITE_BYTES for count in missing(told, tmp_path))  # the one in which it was killed
    wait_for(lambda: not list(cluster.folder.glob("files.node*/iotide/*")), what="the ends of the collectors")


@pytest.mark.slow
def test_job_at_its_time_limit_is_traced_until_slurm_kills_it(cluster: Cluster, tmp_path: Path) -> None:
    """The smallest limit is a minute, so its end is moved. The controller compares every 30 s, and may kill late."""
    write = WRITE.replace("sleep 0.2", "sleep 1")
    job = cluster.submit(tmp_path, f"exec srun --overlap sh -c 'trap \"\" TERM; while :; do {write}; done'", "--time=1")
    seen = wait_for(lambda: cluster.on_both_nodes(job), what="calls of both nodes")
    assert seen.batch is not None
    assert seen.batch.started_at_s is not None
    assert seen.batch.limit_s == 60
    assert seen.ends_at_s == seen.batch.started_at_s + 60
    cluster.slurm.output_of("scontrol", "update", f"jobid={job}", "EndTime=now+1")
    wait_for(lambda: cluster.over(job), what="the end that Slurm makes")
    assert cluster.state(job) == "TIMEOUT"
    told = wait_for(lambda: (found := cluster.closed(job)) and found.state == "ended" and found, what="its state")
    assert told.losses == {}
    assert told.complete
    assert all(0 <= count <= WRITE_BYTES for count in missing(told, tmp_path))
    wait_for(lambda: not list(cluster.folder.glob("files.node*/iotide/*")), what="the ends of the collectors")


@pytest.mark.slow
def test_node_that_is_gone_is_told_and_the_other_is_seen_on(cluster: Cluster, tmp_path: Path) -> None:
    job = cluster.submit(tmp_path, f"srun sh -c 'while :; do {WRITE}; done'", "--no-requeue", "--time=10")
    wait_for(lambda: cluster.on_both_nodes(job), what="calls of both nodes")
    for pid in cluster.processes("node2"):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    lossy = wait_for(
        lambda: found if (found := cluster.job(job)) is not None and found.losses else None,
        what="streams without a collector",
    )
    assert "streams_silent" in lossy.losses
    assert not lossy.complete
    cluster.slurm.output_of("scontrol", "update", "nodename=node2", "state=down", "reason=gone")
    wait_for(lambda: cluster.over(job), what="the end of the job")
    assert cluster.state(job) == "NODE_FAIL"
    told = cluster.job(job)
    assert told is not None
    assert 0 <= missing(told, tmp_path)[0] <= 2 * WRITE_BYTES
