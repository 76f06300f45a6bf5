"""Slurm's prolog, TaskProlog and epilog, called as by slurmd, without Slurm."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pwd
import select
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from iotide.cli.cluster_demo.small_slurm import install_scripts
from iotide.collectors.tracer.preload_environment import library_of
from iotide.daemon.jobs.job_summary import summary_of
from iotide.events.network.curve import make_keys
from support.servers.running_aggregator import serving
from support.system.waiting import DEADLINE_S

JOB = "4711"
OF_SLURM = "unset SLURM_SCRIPT_CONTEXT"  # Slurm leaves it to tasks if a TaskProlog runs
SQUEUE = """#!/bin/sh
echo "$@" > {folder}/asked
echo "4711|4711|node[1-2]|2096-01-02T03:04:05|2096-01-02T04:04:05|physics|melt | 2"
"""
THEIRS = next(path for path in Path("/proc/self/maps").read_text().split() if "/libm.so" in path or "/libm-" in path)
WRITER = "open('out', 'wb', buffering=0).write(bytes(100_000))"


@dataclass(frozen=True)
class Node:
    """A node with the scripts."""

    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        user = pwd.getpwuid(os.getuid())
        return {
            "SLURM_JOB_ID": JOB,
            "SLURM_JOB_UID": str(user.pw_uid),
            "SLURM_JOB_USER": user.pw_name,
            "SLURM_JOB_PARTITION": "all",
            "SLURM_JOB_COMMENT": "iotide",
            "SLURM_NODELIST": "node[1-2]",
            "SLURM_JOB_NUM_NODES": "2",
            "SLURMD_NODENAME": "node1",
        }

    def call(self, script: str, **extra: str) -> str:
        """Run a script; return its output. A script must not fail, because that drains the node."""
        command = ["env", "-i", *(f"{name}={value}" for name, value in (self.environment | extra).items())]
        done = subprocess.run(
            [*command, str(self.folder / script)],
            cwd="/",
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
            check=True,
        )
        assert done.stderr == ""
        return done.stdout

    def task(self, **extra: str) -> dict[str, str]:
        """Return the changes of a task's environment."""
        lines = self.call("task-prolog.sh", **extra).splitlines()
        return dict(line.removeprefix("export ").split("=", 1) for line in lines if line != OF_SLURM)

    @property
    def log(self) -> str:
        path = self.folder / "log"
        return path.read_text() if path.exists() else ""

    @property
    def left(self) -> list[str]:
        """Files of jobs that remain on the node."""
        folder = self.folder / "iotide"
        return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


@contextlib.contextmanager
def node_of(folder: Path, endpoint: str, **settings: str) -> Iterator[Node]:
    squeue = folder / "squeue"
    squeue.write_text(SQUEUE.format(folder=folder))
    squeue.chmod(0o755)
    install_scripts(folder, folder, endpoint, squeue=f'"{squeue}"', start_s="60", **settings)
    node = Node(folder)
    try:
        yield node
    finally:
        node.call("epilog.sh")


async def test_job_is_traced_from_its_first_task_and_told_by_its_name(tmp_path: Path) -> None:
    (members := tmp_path / "projects.toml").touch()
    key = make_keys(tmp_path, "vouching")[1]
    access = {"visibility": "project", "projects": members, "vouching": key}
    async with serving(ingest=f"ipc://{tmp_path}/in", access=access) as server:
        with node_of(tmp_path, server.ingest_endpoint, vouching=f'"{key}"') as node:
            await asyncio.to_thread(node.call, "prolog.sh")
            variables = node.task(LD_PRELOAD=THEIRS)
            assert variables["LD_PRELOAD"].endswith(f":{THEIRS}")
            assert node.task(LD_PRELOAD=variables["LD_PRELOAD"]).keys() == {"IOTIDE_SOCKET", "IOTIDE_JOB"}
            variables["LD_PRELOAD"] = variables["LD_PRELOAD"].removesuffix(f":{THEIRS}")
            environment = {"PATH": os.environ["PATH"], "SLURM_STEP_ID": "3"} | variables
            await asyncio.to_thread(
                subprocess.run, [sys.executable, "-c", WRITER], cwd=tmp_path, env=environment, check=True
            )
            await asyncio.to_thread(node.call, "epilog.sh")
            assert node.task() == {}
            session = server.aggregator.jobs[JOB]
            told = summary_of(session, 0.0)
            assert (told.bytes_written, told.complete, told.streams) == (100_000, True, 0)
            assert (told.hosts, told.user) == (["node1"], pwd.getpwuid(os.getuid()).pw_name)
            assert told.batch is not None
            assert (told.batch.name, told.batch.account, told.batch.partition) == ("melt | 2", "physics", "all")
            assert (told.batch.nodes, told.batch.node_count, told.batch.limit_s) == ("node[1-2]", 2, 3600.0)
            assert server.aggregator.jobs.projects == {JOB: "physics"}
            assert (tmp_path / "asked").read_text() == f"-h -j {JOB} -o %A|%i|%N|%S|%e|%a|%j\n"
        assert (node.log, node.left) == ("", [])


