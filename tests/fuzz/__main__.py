"""Long fuzzing runs: ``python -m fuzz --time 600`` with ``tests`` in PYTHONPATH. Targets share the time equally.

One line per target contains the number of tried inputs, and that of all runs with the same folder. Inputs that caused a
failure are stored, with the command to repeat it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from . import sanitizing
from .registry import TARGETS
from .worker import noted

_SLICE_S = 20.0
_START_S = 5.0
"""Maximum time until a process tries its first input on a busy machine, s."""


@dataclass
class Found:
    """Results of all runs."""

    inputs: Counter[str] = field(default_factory=Counter)
    seconds: Counter[str] = field(default_factory=Counter)
    defects: list[str] = field(default_factory=list)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", help="names, or prefixes of names; by default all")
    parser.add_argument("--time", type=float, default=600.0, help="total time, s")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="concurrent processes")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="seed of the first slice")
    parser.add_argument("--keep", type=Path, default=Path("build/fuzz"), help="folder for inputs that caused a failure")
    parser.add_argument("--sanitized", action="store_true", help="use helpers with sanitizers")
    options = parser.parse_args()
    names = [name for name in TARGETS if not options.targets or name.startswith(tuple(options.targets))]
    options.keep.mkdir(parents=True, exist_ok=True)
    helpers = options.keep / "sanitized" if options.sanitized else None
    if helpers is not None:
        sanitizing.build(helpers)
    found = fuzzed(names, options.time, options.jobs, options.seed, options.keep, helpers)
    totals = added_to_totals(options.keep / "totals.json", found.inputs)
    for name in names:
        rate = found.inputs[name] / max(found.seconds[name], 0.001)
        print(f"{name:20} {found.inputs[name]:>12,} inputs {rate:>8,.0f} a second {totals[name]:>12,} in all runs")
    print(f"{'together':20} {found.inputs.total():>12,} inputs, seeds from {options.seed} on")
    print(f"{'all runs':20} {totals.total():>12,} inputs")
    for defect in found.defects:
        print(defect)
    sys.exit(bool(found.defects))


def added_to_totals(path: Path, inputs: Counter[str]) -> Counter[str]:
    """Add the inputs of a run to those of all runs in a file, by target, and return the sums."""
    totals = Counter[str](json.loads(path.read_text()) if path.exists() else {}) + inputs
    path.write_text(json.dumps(totals, indent=1, sort_keys=True))
    return totals


def fuzzed(names: Sequence[str], most_s: float, jobs: int, seed: int, keep: Path, helpers: Path | None) -> Found:
    """Run slices of targets in turn until the time is over."""
    found, end, number = Found(), time.monotonic() + most_s, 0
    each_s = max(min(_SLICE_S, most_s * jobs / max(len(names), 1) - _START_S), 1.0)
    with ThreadPoolExecutor(jobs) as pool:
        while time.monotonic() < end:
            rounds = [(name, seed + number) for name in random.Random(seed + number).sample(names, len(names))]
            number += 1
            for _ in pool.map(
                lambda each: _slice(found, *each, min(each_s, end - time.monotonic()), keep, helpers), rounds
            ):
                pass
    return found


def _slice(found: Found, name: str, seed: int, most_s: float, keep: Path, helpers: Path | None) -> None:
    if most_s <= 0:
        return
    under_way = keep / f"{name}-{seed}"
    options = ["--seed", str(seed), "--time", str(most_s), "--inputs", str(10**12), "--under-way", str(under_way)]
    command = [sys.executable, "-m", "fuzz.worker", name, *options]
    environment = dict(os.environ)
    if helpers is not None:
        command += ["--sanitized", str(helpers)]
        environment |= sanitizing.environment()
    done = subprocess.run(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    told = json.loads(done.stdout.splitlines()[-1]) if done.stdout.rstrip().endswith("}") else {}
    found.inputs[name] += told.get("inputs", 0)
    found.seconds[name] += told.get("seconds", 0)
    if done.returncode == 0:
        under_way.unlink(missing_ok=True)
        return
    saved = keep / f"{name}-{seed}.input"
    saved.write_bytes(noted(under_way) if under_way.exists() else b"")
    under_way.unlink(missing_ok=True)
    what = told.get("defect") or f"ended with {done.returncode}\n{done.stdout[-4000:]}"
    found.defects.append(f"{name}, kept as {saved}: python -m fuzz.worker {name} --input {saved}\n{what}")


if __name__ == "__main__":
    main()
