"""``iotide detect`` against ``ftio`` on the same file of 1 M requests: wall time and peak memory of the process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from iotide.benchmarks.common.figures import Figure, report
from iotide.benchmarks.common.ftio import interpreter

REQUESTS = 1_000_000
RANKS = 64
PERIOD_S = 21.4
PHASES = 50
FLUSHES = 16
REPEATS = 3
PEER = "ftio-hpc 0.0.9"
# the peer's parser selects its options by the program name
_PEER_CODE = "import sys; from ftio.cli.ftio_core import run; sys.argv[0] = 'ftio'; run()"


def requests() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return start and end in seconds and bandwidth in bytes/s, by start: phases every 10 s, with some jitter."""
    rng = np.random.default_rng(7)
    phases = PERIOD_S * (np.arange(PHASES) + 0.02 * rng.standard_normal(PHASES)) + 1
    start = np.sort((phases[:, None] + rng.uniform(0, 10, (PHASES, REQUESTS // PHASES))).ravel())
    end = start + rng.uniform(0.001, 0.02, REQUESTS)
    return np.round(start, 6), np.round(end, 6), np.round(rng.uniform(50e6, 200e6, REQUESTS), 1)


def write_tmio(path: Path) -> None:
    """Write the requests as TMIO's JSON lines, with the other fields that the analysis needs."""
    start, end, bandwidth = requests()
    with path.open("w") as out:
        for rows in np.array_split(np.arange(REQUESTS), FLUSHES):
            volume = float((bandwidth[rows] * (end[rows] - start[rows])).sum())
            section = {
                "total_bytes": volume,
                "max_bytes_per_rank": volume / RANKS,
                "max_bytes_per_phase": 4e6,
                "max_io_phases_per_rank": len(rows) // RANKS,
                "total_io_phases": len(rows),
                "max_io_ops_in_phase": 1,
                "max_io_ops_per_rank": len(rows) // RANKS,
                "total_io_ops": len(rows),
                "number_of_ranks": RANKS,
                "bandwidth": {
                    "b_rank_avr": bandwidth[rows].tolist(),
                    "t_rank_s": start[rows].tolist(),
                    "t_rank_e": end[rows].tolist(),
                },
            }
            out.write(json.dumps({"write_sync": section}) + "\n")


def write_calls(path: Path) -> None:
    """Write the requests as iotide's JSON lines, one call per line."""
    start, end, bandwidth = requests()
    rows = zip(start.tolist(), (end - start).tolist(), (bandwidth * (end - start)).astype(int).tolist(), strict=True)
    with path.open("w") as out:
        for at, duration, size in rows:
            out.write(
                f'{{"call":"pwrite64","path":"/scratch/out","start":{at:.6f},"dur":{duration:.6f},"size":{size}}}\n'
            )


def cost(command: Sequence[str], folder: Path) -> tuple[float, float, str]:
    """Return the least wall time in s over some runs, the largest peak memory in MB, and standard output."""
    best, largest, text = float("inf"), 0.0, ""
    for _ in range(REPEATS):
        output = folder / "output"
        began = time.perf_counter()
        with output.open("wb") as out:
            child = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL, cwd=folder)
            _, status, used = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        best = min(best, time.perf_counter() - began)
        if child.returncode:
            raise RuntimeError(f"{command} ended with {child.returncode}")
        largest, text = max(largest, used.ru_maxrss / 1e3), output.read_text(errors="replace")
    return best, largest, text


def measure() -> list[Figure]:
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tmio, calls = folder / "64.jsonl", folder / "calls.jsonl"
        write_tmio(tmio)
        write_calls(calls)
        python = interpreter()
        peer = (None, None)
        if python is not None:
            wall, memory, text = cost([python, "-c", _PEER_CODE, str(tmio), "-e", "no", "-f", "10"], folder)
            peer = (wall, memory)
            print(f"{PEER}: {_answer_line(text)}", file=sys.stderr)
        ours = [sys.executable, "-m", "iotide", "detect", "--json"]
        reference = [*ours, "--method", "reference", "--sampling", "point", "--mode", "write"]
        for label, command, path in (
            ("detect, 1 M requests (TMIO)", ours, tmio),
            ("detect --method reference, the same", reference, tmio),
            ("detect, all analyses, the same", [*ours, "--strongest", "9", "--wavelet", "--autocorrelation"], tmio),
            ("detect, 1 M calls (JSON lines)", ours, calls),
        ):
            wall, memory, text = cost([*command, str(path)], folder)
            found = json.loads(text)["prediction"]
            print(f"{label}: {found['period_s']}, confidence {found['confidence']:.3f}", file=sys.stderr)
            theirs = peer if path is tmio else (None, None)
            figures.append(Figure(f"{label}, wall", wall, "s", "< 2.4 s", PEER, theirs[0], better="lower"))
            figures.append(Figure(f"{label}, memory", memory, "MB", "< 1.1 GB", PEER, theirs[1], better="lower"))
    return figures


def _answer_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.startswith("Frequency:")), "no answer found")


if __name__ == "__main__":
    report(measure())
