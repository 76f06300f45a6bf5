"""I/O tracers for benchmark programs: ours, and other installed ones."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from iotide.collectors.source import Origin
from iotide.collectors.sources.preload.source import PreloadSource
from iotide.collectors.tracer.preload_environment import traced_environment

LIMIT_S = 120


@dataclass(frozen=True, slots=True)
class Tracer:
    """How to start a program under one of them, and where it stores its trace."""

    name: str
    prefix: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    output: Path | None = None
    slow: bool = False
    """Tens of microseconds per call, also for calls that bypass libc: fewer calls are made, beside a bare run."""

    def written(self) -> int:
        """Return the size of the stored trace in bytes, and remove it."""
        if self.output is None or not self.output.exists():
            return 0
        size = sum(path.stat().st_size for path in self.output.rglob("*") if path.is_file())
        shutil.rmtree(self.output)
        return size


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


def bare_environment() -> dict[str, str]:
    """Return our environment without the variables of any tracer.

    It lets Python store bytecode, as an installed iotide has some. Without it each start compiles all modules, which
    takes longer than all else.
    """
    drop = ("LD_PRELOAD", "IOTIDE_", "PYTHONDONTWRITEBYTECODE")
    return {name: value for name, value in os.environ.items() if not name.startswith(drop)}


def ours(gate: Path, **settings: Any) -> Tracer:
    """Return iotide with a collector behind ``gate``."""
    from iotide.collectors.settings import TracerSettings

    made = traced_environment({}, gate, "bench", TracerSettings.model_validate(settings))
    return Tracer("iotide", environment=made)


def peers(folder: Path) -> list[Tracer]:
    """Return the other installed tracers, and print the missing ones.

    DARSHAN_LIBRARY and DFTRACER_LIBRARY name preload libraries outside of this Python.
    """
    found: list[Tracer] = []
    out = folder / "out"
    if library := os.environ.get("DARSHAN_LIBRARY"):
        variables = {"LD_PRELOAD": library, "DARSHAN_ENABLE_NONMPI": "1", "DARSHAN_LOGPATH": str(out)}
        found.append(Tracer("darshan", environment=variables, output=out))
    if library := os.environ.get("DFTRACER_LIBRARY") or _dftracer_library():
        variables = {
            "LD_PRELOAD": library, "DFTRACER_ENABLE": "1", "DFTRACER_INIT": "PRELOAD", "DFTRACER_DATA_DIR": "all",
            "DFTRACER_LOG_FILE": str(out / "trace"),
        }  # fmt: skip
        found.append(Tracer("dftracer", environment=variables, output=out))
    programs = {
        "eztrace": ["-o", str(out), "-t", "posixio"],
        "uftrace": ["record", "--force", "--no-event", "-d", str(out / "uftrace")],
        "perf": ["trace", "-o", str(out / "perf"), "-e", "openat,pwrite64,close"],
        "strace": ["-f", "-ttt", "-T", "-y", "-e", "trace=openat,pwrite64,close", "-o", str(out / "strace")],
        "ltrace": ["-f", "-ttt", "-T", "-e", "open+pwrite+close", "-o", str(out / "ltrace")],
    }
    for name, options in programs.items():
        program = shutil.which(name)
        if program is None:
            print(f"{name} is not installed: no peer", file=sys.stderr)
            continue
        found.append(Tracer(name, [program, *options], output=out, slow=name in ("perf", "strace", "ltrace")))
    return found


def _dftracer_library() -> str | None:
    spec = importlib.util.find_spec("dftracer")
    for place in spec.submodule_search_locations or [] if spec else []:
        for library in sorted(Path(place).rglob("libdftracer_preload.so*")):
            return str(library)
    print("dftracer is not installed: no peer", file=sys.stderr)
    return None
