"""Jobs of a real Slurm of two nodes with the prolog, TaskProlog and epilog of deploy/slurm."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
from iotide.cli.cluster_demo.small_slurm import Slurm, install_scripts
from iotide.results.jobs.job import JobDetail
from support.places import PROGRAMS
from support.servers.served_process import Served, served
from support.servers.slurm import slurm
from support.servers.slurm_scripts import install_flag
from support.system.waiting import wait_for
from support.tracing.mpi import build
from support.tracing.programs import need

MELT: Final = f"""
variable cells equal 4
include {PROGRAMS / "melt.lammps"}
dump 1 all atom 10 dump.melt
run 50
"""
PERIODIC: Final = """
import os, time
with open(f"out.{os.environ['SLURM_PROCID']}", "wb", buffering=0) as out:
    while True:
        for _ in range(20):
            out.write(bytes(10_000))
        time.sleep(0.5)
"""
WRITE_BYTES: Final = 10_000
STRIDES: Final = 50
STRIDE_BYTES: Final = 4096
SHORT_JOBS: Final = 16
LOOK: Final = """
echo "= environment"; env | sort
echo "= libraries"; grep -o '/[^ ]*$' /proc/self/maps | sort -u
echo "= descriptors"; for each in /proc/$$/fd/*; do readlink "$each"; done | sort -u
"""
"""Script that prints the job's environment."""


@dataclass(frozen=True)
class Cluster:
    """A Slurm, and the aggregator of its collectors."""

    slurm: Slurm
    server: Served
    folder: Path
    has_flag: bool
    """Whether Slurm's headers are installed, which `sbatch --iotide` needs."""

    def submit(self, script: str, *options: str, folder: Path, **environment: str) -> str:
        """Submit a job; return its id."""
        (folder / "job.sh").write_text(f"#!/bin/sh\n{script}\n")
        command = [need("sbatch"), "--parsable", "--time=10", "--output=%j.out", *options, "job.sh"]
        done = subprocess.run(
            command, cwd=folder, env=self.slurm.environment | environment, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def said(self, *command: str) -> str:
        """Return the output of a Slurm command."""
        program, *arguments = command
        return subprocess.run(
            [need(program), *arguments], env=self.slurm.environment, capture_output=True, text=True, check=False
        ).stdout

    def over(self, job: str) -> bool:
        """Return whether a job has ended and its nodes are released."""
        return not self.said("squeue", "-h", "-j", job, "-o", "%T").strip()

    def asked(self, path: str) -> Any:
        """Return a response of the aggregator, or None if there is none."""
        with contextlib.suppress(urllib.error.HTTPError), urllib.request.urlopen(self.server.url + path) as answer:
            return json.loads(answer.read())
        return None

    def job(self, job: str) -> JobDetail | None:
        """Return the aggregator's report on a job."""
        found = self.asked(f"/api/v1/jobs/{job}?top=1000")
        return None if found is None else JobDetail.model_validate(found)

    def ended(self, job: str) -> JobDetail:
        """Wait until a job and all of its streams have ended; return the final report."""
        wait_for(lambda: self.over(job), what=f"the end of job {job}")

        def closed() -> JobDetail | None:
            found = self.job(job)
            return found if found is not None and not found.streams else None

        if self.job(job) is None and (log := self.log()):
            raise AssertionError(log)
        return wait_for(closed, what=f"the ends of the streams of job {job}")

    def nodes(self) -> str:
        """Return the states of the nodes."""
        return self.said("sinfo", "-h", "-o", "%T")

    def log(self) -> str:
        """Return the errors on the nodes, without those caused by an aggregator on a busy machine."""
        lines = [line for path in self.folder.glob("files.node*/log") for line in path.read_text().splitlines(True)]
        return "".join(line for line in lines if "the aggregator at" not in line)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("s")
    with served(tmp_path_factory.mktemp("a")) as server:
        lines = install_scripts(folder, folder / "node", server.endpoint, start_s="60", stop_s="60", ask_s="30")
        flag = install_flag(folder)
        with slurm(folder, *lines, *flag) as running:
            yield Cluster(running, server, folder, bool(flag))


def written(job: JobDetail, path: Path) -> int:
    return sum(row.bytes_written for row in job.files if row.path == str(path))