@pytest.mark.parametrize("comment", ["", "not-iotide", "iotides", "no"])
def test_job_that_did_not_ask_is_not_touched(tmp_path: Path, comment: str) -> None:
    with node_of(tmp_path, f"ipc://{tmp_path}/in") as node:
        for script, says in (("prolog.sh", ""), ("task-prolog.sh", f"{OF_SLURM}\n"), ("epilog.sh", "")):
            assert node.call(script, SLURM_JOB_COMMENT=comment) == says
        assert (node.log, (tmp_path / "iotide").exists()) == ("", False)


def test_other_nodes_of_a_job_do_not_ask_the_controller(tmp_path: Path) -> None:
    with node_of(tmp_path, f"ipc://{tmp_path}/in", stop_s="0.5") as node:
        node.call("prolog.sh", SLURMD_NODENAME="node2", SLURM_JOB_COMMENT="two words, iotide")
        assert node.task()["IOTIDE_JOB"] == JOB
        assert not (tmp_path / "asked").exists()


def test_aggregator_that_is_away_delays_no_node_for_longer_than_told(tmp_path: Path) -> None:
    with node_of(tmp_path, f"ipc://{tmp_path}/in", stop_s="0.5") as node:
        node.call("prolog.sh")
        subprocess.run([sys.executable, "-c", WRITER], cwd=tmp_path, env=node.task(), check=True)
        node.call("epilog.sh")
        assert "had not ended after 0.5 s, and was killed" in node.log
        assert node.left == []


def test_collector_that_died_is_told_and_cleared_up(tmp_path: Path) -> None:
    with node_of(tmp_path, f"ipc://{tmp_path}/in") as node:
        node.call("prolog.sh")
        pid = int((tmp_path / "iotide" / f"{JOB}.pid").read_text().split()[0])
        with contextlib.closing(select.epoll()) as gone:
            watch = os.pidfd_open(pid)
            gone.register(watch, select.EPOLLIN)
            os.kill(pid, 9)
            assert gone.poll(DEADLINE_S)
            os.close(watch)
        node.call("epilog.sh")
        assert "the collector had ended before its job" in node.log
        assert node.left == []


def test_collector_has_no_higher_priority_than_the_programs_of_its_job(tmp_path: Path) -> None:
    with node_of(tmp_path, f"ipc://{tmp_path}/in", stop_s="0.5") as node:
        node.call("prolog.sh")
        pid = int((tmp_path / "iotide" / f"{JOB}.pid").read_text().split()[0])
        threads = [int(thread.name) for thread in Path(f"/proc/{pid}/task").iterdir()]
        assert min(os.getpriority(os.PRIO_PROCESS, thread) for thread in threads) >= 0
        if (session := Path(f"/proc/{pid}/autogroup")).exists():
            assert session.read_text().split()[-1:] in ([], ["0"])


