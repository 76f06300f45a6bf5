"""Effect of scheduling policies on three real programs, with the picture docs/images/scheduling.svg.

The programs are traced by ``iotide run`` at the same time and without a limit. ``iotide simulate`` then lets them share
60 MB/s. fio pauses for 0.7 s after 16 MiB; two scripts pause for 1 s after 24 MiB and for 3 s after 72 MiB.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from iotide.benchmarks.common.figures import Figure, report

PICTURE: Final = Path(__file__).parents[2] / "docs/images/scheduling.svg"
RUN_S: Final = int(os.environ.get("IOTIDE_PROGRAMS_S", "40"))
BANDWIDTH: Final = "60M"
PLOTTED_S: Final = "12"
IOTIDE: Final = [sys.executable, "-m", "iotide"]
SCRIPT: Final = """
import sys, time
pause_s, mebibytes, until = float(sys.argv[1]), int(sys.argv[2]), time.monotonic() + float(sys.argv[3])
while time.monotonic() < until:
    with open(sys.argv[4], "wb", buffering=0) as file:
        for _ in range(mebibytes):
            file.write(bytes(1 << 20))
    time.sleep(pause_s)
"""
FIO: Final = [
    *("fio", "--name=fio", "--rw=write", "--bs=1m", "--size=64m", "--ioengine=psync", "--time_based"),
    *(f"--runtime={RUN_S}", "--thinktime=700000", "--thinktime_blocks=16", "--output=/dev/null"),
]


def measure() -> list[Figure]:
    """Trace the programs, simulate the policies, and draw the picture."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        commands = [
            FIO,
            [sys.executable, "-c", SCRIPT, "1", "24", str(RUN_S), "one"],
            [sys.executable, "-c", SCRIPT, "3", "72", str(RUN_S), "three"],
        ]
        running = []
        for number, command in enumerate(commands):
            (folder / f"job{number}").mkdir()
            # Each has an own folder for its data and its report.
            run = [*IOTIDE, "run", "--quiet", "-o", "report", "--", *command]
            running.append(subprocess.Popen(run, cwd=folder / f"job{number}", stderr=subprocess.DEVNULL))
        failed = [process.args for process in running if process.wait()]
        assert not failed, f"{failed}: failed"
        simulate = [*IOTIDE, "simulate", "--start", "random", "--bandwidth", BANDWIDTH, "--limit", BANDWIDTH]
        shown = ["--plot", str(PICTURE), "--plot-to", PLOTTED_S, "--json"]
        traces = [str(path) for path in sorted(folder.glob("job*/report/*.iotide"))]
        ran = subprocess.run([*simulate, *shown, *traces], check=True, stdout=subprocess.PIPE, text=True)
    policies = json.loads(ran.stdout)["policies"]
    PICTURE.chmod(0o644)
    print("| policy | I/O slowdown | highest | lowest yield | computing |\n| --- | --- | --- | --- | --- |")
    for row in policies:
        slowdowns = f"{row['io_slowdown']:.2f} | {row['io_slowdown_highest']:.2f}"
        print(f"| `{row['policy']}` | {slowdowns} | {row['yield_lowest']:.3f} | {row['utilisation']:.1%} |")
    return [Figure(f"{row['policy']}: I/O slowdown", row["io_slowdown"], "", better="lower") for row in policies]


if __name__ == "__main__":
    report(measure())
