"""`iotide run` in jobs of a real Slurm of two nodes: it starts a collector on the other node, and reports failures."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from iotide.cli.cluster_demo.small_slurm import Slurm
from iotide.results.jobs.run import RunSummary
from support.servers.slurm import slurm
from support.system.waiting import wait_for
from support.tracing.mpi import build
from support.tracing.programs import need

STRIDES = 50
STRIDE_BYTES = 4096
BLOCKS = 200
BLOCK_BYTES = 1000
WRITER = """
import os, pathlib, sys, time
with open(f"out.{{os.environ['SLURM_PROCID']}}", "wb", buffering=0) as out:
    for _ in range({blocks}):
        out.write(bytes({block}))
    while not pathlib.Path("go on").exists():
        time.sleep(0.05)
    for _ in range({blocks}):
        out.write(bytes({block}))
"""


@dataclass(frozen=True)
class Job:
    """A job that runs `iotide run`."""

    id: str
    folder: Path
    slurm: Slurm

    @property
    def said(self) -> str:
        return (self.folder / f"{self.id}.out").read_text() if (self.folder / f"{self.id}.out").exists() else ""

    @property
    def over(self) -> bool:
        return not self.slurm.output_of("squeue", "-h", "-j", self.id, "-o", "%T").strip()

    def summary(self) -> RunSummary:
        wait_for(lambda: self.over, what=f"the end of job {self.id}")
        assert (self.folder / "report/summary.json").exists(), self.said
        return RunSummary.model_validate_json((self.folder / "report/summary.json").read_text())

    def has_written(self, ranks: int, blocks: int) -> bool:
        files = [self.folder / f"out.{rank}" for rank in range(ranks)]
        return all(path.exists() and path.stat().st_size >= blocks * BLOCK_BYTES for path in files)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    with slurm(tmp_path_factory.mktemp("s")) as running:
        yield running


def submitted(cluster: Slurm, folder: Path, command: str, *options: str, tmpdir: Path | None = None) -> Job:
    script = f"""#!/bin/sh
export TMPDIR={tmpdir or cluster.node_folder}
exec {sys.executable} -m iotide run -o report {command}
"""
    (folder / "job.sh").write_text(script)
    (folder / "writer.py").write_text(WRITER.format(blocks=BLOCKS, block=BLOCK_BYTES))
    asking = [need("sbatch"), "--parsable", "--time=10", "--output=%j.out", *options, "job.sh"]
    done = subprocess.run(asking, cwd=folder, env=cluster.environment, capture_output=True, text=True, check=True)
    return Job(done.stdout.strip(), folder, cluster)


def written(summary: RunSummary, path: Path) -> int:
    return sum(row.bytes_written for row in summary.job.files if row.path == str(path))


def processes(cluster: Slurm, *words: bytes) -> dict[int, int]:
    """Return the parents of this cluster's Python processes whose command contains the given words in sequence."""
    found = {}
    named = b"\0" + b"\0".join(words) + b"\0"
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            is_ours = f"SLURM_CONF={cluster.environment['SLURM_CONF']}".encode() in (path / "environ").read_bytes()
            command = (path / "cmdline").read_bytes()
            if is_ours and named in command and b"python" in command.split(b"\0")[0]:
                found[int(path.name)] = int((path / "stat").read_bytes().rpartition(b")")[2].split()[1])
    return found


def collectors(cluster: Slurm) -> list[int]:
    return list(processes(cluster, b"-m", b"iotide.cli.run.nodes.on_node"))


def left_on_nodes(cluster: Slurm) -> list[str]:
    return [str(path) for path in cluster.node_folder.parent.glob("files.node*/*")]


def test_tasks_of_all_nodes_are_seen_to_the_last_byte(cluster: Slurm, tmp_path: Path) -> None:
    (tmp_path / "go on").touch()
    job = submitted(cluster, tmp_path, f"-- srun {sys.executable} writer.py", "-N2", "-J", "both eyes")
    summary = job.summary()
    assert "collectors listen on node2, too" in job.said
    assert (summary.exit_status, summary.job.losses, summary.unseen) == (0, {}, [])
    assert (summary.job.hosts, summary.job.ranks, summary.job.complete) == (["node1", "node2"], 2, True)
    assert [written(summary, tmp_path / f"out.{rank}") for rank in (0, 1)] == [2 * BLOCKS * BLOCK_BYTES] * 2
    assert summary.job.batch is not None
    assert (summary.job.batch.name, summary.job.batch.node_count) == ("both eyes", 2)
    assert left_on_nodes(cluster) == []