def test_lammps_and_mpi_io_on_two_nodes_are_seen_to_the_last_byte(cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "in.melt").write_text(MELT)
    strided = build("openmpi", "mpi_strided.c", tmp_path)
    launcher = f"{need('mpirun.openmpi')} -n 2 --map-by node --mca mpi_yield_when_idle 1"
    script = f"{launcher} {need('lmp')} -in in.melt -log none >said\n{launcher} {strided} {STRIDES} {tmp_path}/data"
    job = cluster.submit(script, "-N2", "--comment=iotide", "-J", "melt and strides", folder=tmp_path)
    told = cluster.ended(job)
    assert "Total wall time" in (tmp_path / "said").read_text(), (tmp_path / f"{job}.out").read_text()
    assert told.batch is not None
    assert (told.batch.name, told.batch.partition, told.batch.limit_s) == ("melt and strides", "all", 600.0)
    assert (told.batch.nodes, told.batch.node_count, told.batch.cluster) == ("node[1-2]", 2, "iotide")
    assert told.batch.started_at_s
    assert (told.hosts, told.user, told.ranks) == (["node1", "node2"], "root", 2)
    assert "slurm_script" not in told.command
    assert written(told, tmp_path / "dump.melt") == (tmp_path / "dump.melt").stat().st_size
    assert written(told, tmp_path / "data") == 2 * STRIDES * STRIDE_BYTES
    assert [written(told, tmp_path / f"data.{rank:04d}") for rank in (0, 1)] == [STRIDES * STRIDE_BYTES] * 2
    metrics = urllib.request.urlopen(f"{cluster.server.url}/metrics").read().decode()
    assert f'iotide_job_info{{account="",job_id="{job}",name="melt and strides",nodes="node[1-2]"' in metrics
    assert cluster.log() == ""


def test_job_that_is_cancelled_was_predicted_and_is_whole(cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "periodic.py").write_text(PERIODIC)
    script = f"exec srun {sys.executable} periodic.py"
    job = cluster.submit(script, "-N2", "--comment=iotide", "-J", "periodic", folder=tmp_path)

    def predicted() -> Any:
        found = cluster.asked(f"/api/v1/jobs/{job}/prediction")
        return found if found is not None and found["period_s"] is not None and found["nodes"] == 2 else None

    prediction = wait_for(predicted, what="a period")
    assert (prediction["name"], prediction["hosts"]) == ("periodic", ["node1", "node2"])
    cluster.said("scancel", job)
    told = cluster.ended(job)
    files = [tmp_path / f"out.{rank}" for rank in (0, 1)]
    missing = [path.stat().st_size - written(told, path) for path in files]
    assert all(0 <= size <= WRITE_BYTES for size in missing)  # the write in which it was killed is not complete
    assert "periodic.py" in told.command
    assert cluster.log() == ""


def test_heterogeneous_job_is_one_job_with_the_bytes_of_all_components(cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "write.sh").write_text('head -c 300000 /dev/zero >"$1.$SLURM_PROCID"\n')
    requests = "#SBATCH -N1 -w node1 --comment=iotide\n#SBATCH hetjob\n#SBATCH -N1 -n2 -w node2 --comment=iotide"
    job = cluster.submit(f"{requests}\nsrun sh write.sh first : sh write.sh second", folder=tmp_path)
    told = cluster.ended(job)
    files = sorted(tmp_path.glob("first.*")) + sorted(tmp_path.glob("second.*"))
    assert [path.name for path in files] == ["first.0", "second.1", "second.2"]
    assert [written(told, path) for path in files] == [300_000] * 3
    assert (told.hosts, told.batch and told.batch.nodes) == (["node1", "node2"], "node1,node2")
    assert cluster.log() == ""


def test_job_that_did_not_ask_is_not_touched(cluster: Cluster, tmp_path: Path) -> None:
    job = cluster.submit("srun env", "-N2", folder=tmp_path)
    wait_for(lambda: cluster.over(job), what="its end")
    variables = (tmp_path / f"{job}.out").read_text()
    assert "SLURM_PROCID=1" in variables
    assert "IOTIDE" not in variables
    assert "LD_PRELOAD" not in variables
    assert cluster.job(job) is None


def seen_by(cluster: Cluster, folder: Path, *options: str) -> str:
    """Return the environment of a job and of its task, without numbers and folders."""
    folder.mkdir()
    (folder / "look.sh").write_text(LOOK)
    job = cluster.submit("sh look.sh; srun sh look.sh", *options, "--output=said", folder=folder)
    wait_for(lambda: cluster.over(job), what="its end")
    said = (folder / "said").read_text().replace(str(folder), "FOLDER")
    return re.sub(r"\b[0-9]{2,}\b|\bjob0*[0-9]+\b|(?<=_ID=)[0-9]+|(?<=JOBID=)[0-9]+", "N", said)


