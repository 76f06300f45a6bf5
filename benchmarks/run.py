"""Run the benchmarks named as arguments (all by default), print the figures and append them to a results file."""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import json
import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from iotide.benchmarks.common.figures import Figure, report

HERE = Path(__file__).parent
SHARED = ("common", "generators", "programs")
"""Folders of shared code, which contain no benchmarks."""


def available() -> dict[str, str]:
    """Return the benchmarks' modules by their names, which are those of the budgets."""
    found = sorted(HERE.glob("*/*.py"), key=lambda path: path.stem)
    found = [path for path in found if path.parent.name not in SHARED and "\ndef measure(" in path.read_text()]
    return {path.stem: f"iotide.benchmarks.{path.parent.name}.{path.stem}" for path in found}


def machine() -> dict[str, object]:
    """Return the properties of machine and software that figures depend on."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=HERE, capture_output=True, text=True, check=False
    )
    model = next(
        (line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line),
        platform.machine(),
    )
    return {
        "commit": commit.stdout.strip(),
        "cpu": model,
        "cores": os.cpu_count(),
        "kernel": platform.release(),
        "python": platform.python_version(),
    }


def main() -> int:
    """Measure, print and record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one or more of {', '.join(available())}")
    parser.add_argument(
        "--results", type=Path, default=HERE / "results" / "figures.jsonl", help="file to append the figures to"
    )
    chosen = parser.parse_args()
    modules = available()
    if unknown := set(chosen.names) - set(modules):
        parser.error(f"no benchmark is called {', '.join(sorted(unknown))}")
    failed = []
    for name in chosen.names or modules:
        print(f"== {name}", flush=True)
        try:
            figures: list[Figure] = importlib.import_module(modules[name]).measure()
        except Exception as error:
            print(f"{name} failed: {type(error).__name__}: {error}", file=sys.stderr)
            failed.append(name)
            continue
        report(figures)
        chosen.results.parent.mkdir(parents=True, exist_ok=True)
        with chosen.results.open("a") as results:
            row = {
                "at": datetime.now(UTC).isoformat(timespec="seconds"),
                **machine(),
                "benchmark": name,
                "figures": [dataclasses.asdict(figure) | {"ratio": figure.ratio} for figure in figures],
            }
            results.write(json.dumps(row) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
