"""Cost of our scripts for a Slurm job without a collector, and delay until a job with one is listed.

On a Slurm of two nodes on this machine: IOTIDE_JOBS (20) times ``srun true``, alternating with and without the scripts
in slurm.conf, and IOTIDE_LISTED (5) jobs that do no I/O on two nodes, from ``sbatch`` until the aggregator lists their
name and nodes. The CPU time of the three scripts is measured separately, as the rest is mostly Slurm's.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any, Final

from iotide.benchmarks.common.figures import Figure, report
from iotide.benchmarks.common.served import Served
from iotide.cli.cluster_demo.small_slurm import Slurm, install_scripts, small_slurm

JOBS: Final = int(os.environ.get("IOTIDE_JOBS", "20"))
LISTED: Final = int(os.environ.get("IOTIDE_LISTED", "5"))
DEADLINE_S: Final = 120.0
SCRIPTS: Final = ("prolog.sh", "task-prolog.sh", "epilog.sh")
SLEEPS: Final = "sleep 600"


def script_ms(script: Path, job: str) -> float:
    """Return the CPU time of a script for a job without a collector, ms."""
    environment = {"PATH": os.environ["PATH"], "SLURM_JOB_ID": job, "SLURM_JOB_UID": "0"}
    quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    child = os.posix_spawn("/bin/sh", ["sh", str(script)], environment, file_actions=quiet)
    _, status, used = os.wait4(child, 0)
    if status:
        raise RuntimeError(f"{script} ended with {status}")
    return 1e3 * (used.ru_utime + used.ru_stime)


def run_s(slurm: Slurm) -> float:
    """Return the duration of ``srun true``, s."""
    begun = time.monotonic()
    subprocess.run(["srun", "-n1", "true"], env=slurm.environment, check=True, stderr=subprocess.DEVNULL)
    return time.monotonic() - begun


def listed_s(slurm: Slurm, folder: Path, url: str) -> float:
    """Return the time from ``sbatch`` until a job is listed with its name and both nodes, s."""
    (folder / "job.sh").write_text(f"#!/bin/sh\n{SLEEPS}\n")
    command = ["sbatch", "--parsable", "-N2", "--comment=iotide", "-J", "listed", "--output=/dev/null", "job.sh"]
    begun = time.monotonic()
    job = subprocess.run(
        command, cwd=folder, env=slurm.environment, capture_output=True, text=True, check=True
    ).stdout.strip()
    while time.monotonic() - begun < DEADLINE_S:
        found = json_of(f"{url}/api/v1/jobs/{job}")
        if found is not None and (found["batch"]["name"], found["batch"]["node_count"]) == ("listed", 2):
            slurm.output_of("scancel", job)
            return time.monotonic() - begun
        time.sleep(0.05)
    raise RuntimeError(f"job {job} was not listed within {DEADLINE_S} s")


def json_of(url: str) -> Any:
    """Return a response of the aggregator, or None if there is none."""
    with contextlib.suppress(OSError), urllib.request.urlopen(url) as answer:
        return json.loads(answer.read())
    return None


def measure() -> list[Figure]:
    if os.geteuid() != 0:
        print("untouched_jobs: Slurm's daemons need root", file=sys.stderr)
        return []
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        server = Served(Path(name))
        server.start()
        stack.callback(server.kill, signal.SIGTERM)
        folder = Path(name) / "slurm"
        folder.mkdir()
        lines = install_scripts(folder, folder / "node", server.endpoint)
        with small_slurm(folder, *lines, environment=os.environ, deadline_s=DEADLINE_S) as slurm:
            configuration = folder / "slurm.conf"
            with_ours = configuration.read_text()
            ours = ("Prolog=", "TaskProlog=", "Epilog=")
            without = "".join(f"{line}\n" for line in with_ours.splitlines() if not line.startswith(ours))
            taken: dict[bool, list[float]] = {True: [], False: []}
            for number in range(2 * JOBS):
                has_ours = number % 2 == 0
                configuration.write_text(with_ours if has_ours else without)
                slurm.output_of("scontrol", "reconfigure")
                taken[has_ours].append(run_s(slurm))
            configuration.write_text(with_ours)
            slurm.output_of("scontrol", "reconfigure")
            listed = [listed_s(slurm, folder, server.url) for _ in range(LISTED)]
            cpu = [sum(script_ms(folder / script, "999999") for script in SCRIPTS) for _ in range(JOBS)]
    with_s, without_s = statistics.median(taken[True]), statistics.median(taken[False])
    return [
        Figure("job without a collector: CPU time of the three scripts", min(cpu), "ms", "<= 20 ms", better="lower"),
        Figure("srun true: median", with_s, "s", "", "without the scripts", without_s, better="lower"),
        Figure(
            "from sbatch until listed: median",
            statistics.median(listed),
            "s",
            "<= 5 s",
            better="lower",
        ),
    ]


if __name__ == "__main__":
    report(measure())
