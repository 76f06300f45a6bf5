"""Bytes a call that an archive takes, beside what others write for the same calls."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from _figures import Figure, report

WRITES = 100_000
PROGRAM = """
import os, random, sys
fd = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT)
block = bytes(64)
for i in range({writes}):
    os.pwrite(fd, block, 64 * ({offset}))
"""
PATTERNS = {
    "sequential offsets": "i",
    "a cycle of 4096 offsets": "i % 4096",
    "random offsets": "random.randrange(1 << 20)",
}


def iotide(*arguments: str | Path) -> str:
    """Runs a sub-command."""
    done = subprocess.run(
        [sys.executable, "-m", "iotide", *map(str, arguments)], check=True, capture_output=True, text=True
    )
    return done.stdout


def archived(folder: Path, offset: str) -> tuple[dict[str, Any], Path]:
    """Traces the program and returns what ``iotide archive info`` says of its archive, and the archive."""
    program = folder / "program.py"
    program.write_text(PROGRAM.format(writes=WRITES, offset=offset))
    run = folder / "run"
    iotide("run", "--quiet", "-o", run, "--", sys.executable, "-S", "-E", program, folder / "out")
    (archive,) = run.glob("*.iotide")
    return json.loads(iotide("archive", "info", "--json", archive)), archive


def measure() -> list[Figure]:
    """Returns bytes a call: with times, without, and of the same calls as compressed JSON lines."""
    figures = []
    for name, offset in PATTERNS.items():
        with tempfile.TemporaryDirectory() as made:
            about, archive = archived(Path(made), offset)
            lines = iotide("archive", "dump", archive).encode()
            calls = about["calls"]
            whole = about["bytes"] / calls
            figures += [
                Figure(
                    f"archive: {name}",
                    whole,
                    "bytes/call",
                    "",
                    "gzip of JSON lines",
                    len(gzip.compress(lines)) / calls,
                    "lower",
                ),
                Figure(
                    f"archive: {name}, without times", (about["bytes"] - about["bytes_of_times"]) / calls, "bytes/call"
                ),
            ]
    return figures


if __name__ == "__main__":
    report(measure())
