"""Memory of ``iotide report`` on long inputs: a Darshan log of many segments, and an archive of many calls.

The inputs are created and removed here. The memory is the total of the command and its child processes, sampled twenty
times per second. Environment variables:

    BENCH_SEGMENTS    of the log                      600000
    BENCH_CALLS       calls of the archive            100000000
    BENCH_INPUTS      which of darshan, archive       darshan,archive
"""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from iotide.benchmarks.analyzers.long_traces import written
from iotide.benchmarks.common.figures import Figure, report
from iotide.collectors.sources.darshan.events import SEGMENT

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from support.formats.darshan_logs import DXT_POSIX, log_of, regions
from support.formats.darshan_package import LOGS

SEGMENTS = int(os.environ.get("BENCH_SEGMENTS", "600000"))
CALLS = int(os.environ.get("BENCH_CALLS", "100000000"))
INPUTS = os.environ.get("BENCH_INPUTS", "darshan,archive").split(",")
RANKS, SIZE, A_PHASE = 4, 65_536, 1000
LOOK_S = 0.05


def darshan_log(path: Path, segments: int) -> None:
    """Write a log in which each rank has its part of the segments, in phases."""
    job, names, modules = regions((LOGS / "ior_hdf5_example.darshan").read_bytes())
    version, data = modules[DXT_POSIX]
    (file,) = struct.unpack_from("<Q", data)
    whole = b""
    for rank in range(RANKS):
        at = np.arange(segments // RANKS)
        table = np.zeros(len(at), SEGMENT)
        table["offset"] = (rank * len(at) + at) * SIZE
        table["length"] = SIZE
        table["start"] = at // A_PHASE * 10.0 + at % A_PHASE * 0.002
        table["end"] = table["start"] + 0.001
        whole += struct.pack("<Qqq64sqq", file, rank, 0, b"node", len(at), 0) + table.tobytes()
    path.write_bytes(log_of(job, names, {DXT_POSIX: (version, whole)}))


def memory_of_processes(root: int) -> float:
    """Return the memory of a process and its descendants, bytes."""
    total, waiting = 0.0, [root]
    while waiting:
        pid = waiting.pop()
        try:
            status = Path(f"/proc/{pid}/status").read_text()
            waiting += map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
        except (OSError, ValueError):
            continue
        total += sum(float(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmRSS:"))
    return total


def run_measured(path: Path) -> tuple[float, float]:
    """Write the report of an input; return the peak memory in bytes, and the CPU time in s."""
    command = [sys.executable, "-m", "iotide", "report", "-o", str(path.with_suffix(".html")), str(path)]
    most = 0.0
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as child:
        while True:
            most = max(most, memory_of_processes(child.pid))
            pid, status, used = os.wait4(child.pid, os.WNOHANG)
            if pid:
                break
            time.sleep(LOOK_S)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {child.returncode}")
    return most, used.ru_utime + used.ru_stime


def measure() -> list[Figure]:
    """Measure both inputs, and a tenth of each."""
    kinds = {
        "darshan": (f"a log of {SEGMENTS:,} segments", darshan_log, SEGMENTS, 500),
        "archive": (f"an archive of {CALLS / 1e6:g} M calls", written, CALLS, 1000),
    }
    figures = []
    for name in INPUTS:
        what, write, size, budget_mb = kinds[name]
        with TemporaryDirectory() as folder:
            path = Path(folder) / {"darshan": "long.darshan", "archive": "long.iotide"}[name]
            write(path, size // 10)
            least, least_s = run_measured(path)
            write(path, size)
            most, most_s = run_measured(path)
        figures += [
            Figure(f"{what}: memory", most / 1e6, "MB", f"<= {budget_mb} MB", "a tenth of it", least / 1e6, "lower"),
            Figure(f"{what}: CPU time", most_s, "s", "", "a tenth of it", least_s, "lower"),
        ]
    return figures


if __name__ == "__main__":
    report(measure())
