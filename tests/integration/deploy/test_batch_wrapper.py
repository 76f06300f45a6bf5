"""The wrapper for PBS, LSF and Flux jobs, in a fake environment: each system's launcher runs on this node only."""

from __future__ import annotations

import asyncio
import os
import pwd
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from iotide.daemon.jobs.job_summary import summary_of
from iotide.events.network.curve import make_keys, read_pair
from iotide.events.network.vouchers import VARIABLE, Voucher
from support.places import ROOT
from support.servers.running_aggregator import serving
from support.system.commands import plain_environment
from support.system.waiting import DEADLINE_S, wait_for

WRAPPER = ROOT / "deploy" / "batch" / "with-iotide.sh"
LAUNCHERS = {
    # Only the first slot of each node; the second node is not here.
    "pbsdsh": '[ "$1 $3" = "-n --" ] || exit 9\ncase $2 in 0) shift 3; exec "$@" ;; 2) ;; *) exit 9 ;; esac\n',
    "blaunch": '[ "$1" = -z ] && [ "$2" = "n1 n2 " ] || exit 9\nshift 2\nexec "$@"\n',
    "flux": (
        'case "$1 $2" in\n"getattr jobid") echo fAbc ;;\n"getattr size") echo 2 ;;\n'
        '"exec -r") shift 3; exec "$@" ;;\n*) exit 9 ;;\nesac\n'
    ),
}
SYSTEMS = {
    "pbs": ({"PBS_JOBID": "12[3].server", "PBS_JOBNAME": "melt", "PBS_QUEUE": "long"}, "12[3].server", "melt", "long"),
    "lsf": ({"LSB_JOBID": "77", "LSB_JOBNAME": "melt", "LSB_QUEUE": "long"}, "77", "melt", "long"),
    "lsf array": (
        {"LSB_JOBID": "77", "LSB_JOBINDEX": "4", "LSB_JOBNAME": "melt[4]", "LSB_QUEUE": "long"},
        *("77[4]", "melt[4]", "long"),
    ),
    "flux": ({"FLUX_URI": "local:///run/flux/local"}, "fAbc", "", ""),
}
REACHABILITY = re.compile(r"the aggregator at \S+ (has not responded|responds again).*\n")
"""Lines of a collector on a busy machine; no calls are lost."""
PROGRAM = Path(sys.executable).parent / "iotide"
WRITER = "import sys; open('out', 'wb', buffering=0).write(bytes(100_000)); sys.exit(3)"


@pytest.mark.parametrize("system", SYSTEMS)
async def test_job_is_traced_named_and_ends_as_its_command_ends(tmp_path: Path, system: str) -> None:
    _, job, *_ = SYSTEMS[system]
    programs = tmp_path / "bin"
    programs.mkdir()
    for launcher, text in LAUNCHERS.items():
        script(programs / launcher, f"#!/bin/sh\n{text}")
    (tmp_path / "hosts").write_text("n1\nn1\nn2\n")
    (tmp_path / "projects.toml").write_text("[sea]\nusers = []\n")
    key = make_keys(tmp_path, "vouching")[1]
    voucher = Voucher(job, pwd.getpwuid(os.geteuid()).pw_name, "sea").text(read_pair(key).secret)
    access = {"visibility": "project", "projects": str(tmp_path / "projects.toml"), "vouching": str(key)}
    with tempfile.TemporaryDirectory() as sockets:  # the path of a test is nearly too long for a Unix socket
        await traced(system, tmp_path, Path(sockets), access, {VARIABLE: voucher})


def adapted(folder: Path, program: Path, endpoint: str, sockets: Path, left: int = 600) -> Path:
    """Return the wrapper with its first lines adapted; it waits for a collector ``left`` tenths of a second."""
    text = WRAPPER.read_text().replace("/opt/iotide/bin/iotide", str(program))
    text = text.replace("tcp://127.0.0.1:9787", endpoint).replace("socket=/tmp/", f"socket={sockets}/")
    return script(folder / "with-iotide.sh", text.replace("left=600", f"left={left}"))


