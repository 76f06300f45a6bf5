"""A job that creates, queries and removes many files beside a job whose metadata calls it slows down, both live.

A loop-mounted ext4 (``dirsync``, as root) is the shared file system. The victim creates, queries and removes 15 files
every half second or so. The culprit unpacks a tree of small files with ``tar``, queries each file and removes the tree,
at intervals. A third job only reads and writes one open file. All are traced and report to one aggregator on loopback
with default settings, and Alertmanager receives its alerts. The victim's own log has the true slowdown: the time of a
metadata call beside the culprit over that alone. Needs the Debian package prometheus-alertmanager.
IOTIDE_METADATA_S is the maximum time until the alert (600).
"""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from iotide.benchmarks.common.figures import Figure
from iotide.benchmarks.common.processes import answer, started
from iotide.benchmarks.daemon.alerts import monitored

LONGEST_S: Final = float(os.environ.get("IOTIDE_METADATA_S", "600"))
FILES: Final = 200
VICTIM: Final = """
import os, sys, time
folder, log = sys.argv[1:]
os.makedirs(folder)
with open(log, "w", buffering=1) as told:
    while True:
        begun = time.time()
        for number in range(15):
            path = f"{folder}/{number}"
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
            os.stat(path)
            os.unlink(path)
        told.write(f"{begun} {time.time()}\\n")
        time.sleep(0.6)
"""
CULPRIT: Final = """
cd "$1"
while :; do
  sleep 5; date +%s.%N >> "$3"
  tar -xf "$2"; find tree -type f -exec stat -c %s {} + > /dev/null; rm -rf tree
  date +%s.%N >> "$3"
done
"""
BYSTANDER: Final = """
import os, sys, time
data = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o600)
while True:
    for number in range(20):
        os.pwrite(data, b"x" * 65536, 0); os.pread(data, 65536, 0); time.sleep(0.05)
    time.sleep(3)
"""


@contextlib.contextmanager
def mounted(folder: Path) -> Iterator[None]:
    """Mount a new ext4 whose changes of directories are synchronous."""
    image = folder.with_suffix(".img")
    with image.open("wb") as made:
        made.truncate(200 << 20)
    subprocess.run(["mkfs.ext4", "-q", "-F", image], check=True)
    subprocess.run(["mount", "-o", "loop,dirsync", image, folder], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def tree(path: Path) -> None:
    """Write an archive of small files."""
    with tempfile.TemporaryDirectory() as name, tarfile.open(path, "w") as made:
        small = Path(name) / "small"
        small.write_text("x" * 100)
        for number in range(FILES):
            made.add(small, f"tree/{number % 10}/{number}.txt")


def true_slowdown(victim: Path, culprit: Path) -> float:
    """Return the victim's time beside the culprit over that alone, from both programs' own logs."""
    stamps = [float(line) for line in culprit.read_text().split()]
    stamps += [time.time()] * (len(stamps) % 2)
    spans = list(zip(stamps[::2], stamps[1::2], strict=True))
    beside, alone = [], []
    for line in victim.read_text().splitlines()[:-1]:
        begun, end = map(float, line.split())
        overlap = sum(max(0.0, min(end, stop) - max(begun, start)) for start, stop in spans) / (end - begun)
        if overlap >= 0.3:
            beside.append(end - begun)
        elif overlap <= 0.02:
            alone.append(end - begun)
    return statistics.median(beside) / statistics.median(alone)


def measure() -> list[Figure]:
    """Run the three jobs until the alert."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        files = folder / "files"
        files.mkdir()
        tree(folder / "tree.tar")
        stack.enter_context(mounted(files))
        alertmanager, url, environment = stack.enter_context(monitored(folder))
        begun = time.time()
        for job, words in (
            ("victim", [sys.executable, "-c", VICTIM, f"{files}/victim", f"{folder}/victim.log"]),
            ("culprit", ["sh", "-c", CULPRIT, "sh", f"{files}", f"{folder}/tree.tar", f"{folder}/culprit.log"]),
            ("bystander", [sys.executable, "-c", BYSTANDER, f"{files}/data"]),
        ):
            stack.enter_context(started(words, env=environment | {"SLURM_JOB_ID": job}))
        received: list[dict[str, Any]] = []
        while time.time() < begun + LONGEST_S and not received:
            time.sleep(1)
            received = answer(f"{alertmanager}/api/v2/alerts?active=true")
        raised_s = time.time() - begun
        found = answer(f"{url}/api/v1/contention")
        print(json.dumps(received, indent=1))
        print(json.dumps(found["slowdowns"], indent=1))
        true = true_slowdown(folder / "victim.log", folder / "culprit.log")
    of_victim = [each for each in found["slowdowns"] if each["job"] == "victim" and each["measure"] == "metadata"]
    measured = of_victim[0]["slowdown"]["value"] if of_victim and of_victim[0]["slowdown"] else float("nan")
    named = [culprit["job"] for each in of_victim for culprit in each["culprits"]]
    wrong = sum(each["labels"].get("job_id") not in ("victim", "culprit") for each in received)
    return [
        Figure("culprit of slow metadata calls named", float(named == ["culprit"]), "", "1"),
        Figure("slowdown of a metadata call, measured", measured, "", "", "the programs' own logs", true),
        Figure("time until Alertmanager has the alert", raised_s if received else float("inf"), "s", better="lower"),
        Figure("alerts about the third job", wrong, "", "0", better="lower"),
    ]