def test_launcher_of_mpi_is_seen_on_all_nodes_likewise(cluster: Slurm, tmp_path: Path) -> None:
    strided = build("openmpi", "mpi_strided.c", tmp_path)
    launcher = f"{need('mpirun.openmpi')} -n 2 --map-by node --allow-run-as-root --mca mpi_yield_when_idle 1"
    job = submitted(cluster, tmp_path, f"-- {launcher} {strided} {STRIDES} {tmp_path}/data", "-N2")
    summary = job.summary()
    assert (summary.exit_status, summary.job.hosts, summary.job.ranks) == (0, ["node1", "node2"], 2), job.said
    assert written(summary, tmp_path / "data") == 2 * STRIDES * STRIDE_BYTES
    assert summary.job.complete


def test_nodes_that_see_one_folder_of_one_machine_share_the_collector(cluster: Slurm, tmp_path: Path) -> None:
    (tmp_path / "go on").touch()
    command = f"-- srun {sys.executable} writer.py"
    summary = submitted(cluster, tmp_path, command, "-N2", tmpdir=tmp_path).summary()
    assert (summary.job.ranks, summary.job.complete) == (2, True)
    assert [written(summary, tmp_path / f"out.{rank}") for rank in (0, 1)] == [2 * BLOCKS * BLOCK_BYTES] * 2


def test_command_that_is_not_there_leaves_no_collector_behind(cluster: Slurm, tmp_path: Path) -> None:
    job = submitted(cluster, tmp_path, "--no-report -- /no/such/command", "-N2")
    wait_for(lambda: job.over, what="the end of the job")
    assert "command not found" in job.said
    wait_for(lambda: not collectors(cluster), what="the end of the collectors")
    assert left_on_nodes(cluster) == []


def test_run_of_one_node_reports_the_number_of_unseen_ranks(cluster: Slurm, tmp_path: Path) -> None:
    (tmp_path / "go on").touch()
    job = submitted(cluster, tmp_path, f"--this-node -- srun {sys.executable} writer.py", "-N2")
    summary = job.summary()
    assert "lost: 1 rank without data" in job.said
    assert summary.job.losses["ranks_unheard"] == 1
    assert not summary.job.complete
    assert summary.prediction is not None
    assert summary.prediction.ranks_unseen == 1
    assert "1 rank without data" in (tmp_path / "report/report.html").read_text()


def test_node_whose_collector_is_killed_is_told(cluster: Slurm, tmp_path: Path) -> None:
    job = submitted(cluster, tmp_path, f"-- srun {sys.executable} writer.py", "-N2")
    wait_for(lambda: job.has_written(2, BLOCKS), what="the first half")
    for pid in wait_for(lambda: collectors(cluster), what="the collector of the other node"):
        os.kill(pid, signal.SIGKILL)
    (tmp_path / "go on").touch()
    summary = job.summary()
    assert summary.exit_status == 0
    assert "not seen, or not to the end: node2, whose collector " in job.said
    assert summary.job.losses["nodes_unseen"] == 1
    assert not summary.job.complete
    assert written(summary, tmp_path / "out.0") == 2 * BLOCKS * BLOCK_BYTES


def test_job_that_is_cancelled_leaves_the_calls_of_all_nodes(cluster: Slurm, tmp_path: Path) -> None:
    job = submitted(cluster, tmp_path, f"-- srun {sys.executable} writer.py", "-N2")
    wait_for(lambda: job.has_written(2, BLOCKS), what="the first half")
    cluster.output_of("scancel", job.id)
    summary = job.summary()
    assert [written(summary, tmp_path / f"out.{rank}") for rank in (0, 1)] == [BLOCKS * BLOCK_BYTES] * 2
    assert "nodes_unseen" not in summary.job.losses, job.said
    wait_for(lambda: not collectors(cluster), what="the end of the collectors")
    assert left_on_nodes(cluster) == []


def test_run_that_is_killed_leaves_no_collector_behind(cluster: Slurm, tmp_path: Path) -> None:
    job = submitted(cluster, tmp_path, f"--no-report -- srun {sys.executable} writer.py", "-N2")
    wait_for(lambda: job.has_written(2, BLOCKS), what="the first half")
    runs = processes(cluster, b"iotide", b"run", b"-o", b"report", b"--no-report")
    (run,) = [pid for pid, parent in runs.items() if parent not in runs]
    os.kill(run, signal.SIGKILL)
    wait_for(lambda: not collectors(cluster), what="the end of the collectors")
    (tmp_path / "go on").touch()
    wait_for(lambda: job.over, what="the end of the job")