def test_prolog_has_priority_over_programs_of_other_sessions(tmp_path: Path) -> None:
    if subprocess.run(["nice", "-n", "-15", "nice"], capture_output=True, text=True, check=False).stdout != "-15\n":
        pytest.skip("this user may not raise priorities")
    with node_of(tmp_path, f"ipc://{tmp_path}/in", stop_s="0.5") as node:
        (tmp_path / "squeue").write_text(f"#!/bin/sh\n{{ nice; cat /proc/$$/autogroup; }} >{tmp_path}/asked\n")
        node.call("prolog.sh")
        niceness, *session = (tmp_path / "asked").read_text().splitlines()
        assert niceness == "-15"
        assert [line.split()[-1] for line in session] in ([], ["-10"])  # [] without groups of sessions
        if session:
            own = Path("/proc/self/autogroup").read_text()  # empty if no session was started since boot
            assert session[0].split()[:1] != own.split()[:1]


def test_job_that_is_requeued_gets_a_new_collector(tmp_path: Path) -> None:
    with node_of(tmp_path, f"ipc://{tmp_path}/in", stop_s="5") as node:
        node.call("prolog.sh")
        first = (tmp_path / "iotide" / f"{JOB}.pid").read_text()
        node.call("prolog.sh")
        assert (tmp_path / "iotide" / f"{JOB}.pid").read_text() != first
        assert node.task()["IOTIDE_JOB"] == JOB


@pytest.mark.parametrize(
    ("settings", "environment", "told"),
    [
        ({"connect": '"no endpoint"'}, {}, "no endpoint"),
        ({"key": '"/nowhere/key"', "server_key": '"/nowhere/other"'}, {}, "/nowhere/key"),
        ({}, {"SLURM_JOB_UID": "4000000001"}, "4000000001"),
        ({}, {"SLURM_JOB_UID": "x"}, "SLURM_JOB_UID is 'x'"),
        ({}, {"SLURM_JOB_ID": "../x"}, "SLURM_JOB_ID is '../x'"),
        ({"folder": '"/proc/iotide"'}, {}, "/proc/iotide"),
    ],
)
def test_failed_start_does_not_fail_the_prolog_and_is_reported(
    tmp_path: Path, settings: dict[str, str], environment: dict[str, str], told: str
) -> None:
    with node_of(tmp_path, f"ipc://{tmp_path}/in") as node:
        text = (tmp_path / "slurm.toml").read_text()
        kept = [line for line in text.splitlines() if line.split(" ")[0] not in settings]
        lines = [*kept, *(f"{name} = {value}" for name, value in settings.items())]
        (tmp_path / "slurm.toml").write_text("\n".join(lines))
        assert node.call("prolog.sh", **environment) == ""
        if settings.get("connect"):  # the settings do not name the log
            return
        assert told in node.log
        assert node.task() == {}


def test_squeue_that_hangs_or_fails_costs_the_name_alone(tmp_path: Path) -> None:
    with node_of(tmp_path, f"ipc://{tmp_path}/in", ask_s="0.2", stop_s="0.5") as node:
        (tmp_path / "squeue").write_text("#!/bin/sh\nexec sleep 1000\n")
        node.call("prolog.sh")
        assert "its name and time limit are not known" in node.log
        assert node.task()["IOTIDE_JOB"] == JOB
        (tmp_path / "squeue").write_text("#!/bin/sh\necho 'slurm_load_jobs error: it is away' >&2\nexit 1\n")
        node.call("prolog.sh")
        assert "it is away" in node.log


def test_job_that_a_traced_job_submitted_is_not_traced(tmp_path: Path) -> None:
    with node_of(tmp_path, f"ipc://{tmp_path}/in") as node:
        core, layers = str(library_of("preload")), str(library_of("layers"))
        socket = f"{tmp_path}/iotide/1/tracer.sock"
        told = node.call("task-prolog.sh", IOTIDE_SOCKET=socket, LD_PRELOAD=f"{core}:{THEIRS}:{layers}").splitlines()
        assert told == [OF_SLURM, "unset IOTIDE_SOCKET", "unset IOTIDE_JOB", f"export LD_PRELOAD={THEIRS}"]
        told = node.call("task-prolog.sh", IOTIDE_SOCKET=socket, LD_PRELOAD=core).splitlines()
        assert told[-1] == "unset LD_PRELOAD"
        assert node.call("task-prolog.sh", IOTIDE_SOCKET="/elsewhere/t", LD_PRELOAD=core) == f"{OF_SLURM}\n"
