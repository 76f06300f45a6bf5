"""Alerts on real programs: none without a collision, and the delay of a real alert at Alertmanager.

Harmless: three programs (Python, ``dd``, ``fio``; direct I/O, periods of 5 to 11 s) whose total demand stays below the
bandwidth of the file system, for five and a half minutes (IOTIDE_HARMLESS_S seconds). Colliding: a program that writes
40 MB every six seconds, and after half a minute a second one at the same times, in a ``blkio`` group of 20 MB/s (cgroup
v1, as root). The delay counts from the second one's first write. Settings are the defaults, with the capacity
configured. Needs the Debian packages fio and prometheus-alertmanager.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from iotide.benchmarks.common.figures import Figure
from iotide.benchmarks.common.processes import answer, started, wait_for

CAPACITY = 20_000_000
HARMLESS_S = float(os.environ.get("IOTIDE_HARMLESS_S", "330"))
ALONE_S = 30
STARTS = 3
GROUP = Path("/sys/fs/cgroup/blkio/iotide-alerts")
PACED = """
import mmap, os, sys, time
data = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_DIRECT, 0o600)
block = mmap.mmap(-1, 1 << 19)
while True:
    for step in range(10):
        os.pwrite(data, block, step << 19)
        time.sleep(0.1)
    time.sleep(4)
"""
DD = """
while :; do
  for step in 0 1 2 3 4 5 6 7 8 9; do
    dd if=/dev/zero of="$1" bs=512k count=1 seek=$step oflag=direct conv=notrunc status=none; sleep 0.1
  done
  sleep 6
done
"""
FIO = """
while :; do
  fio --name=x --filename="$1" --rw=write --bs=512k --size=5m --rate=5m --direct=1 --minimal >/dev/null
  sleep 10
done
"""
BURSTS = """
import mmap, os, sys, time
data = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_DIRECT, 0o600)
block = mmap.mmap(-1, 1 << 20)
time.sleep(6 - time.time() % 6)
with open(sys.argv[2], "w") as begun:
    begun.write(f"{time.time()}\\n")
while True:
    for step in range(40):
        os.pwrite(data, block, step << 20)
    time.sleep(6 - time.time() % 6)
"""
IOTIDE = [sys.executable, "-m", "iotide"]


@contextlib.contextmanager
def monitored(folder: Path) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Run Alertmanager, aggregator and collector; yield both addresses and the environment of traced programs."""
    (folder / "am.yml").write_text("route: {receiver: none}\nreceivers: [{name: none}]\n")
    log, serving = folder / "am.log", folder / "serve.log"
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("IOTIDE_", "SLURM_"))}
    config = folder / "serve.toml"
    words = ["prometheus-alertmanager", f"--config.file={folder}/am.yml", f"--storage.path={folder}/am"]
    words += ["--web.listen-address=127.0.0.1:0", "--cluster.listen-address="]
    with contextlib.ExitStack() as stack:
        stack.enter_context(started(words, stderr=stack.enter_context(log.open("wb"))))
        found = wait_for(lambda: re.search(r"Listening on. address=(\S+)", log.read_text()), "Alertmanager")
        config.write_text(
            f'[notify]\nalertmanagers = ["http://{found[1]}"]\n[contention.capacity]\nscratch = {CAPACITY}\n'
            f'[analyzers.filesystems.names]\n"{folder}/files" = "scratch"\n'
        )
        words = [*IOTIDE, "serve", "--config", str(config), "--ingest", f"ipc://{folder}/in", "--http", "127.0.0.1:0"]
        words += ["--publish", "none", "--state", "none", "--verbose"]
        stack.enter_context(started(words, env=plain, stderr=stack.enter_context(serving.open("wb"))))
        listening = wait_for(lambda: re.search(r"http://127[\d.:]+", serving.read_text()), "the aggregator")
        words = [*IOTIDE, "collect", "--socket", f"{folder}/t", "--connect", f"ipc://{folder}/in"]
        stack.enter_context(started(words, env=plain))
        wait_for((folder / "t").exists, "the collector")
        words = [*IOTIDE, "collect", "--socket", f"{folder}/t", "--print-environment"]
        printed = subprocess.run(words, env=plain, capture_output=True, text=True, check=True).stdout
        yield f"http://{found[1]}", listening[0], plain | dict(line.split("=", 1) for line in printed.split())


def harmless(folder: Path) -> int:
    """Return the number of raised alerts."""
    with monitored(folder) as (_, url, environment), contextlib.ExitStack() as stack:
        for job, words in (
            ("python", [sys.executable, "-c", PACED]),
            ("dd", ["sh", "-c", DD, "sh"]),
            ("fio", ["sh", "-c", FIO, "sh"]),
        ):
            environment["SLURM_JOB_ID"] = job
            stack.enter_context(started([*words, f"{folder}/files/{job}"], env=dict(environment)))
        time.sleep(HARMLESS_S)
        contention, listed = answer(f"{url}/api/v1/contention"), answer(f"{url}/api/v1/alerts")
        print(json.dumps({key: contention[key] for key in ("jobs", "slowdowns", "collisions", "abstained")}))
        return len(listed["raised"]) + len(listed["resolved"])


def colliding(folder: Path) -> tuple[float, float]:
    """Return the delay of the alert at Alertmanager after the first collision, and of its end after the programs' end,
    s.
    """
    device = folder.stat().st_dev
    GROUP.mkdir(exist_ok=True)
    try:
        (GROUP / "blkio.throttle.write_bps_device").write_text(f"{os.major(device)}:0 {CAPACITY}")
    except OSError as error:
        raise RuntimeError(f"no blkio group limits {folder}: {error.strerror}") from None
    enter = ["sh", "-c", f'echo $$ > {GROUP}/cgroup.procs; exec "$@"', "sh"]
    with monitored(folder) as (alertmanager, _, environment), contextlib.ExitStack() as stack:

        def active() -> bool:
            return bool(answer(f"{alertmanager}/api/v2/alerts?active=true"))

        for job in ("one", "two"):
            words = [*enter, sys.executable, "-c", BURSTS, f"{folder}/files/{job}", f"{folder}/{job}.begun"]
            stack.enter_context(started(words, env=environment | {"SLURM_JOB_ID": job}))
            if job == "one":
                time.sleep(ALONE_S)
        log = folder / "two.begun"
        begun = float(wait_for(lambda: re.findall(r"([\d.]+)\n", log.read_text()), "the second program's start")[0])
        wait_for(active, "the alert")
        raised_s = time.time() - begun
        stack.close()
        over = time.time()
        wait_for(lambda: not active(), "the resolution")
        return raised_s, time.time() - over


def measure() -> list[Figure]:
    """Measure both."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        folders = [Path(name) / str(number) for number in range(STARTS + 1)]
        for folder in folders:
            (folder / "files").mkdir(parents=True)
        raised = harmless(folders[0])
        times = []
        for folder in folders[1:]:
            times.append(colliding(folder))
            print(f"alert after {times[-1][0]:.1f} s, resolution {times[-1][1]:.1f} s after the programs' end")
        with contextlib.suppress(OSError):
            GROUP.rmdir()
    return [
        Figure("alerts on programs that do not collide", raised, "", "0", better="lower"),
        Figure(
            "delay of the alert at Alertmanager", statistics.median(t for t, _ in times), "s", "<= 30", better="lower"
        ),
        Figure("delay of its resolution", statistics.median(t for _, t in times), "s", better="lower"),
    ]