def test_job_that_did_not_ask_has_what_it_has_without_our_scripts(cluster: Cluster, tmp_path: Path) -> None:
    """Environment, libraries and open files."""
    configuration = cluster.folder / "slurm.conf"
    before = configuration.read_text()
    ours = ("Prolog=", "TaskProlog=", "Epilog=")
    without = "\n".join(line for line in before.splitlines() if not line.startswith(ours)) + "\n"
    assert len(without.splitlines()) == len(before.splitlines()) - len(ours)
    seen = seen_by(cluster, tmp_path / "with")
    try:
        configuration.write_text(without)
        cluster.said("scontrol", "reconfigure")
        assert seen == seen_by(cluster, tmp_path / "without")
    finally:
        configuration.write_text(before)
        cluster.said("scontrol", "reconfigure")
    assert "= libraries" in seen
    assert not re.search("IOTIDE|LD_PRELOAD|libiotide|tracer.sock", seen)
    assert "tracer.sock" in seen_by(cluster, tmp_path / "asked", "--comment=iotide")


def test_node_whose_prolog_starts_no_collector_is_a_loss_of_its_job(cluster: Cluster, tmp_path: Path) -> None:
    barred = cluster.folder / "files.node2" / "iotide"
    barred.mkdir(exist_ok=True)
    (tmp_path / "periodic.py").write_text(PERIODIC)
    barred.chmod(0o777)  # so that its prolog rejects it
    job = cluster.submit(f"exec srun {sys.executable} periodic.py", "-N2", "--comment=iotide", folder=tmp_path)
    try:

        def told() -> JobDetail | None:
            found = cluster.job(job)
            return found if found is not None and found.nodes_unseen else None

        found = wait_for(told, what="a loss")
        # The nodes share a machine: node1's collector may also detect untraced programs of node2.
        assert (found.nodes_unseen, found.losses["nodes_unseen"], found.complete) == (["node2"], 1, False)
        wait_for(lambda: cluster.asked(f"/api/v1/jobs/{job}/prediction")["nodes_unseen"] == 1, what="a prediction")
        cluster.said("scancel", job)
        ended = cluster.ended(job)
        assert (ended.hosts, ended.nodes_unseen) == (["node1"], ["node2"])
        assert "writable by other users" in cluster.log()
        wait_for(lambda: "drain" not in cluster.nodes() and "idle" in cluster.nodes(), what="nodes without a job")
    finally:
        cluster.said("scancel", job)
        wait_for(lambda: cluster.over(job), what="its end")
        barred.chmod(0o755)
        for log in cluster.folder.glob("files.node*/log"):
            log.unlink()


def test_short_jobs_in_a_row_lose_nothing(cluster: Cluster, tmp_path: Path) -> None:
    """Eight jobs run concurrently."""
    script = "head -c 1000 /dev/zero >out.$SLURM_JOB_ID"
    jobs = [cluster.submit(script, "--comment=iotide", folder=tmp_path) for _ in range(SHORT_JOBS)]
    for job in jobs:
        told = cluster.ended(job)
        assert (written(told, tmp_path / f"out.{job}"), told.losses) == (1000, {})
    wait_for(lambda: "idle" in cluster.nodes(), what="nodes without a job")
    assert cluster.log() == ""


def test_variable_that_is_set_at_submission_is_as_good_as_the_comment(cluster: Cluster, tmp_path: Path) -> None:
    jobs = [cluster.submit("cat /dev/null >out", folder=tmp_path, IOTIDE=value) for value in ("1", "0")]
    assert cluster.ended(jobs[0]).job == jobs[0]
    wait_for(lambda: cluster.over(jobs[1]), what="its end")
    assert cluster.job(jobs[1]) is None


def test_flag_of_sbatch_is_as_good_as_the_comment(cluster: Cluster, tmp_path: Path) -> None:
    if not cluster.has_flag:
        pytest.skip("Slurm's headers (libslurm-dev) are not installed")
    job = cluster.submit("srun cat /dev/null >out", "-N2", "--iotide", folder=tmp_path)
    assert cluster.ended(job).hosts == ["node1", "node2"]
    assert cluster.log() == ""
