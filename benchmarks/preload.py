"""What tracing adds to one call: 64-byte pwrite to the page cache, bare, under iotide, and under the peers."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from _figures import Figure, report
from iotide.collectors.launch import traced_environment
from iotide.collectors.source import Origin
from iotide.collectors.sources.preload import PreloadSource

PAIRS = 7
ROUNDS, CALLS = 100, 5_000
SLOW_ROUNDS, SLOW_CALLS = 5, 400


@contextmanager
def collector(folder: Path) -> Iterator[tuple[Path, PreloadSource]]:
    """A collector in a thread that drains as ``iotide run`` does."""
    source = PreloadSource(folder / "tracer.sock", Origin(job="bench"))
    ended = threading.Event()

    def drain() -> None:
        while not ended.is_set():
            if not source.poll():
                ended.wait(0.005)

    draining = threading.Thread(target=drain)
    draining.start()
    try:
        yield folder / "tracer.sock", source
    finally:
        ended.set()
        draining.join()
        source.close()


def per_call(command: list[str], environment: Mapping[str, str]) -> float:
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def added(
    program: list[str], bare_env: Mapping[str, str], traced: list[str], traced_env: Mapping[str, str], pairs: int
) -> float:
    """Median over pairs of (traced - bare), ns a call; bare and traced alternate, so that drift hits both."""
    return statistics.median(per_call(traced, traced_env) - per_call(program, bare_env) for _ in range(pairs))


def measure() -> list[Figure]:
    figures = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        binary = folder / "pwrite"
        source_file = Path(__file__).with_name("_pwrite.c")
        subprocess.run(["gcc", "-O2", "-o", binary, source_file], check=True)
        bare_env = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
        program = [str(binary), str(folder / "data"), str(ROUNDS), str(CALLS)]
        bare = statistics.median(per_call(program, bare_env) for _ in range(PAIRS))
        figures.append(Figure("pwrite of 64 bytes, bare", bare, "ns/call", better="lower"))
        strace_ns = strace_added(binary, folder, bare_env)
        with collector(folder) as (gate, source):
            environment = traced_environment(bare_env, gate, "bench")
            ours = added(program, bare_env, program, environment, PAIRS)
        figures.append(Figure("added by iotide", ours, "ns/call", "<= 100 ns", "strace", strace_ns, better="lower"))
        dropped = sum(count for reason, count in source.counters.items() if reason.startswith("events_dropped"))
        seen = source.counters["events"]
        figures.append(Figure("share of calls dropped meanwhile", dropped / max(1, seen + dropped), "", better="lower"))
        for peer, environment in peers(bare_env, folder):
            peer_ns = added(program, bare_env, program, environment, 3)
            figures.append(
                Figure(f"added by iotide, beside {peer}", ours, "ns/call", "", peer, peer_ns, better="lower")
            )
    return figures


def strace_added(binary: Path, folder: Path, environment: Mapping[str, str]) -> float | None:
    strace = shutil.which("strace")
    if strace is None:
        print("strace is not installed: no peer", file=sys.stderr)
        return None
    program = [str(binary), str(folder / "data"), str(SLOW_ROUNDS), str(SLOW_CALLS)]
    traced = [strace, "-f", "-ttt", "-T", "-y", "-e", "trace=pwrite64", "-o", str(folder / "strace.out"), *program]
    return added(program, environment, traced, environment, 3)


def peers(environment: Mapping[str, str], folder: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Peers named by the environment: DARSHAN_LIBRARY, DFTRACER_LIBRARY (paths of their preload libraries)."""
    if library := os.environ.get("DARSHAN_LIBRARY"):
        yield (
            "darshan",
            {**environment, "LD_PRELOAD": library, "DARSHAN_ENABLE_NONMPI": "1", "DARSHAN_LOGPATH": str(folder)},
        )
    library = os.environ.get("DFTRACER_LIBRARY") or dftracer_library()
    if library:
        yield (
            "dftracer",
            {
                **environment,
                "LD_PRELOAD": library,
                "DFTRACER_ENABLE": "1",
                "DFTRACER_INIT": "PRELOAD",
                "DFTRACER_LOG_FILE": str(folder / "dftracer"),
                "DFTRACER_DATA_DIR": "all",
            },
        )
    else:
        print("dftracer is not installed: no peer", file=sys.stderr)


def dftracer_library() -> str | None:
    import importlib.util

    found = importlib.util.find_spec("dftracer")
    for place in found.submodule_search_locations or [] if found else []:
        for library in sorted(Path(place).rglob("libdftracer_preload.so*")):
            return str(library)
    return None


if __name__ == "__main__":
    report(measure())
