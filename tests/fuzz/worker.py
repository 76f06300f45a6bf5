"""Run targets on seeded inputs in a separate process: ``python -m fuzz.worker TARGET ... --seed N``.

The current input is stored in a file, so that an input that ends the process is known. Prints the result of each target
on a line, as JSON; exits with 1 if an input caused a failure.
"""

from __future__ import annotations

import argparse
import json
import logging
import mmap
import random
import resource
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from . import sanitizing
from .mutation import MOST_BYTES
from .registry import TARGETS
from .target import Target

BOUND_S = 10.0
"""Maximum processor time for one input, s."""
MOST_MEMORY = 1 << 30
"""Maximum memory beyond that of the process before the first input, bytes."""
_MOST_GROWTH = 512 << 20
_SIZE = 4


class HungError(BaseException):
    """An input took longer than the bound; no error handler catches it as its own."""


def main() -> None:
    options = _options()
    logging.disable()
    if options.sanitized is not None:
        sanitizing.use(options.sanitized)
    if options.input is not None:
        TARGETS[options.targets[0]].run(options.input.read_bytes())
        return
    broken = False
    for name in options.targets:
        target = TARGETS[name]
        found = Running(target, options.under_way).go(
            options.seed, options.inputs or target.quick, options.time, options.sanitized is None
        )
        print(json.dumps(found), flush=True)
        broken = broken or bool(found["defect"])
    sys.exit(broken)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", choices=sorted(TARGETS), nargs="+")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--inputs", type=int, default=0, help="number of inputs per target; 0: as in `make test`")
    parser.add_argument("--time", type=float, default=float("inf"), help="seconds per target")
    parser.add_argument("--under-way", type=Path, help="file for the current input")
    parser.add_argument("--input", type=Path, help="run only this input")
    parser.add_argument("--sanitized", type=Path, help="folder with helpers that have sanitizers; without memory bound")
    return parser.parse_args()


class Running:
    """Inputs of one target, one after the other."""

    def __init__(self, target: Target, under_way: Path | None) -> None:
        self._target = target
        self._held: mmap.mmap | None = None
        if under_way is not None:
            with under_way.open("wb+") as file:
                file.truncate(_SIZE + MOST_BYTES + (1 << 20))
                self._held = mmap.mmap(file.fileno(), 0)

    def go(self, seed: int, inputs: int, most_s: float, limits: bool) -> dict[str, object]:
        """Run inputs until one fails; return their number, and the failure."""
        target = self._target
        for each in target.corpus:
            target.run(each)
        if limits:
            _bound_memory()
        if not target.corpus:  # the library that makes inputs is not installed here
            return {"target": target.name, "seed": seed, "inputs": 0, "seconds": 0.0, "memory": 0, "defect": ""}
        before = _resident()
        begun, done, defect = time.monotonic(), 0, ""
        end = begun + most_s
        signal.signal(signal.SIGPROF, _give_up)
        while done < inputs and time.monotonic() < end and not defect:
            data = target.input(random.Random(f"{target.name} {seed} {done}"))
            self._note(data)
            done += 1
            defect = self._run(data)
            if not defect and limits and _resident() - before > _MOST_GROWTH:
                defect = f"{_resident() - before} bytes of memory are taken"
        took_s = time.monotonic() - begun
        return {
            "target": target.name,
            "seed": seed,
            "inputs": done,
            "seconds": round(took_s, 2),
            "memory": _resident() - before,
            "defect": defect,
        }

    def _run(self, data: bytes) -> str:
        try:
            with _bounded_time():
                self._target.run(data)
        except (Exception, HungError):
            return traceback.format_exc()
        return ""

    def _note(self, data: bytes) -> None:
        if self._held is not None and len(data) + _SIZE <= len(self._held):
            self._held[_SIZE : _SIZE + len(data)] = data
            self._held[:_SIZE] = len(data).to_bytes(_SIZE, "little")


def noted(path: Path) -> bytes:
    """Return the current input."""
    content = path.read_bytes()
    return content[_SIZE : _SIZE + int.from_bytes(content[:_SIZE], "little")]


def _give_up(number: int, frame: FrameType | None) -> None:
    raise HungError(f"more than {BOUND_S} s of processor time")


@contextmanager
def _bounded_time() -> Iterator[None]:
    """Raise after the bound; if compiled code does not return, the second signal ends the process."""
    signal.setitimer(signal.ITIMER_PROF, BOUND_S)
    signal.setitimer(signal.ITIMER_VIRTUAL, 3 * BOUND_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)


def _resident() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def _bound_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + MOST_MEMORY
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


if __name__ == "__main__":
    main()
