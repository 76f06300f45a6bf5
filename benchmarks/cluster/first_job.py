"""From the Debian package to the first predicted Slurm job: the steps of docs/slurm.md in sequence.

Uses the package built by ``make dist``, or IOTIDE_DEB. The package is unpacked into a folder and mounted at its
installation path in a private mount namespace, so that the machine stays unchanged. The aggregator, the scripts and the
collectors are the package's. The Slurm of two nodes is that of ``make demo-cluster``. Its start is not counted, nor is
the time to read and to type the commands.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from iotide.benchmarks.common.figures import Figure, report
from iotide.cli.cluster_demo.processes import clean_environment, run_process, wait_for
from iotide.cli.cluster_demo.small_slurm import small_slurm

ROOT: Final = Path(__file__).parents[2]
HOME: Final = Path("/usr/lib/iotide")
DEADLINE_S: Final = 300.0
_INSIDE: Final = "IOTIDE_FIRST_JOB_INSIDE"
_WRITER: Final = """
import os, time
start = time.time()
with open(f"out.{os.environ['SLURM_PROCID']}", "wb", buffering=0) as out:
    for step in range(200):
        for _ in range(20):
            out.write(bytes(100_000))
        time.sleep(-(time.time() - start) % 2)
"""
"""A checkpoint of 2 MB every 2 s."""


def package() -> Path | None:
    """Return the newest package, or None without one."""
    if given := os.environ.get("IOTIDE_DEB"):
        return Path(given)
    return max((ROOT / "dist").glob("iotide_*.deb"), key=lambda path: path.stat().st_mtime, default=None)


class Steps:
    """Measure steps by their names, s."""

    def __init__(self) -> None:
        self.taken_s: dict[str, float] = {}

    @contextlib.contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Measure a step."""
        begun_s = time.monotonic()
        yield
        self.taken_s[name] = time.monotonic() - begun_s


def unpack(deb: Path, folder: Path) -> None:
    """Unpack the package, and mount it at its installation path in this process's namespace."""
    subprocess.run(["dpkg-deb", "-x", str(deb), str(folder)], check=True)
    subprocess.run(["mount", "--bind", str(folder / HOME.relative_to("/")), str(HOME)], check=True)


def json_of(url: str) -> Any:
    """Return a response of the aggregator, or None without one."""
    with contextlib.suppress(urllib.error.HTTPError), urllib.request.urlopen(url) as answer:
        return json.loads(answer.read())
    return None


def run(deb: Path, folder: Path) -> dict[str, float]:
    """Run all steps; return their durations, s."""
    steps, environment, iotide = Steps(), clean_environment(), str(HOME / "bin" / "iotide")
    with steps.step("unpacking the package"):
        unpack(deb, folder / "package")
        subprocess.run([iotide, "--version"], check=True, stdout=subprocess.DEVNULL, env=environment)
    with contextlib.ExitStack() as stack:
        with steps.step("starting the aggregator"):
            serve = [iotide, "serve", "--ingest", f"ipc://{folder}/in", "--http", "127.0.0.1:0", "--publish", "none"]
            log = folder / "serve.log"
            stack.enter_context(run_process([*serve, "--state", str(folder / "state")], log, environment))
            url = wait_for(lambda: re.search(r"http (\S+),", log.read_text()), "the aggregator", DEADLINE_S)[1]
        slurm_folder = folder / "slurm"
        slurm_folder.mkdir()
        with steps.step("writing the scripts"):
            config, node = slurm_folder / "slurm.toml", slurm_folder / "node"
            config.write_text(f'connect = "ipc://{folder}/in"\nfolder = "{node}/iotide"\nlog = "{node}/log"\n')
            command = [iotide, "slurm", "scripts", "--config", str(config), str(slurm_folder)]
            output = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
        lines = [line for line in output.splitlines() if line and not line.startswith(("#", "PrologFlags"))]
        slurm = stack.enter_context(small_slurm(slurm_folder, *lines, environment=environment, deadline_s=DEADLINE_S))
        (folder / "writer.py").write_text(_WRITER)
        (folder / "job.sh").write_text("#!/bin/sh\nexec srun /usr/bin/python3 writer.py\n")
        with steps.step("from sbatch to the first prediction of a period"):
            submit = ["sbatch", "--parsable", "-N2", "--comment=iotide", "--output=/dev/null", "job.sh"]
            done = subprocess.run(submit, cwd=folder, env=slurm.environment, capture_output=True, text=True, check=True)
            address = f"{url}/api/v1/jobs/{done.stdout.strip()}/prediction"
            wait_for(lambda: _has_period(address), "a period", DEADLINE_S)
    return steps.taken_s


def _has_period(address: str) -> bool:
    found = json_of(address)
    return found is not None and found["period_s"] is not None


def durations_in_namespace() -> dict[str, float]:
    """Run all steps in a private mount namespace; return their durations, s."""
    made = not HOME.exists()
    HOME.mkdir(exist_ok=True)
    try:
        command = ["unshare", "-m", sys.executable, "-m", "iotide.benchmarks.cluster.first_job"]
        inside = os.environ | {_INSIDE: "1"}
        done = subprocess.run(command, cwd=ROOT, env=inside, stdout=subprocess.PIPE, text=True, check=True)
        return dict(json.loads(done.stdout))
    finally:
        if made:
            HOME.rmdir()


def durations_in_folder() -> dict[str, float]:
    """Run all steps in a temporary folder."""
    deb = package()
    assert deb is not None
    with tempfile.TemporaryDirectory(prefix="iotide-first-", ignore_cleanup_errors=True) as name:
        Path(name).chmod(0o755)
        return run(deb.absolute(), Path(name))


def measure() -> list[Figure]:
    if os.geteuid() != 0:
        print("first_job: Slurm's daemons and mounts need root", file=sys.stderr)
        return []
    if package() is None:
        print("first_job: no dist/iotide_*.deb: run `make dist`, or set IOTIDE_DEB", file=sys.stderr)
        return []
    steps = durations_in_namespace()
    total = Figure(
        "from the Debian package to the first predicted job", sum(steps.values()), "s", "<= 600 s", better="lower"
    )
    return [total, *(Figure(name, seconds, "s", better="lower") for name, seconds in steps.items())]


if __name__ == "__main__":
    if os.environ.get(_INSIDE):
        print(json.dumps(durations_in_folder()))
    else:
        report(measure())