def script(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


def folders_in(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.is_dir()]


async def traced(system: str, folder: Path, sockets: Path, access: dict[str, str], voucher: dict[str, str]) -> None:
    """Run a command under the wrapper, and check its job."""
    told, job, name, queue = SYSTEMS[system]
    async with serving(ingest=f"ipc://{sockets}/in", http=None, access=access) as server:
        wrapper = adapted(folder, PROGRAM, server.ingest_endpoint, sockets)
        environment = plain_environment(
            LSB_DJOB_HOSTFILE=str(folder / "hosts"), PBS_NODEFILE=str(folder / "hosts"), **told, **voucher
        )
        environment.pop("USER", None)  # not all batch systems set it
        environment["PATH"] = f"{folder / 'bin'}:{os.environ['PATH']}"
        done = await asyncio.to_thread(
            subprocess.run,
            [wrapper, sys.executable, "-c", WRITER],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
        )
        assert (done.returncode, done.stdout, REACHABILITY.sub("", done.stderr)) == (3, "", "")
        assert server.aggregator.jobs.projects == {job: "sea"}
        summary = summary_of(server.aggregator.jobs[job], 0.0)
    assert (summary.bytes_written, summary.losses) == (100_000, {})
    assert summary.batch is not None
    assert (summary.batch.name, summary.batch.partition) == (name, queue)
    assert folders_in(sockets) == []


@pytest.mark.parametrize("begins", [True, False])
def test_job_ends_though_its_collector_takes_for_ever_to_start(tmp_path: Path, begins: bool) -> None:
    """A collector that does not listen when the command ends is ended, and one that begins later ends at once."""
    slow = script(
        tmp_path / "iotide",
        f'#!/bin/sh\ncase "$*" in *--connect*) while :; do sleep 0.05; done ;; esac\nexec "{PROGRAM}" "$@"\n',
    )
    programs = tmp_path / "bin"
    programs.mkdir()
    late = "" if begins else 'case "$*" in *--collect*) until [ -e ended ]; do sleep 0.05; done ;; esac\n'
    script(programs / "pbsdsh", f'#!/bin/sh\nshift 3\n{late}"$@"\ncase "$*" in *--stop*) : >ended ;; esac\n')
    (tmp_path / "hosts").write_text("n1\nn1\n")
    environment = plain_environment(PBS_JOBID="7", PBS_NODEFILE=str(tmp_path / "hosts"))
    environment["PATH"] = f"{programs}:{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as sockets:
        wrapper = adapted(tmp_path, slow, "tcp://127.0.0.1:1", Path(sockets), left=1)
        done = subprocess.run(
            [wrapper, "sh", "-c", "exit 4"],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            timeout=DEADLINE_S,
            check=False,
        )
    assert done.returncode == 4


def test_collector_that_has_just_created_its_file_sees_that_the_command_has_ended(tmp_path: Path) -> None:
    wrapper = adapted(tmp_path, script(tmp_path / "iotide", "#!/bin/sh\nexit 1\n"), "tcp://127.0.0.1:1", tmp_path)
    socket = tmp_path / "own" / "tracer.sock"
    socket.parent.mkdir()
    Path(f"{socket}.7.pid").touch()  # it has not written its number yet
    subprocess.run([wrapper, "--stop", socket, "7"], check=True, timeout=DEADLINE_S)
    late = subprocess.run([wrapper, "--collect", socket, "7", "false"], check=False, timeout=DEADLINE_S)
    assert late.returncode == 0


@pytest.mark.parametrize(("name", "ends"), [("", True), ("other", False)])
def test_collector_is_ended_while_it_starts_its_program_and_another_process_is_not(
    tmp_path: Path, name: str, ends: bool
) -> None:
    """During exec, a process has no command line."""
    wrapper = adapted(tmp_path, script(tmp_path / "iotide", "#!/bin/sh\nexit 1\n"), "tcp://127.0.0.1:1", tmp_path)
    socket = tmp_path / "own" / "tracer.sock"
    socket.parent.mkdir()
    with subprocess.Popen(["bash", "-c", f"exec -a '{name}' cat"], stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        words = Path(f"/proc/{process.pid}/cmdline")
        wait_for(lambda: words.read_bytes().strip(b"\0") == name.encode(), what="the command line")
        Path(f"{socket}.7.pid").write_text(f"{process.pid}\n")
        subprocess.run([wrapper, "--stop", socket, "7"], check=True, timeout=DEADLINE_S)
        if not ends:
            process.stdin.close()
        assert process.wait(DEADLINE_S) == (-signal.SIGTERM if ends else 0)


def test_command_runs_where_no_batch_system_is_known(tmp_path: Path) -> None:
    done = subprocess.run(
        [WRAPPER, "sh", "-c", "echo here; exit 4"],
        cwd=tmp_path,
        env=plain_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (4, "here\n")
    assert "untraced" in done.stderr
