"""Reading other tools' traces, beside the readers of these tools; CPU time of one process on both sides.

The dftracer trace is a real one, repeated many times. The Recorder trace is written from the format's description. The
Darshan log is the largest with DXT in Darshan's Python package. DFTRACER_PYTHON names an interpreter that has
dftracer.utils; RECORDER_READER names the library built from Recorder's reader.c.
"""

from __future__ import annotations

import ctypes
import gzip
import importlib.util
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from iotide.benchmarks.common.figures import Figure, report
from iotide.collectors.source import Chunk, Origin
from iotide.collectors.sources.registry import open_file, read_all

TESTS = Path(__file__).parents[2] / "tests"
ROUNDS = 5
TIMES_OVER = 2000
CALLS = 400_000
_DFTRACER = """
import sys, time
from dftracer.utils import TraceViewer
begun = time.process_time()
rows, _ = TraceViewer(sys.argv[1], index_path=sys.argv[2]).collect().shape
print(time.process_time() - begun)
"""
_DARSHAN = """
import sys, darshan
log = darshan.DarshanReport(sys.argv[1], read_all=False)
log.mod_read_all_dxt_records("DXT_POSIX", dtype="pandas")
"""


def calls_in(path: Path) -> int:
    return sum(len(item.batch) for item in read_all(open_file(path, Origin(job="j"))) if isinstance(item, Chunk))


def least_seconds(work: Callable[[], object], clock: Callable[[], float] = time.process_time) -> float:
    taken = []
    for _ in range(ROUNDS):
        begun = clock()
        work()
        taken.append(clock() - begun)
    return min(taken)


def dftracer(folder: Path) -> list[Figure]:
    data = gzip.decompress((TESTS / "data" / "dftracer-calls.pfw.gz").read_bytes()) * TIMES_OVER
    lines = data.count(b"\n")
    plain, packed = folder / "trace.pfw", folder / "trace.pfw.gz"
    plain.write_bytes(data)
    packed.write_bytes(gzip.compress(data, 6))
    figures = []
    for path in (plain, packed):
        ours = least_seconds(lambda: calls_in(path))  # noqa: B023
        peer = _dftracers_own(path, folder) if path is packed else None  # its reader accepts no other files
        name = f"dftracer, {path.suffix}"
        figures.append(Figure(name, lines / ours / 1e3, "k lines/s", "", "dftracer.utils", peer and lines / peer / 1e3))
    return figures


def _dftracers_own(path: Path, folder: Path) -> float | None:
    python = os.environ.get("DFTRACER_PYTHON")
    if python is None:
        print("DFTRACER_PYTHON is not set: no peer", file=sys.stderr)
        return None
    taken = []
    for number in range(ROUNDS):
        command = [python, "-c", _DFTRACER, str(path), str(folder / f"{path.name}.index{number}")]
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=300)
        taken.append(float(done.stdout.splitlines()[-1]))
    return min(taken)


def recorder(folder: Path) -> list[Figure]:
    sys.path.insert(0, str(TESTS))
    from support.formats.recorder_format import Call, write_trace

    calls = [
        Call(20 * at, 20 * at + 5, "pwrite", ("/scratch/x", "%p", "4096", str(4096 * (at % 64)))) for at in range(CALLS)
    ]
    trace = write_trace(folder / "recorder", [calls], "2.5.0")
    peer = None
    if library := os.environ.get("RECORDER_READER"):
        reader = ctypes.CDLL(library)
        reader.read_all_records.restype = ctypes.c_void_p
        counts, facts = (ctypes.c_size_t * 1)(), ctypes.create_string_buffer(64)
        peer = least_seconds(lambda: reader.read_all_records(str(trace).encode(), counts, facts))
    else:
        print("RECORDER_READER is not set: no peer", file=sys.stderr)
    ours = least_seconds(lambda: calls_in(trace))
    return [Figure("Recorder 2.5", CALLS / ours / 1e6, "M calls/s", "", "its reader.c", peer and CALLS / peer / 1e6)]


def darshan() -> list[Figure]:
    """A whole run of each, because nearly all of its time is the start of the library."""
    found = importlib.util.find_spec("darshan")
    if found is None or found.origin is None:
        print("darshan is not installed: no input", file=sys.stderr)
        return []
    log = Path(found.origin).parent / "examples" / "example_logs" / "dxt.darshan"
    command = [sys.executable, "-c", _DARSHAN, str(log)]
    ours = least_seconds(lambda: calls_in(log), time.perf_counter)
    peer = least_seconds(lambda: subprocess.run(command, check=True, timeout=300), time.perf_counter)
    return [Figure("Darshan, 7,623 segments", ours, "s", "", "PyDarshan", peer, better="lower")]


def measure() -> list[Figure]:
    with tempfile.TemporaryDirectory() as name:
        return [*dftracer(Path(name)), *recorder(Path(name)), *darshan()]


if __name__ == "__main__":
    report(measure())
