"""Write checkpoints at a rhythm, and print start and end of each as ``phase START END``, Unix ns.

Usage: checkpoints.py PREFIX WRITER RHYTHM PERIOD_S COUNT [SEED]. WRITER: numpy (a file per checkpoint), hdf5 (one
growing file). RHYTHM: even, jitter (distances vary by 10 %), pause (eight periods, once), drift (each distance is 3 %
longer), missing (one checkpoint in eight is left out), late (one in eight comes half a period late, and delays the
others).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

PARTS = 6
PART = np.zeros(150_000)
WRITING = 0.1  # share of the period


def writer_of(name: str, prefix: str) -> Callable[[int, int], None]:
    """Return a function that writes one part of a checkpoint."""
    if name == "numpy":
        return lambda number, part: np.save(f"{prefix}-{number:04}-{part}.npy", PART)
    import h5py

    file = h5py.File(Path(f"{prefix}.h5"), "w")

    def append(number: int, part: int) -> None:
        file.create_dataset(f"step{number:04}/part{part}", data=PART)
        file.flush()

    return append


def distances(rhythm: str, count: int, seed: int) -> np.ndarray:
    """Return the time from each checkpoint to the next, in periods."""
    steps = np.ones(count)
    rng = np.random.default_rng(seed)
    if rhythm == "jitter":
        steps = np.maximum(rng.normal(1, 0.1, count), 0.3)
    elif rhythm == "pause":
        steps[count // 2] = 9
    elif rhythm == "drift":
        steps = 1.03 ** np.arange(count)
    elif rhythm == "missing":
        steps[3::8] = 2
    elif rhythm == "late":
        steps[3::8] = 1.5
    return steps


def main() -> None:
    prefix, name, rhythm, period_s, count = sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4]), int(sys.argv[5])
    steps = distances(rhythm, count, int(sys.argv[6]) if len(sys.argv) > 6 else 1)
    write = writer_of(name, prefix)
    due = time.monotonic() + period_s
    phases = []
    for number in range(count):
        time.sleep(max(due - time.monotonic(), 0))
        start = time.time_ns()
        for part in range(PARTS):
            write(number, part)
            time.sleep(WRITING * period_s / PARTS)
        phases.append((start, time.time_ns()))
        due += period_s * float(steps[number])
    print("".join(f"phase {start} {end}\n" for start, end in phases), end="")


if __name__ == "__main__":
    main()
