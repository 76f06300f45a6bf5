"""Advice beside Drishti on the logs of the PyDarshan package; writes the table of docs/drishti.md.

``DRISHTI`` names the program, in its own virtual environment (``pip install drishti-io``). Its output with ``--issues
--code`` is used unchanged. The judgement below the table is by hand.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from iotide.benchmarks.common.figures import Figure, report

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from support.formats.darshan_package import FOLDER

PAGE = Path(__file__).parents[2] / "docs/drishti.md"
BEGIN, END = "<!-- table -->", "<!-- end of table -->"
LONGEST = 40
DESCRIBING = frozenset({"P01", "P02", "P03", "P04", "P11", "P12", "P13", "P14", "M02", "M03", "M04", "M05"})
"""Codes that describe the program's behaviour and no problem."""
ALWAYS = frozenset({"M06", "M07"})
"""Codes that occur with each use of blocking MPI-IO."""


def logs() -> list[Path]:
    """Return the logs, each name once."""
    return list({path.name: path for path in sorted(FOLDER.rglob("*.darshan"))}.values())


def codes_of(path: Path, drishti: str) -> list[str] | None:
    """Return the codes in Drishti's output, or None if it fails."""
    with tempfile.TemporaryDirectory() as folder:
        command = [drishti, "--issues", "--code", "--size", "240", "--export_dir", folder, str(path)]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, cwd=folder)
    if ran.returncode:
        return None
    return sorted(set(re.findall(r"▶ \[([A-Z]\d\d)\]", ran.stdout)))


def advice_of(path: Path) -> dict[str, Any]:
    """Return the output of ``iotide advise``."""
    command = [sys.executable, "-m", "iotide", "advise", "--json", str(path)]
    advice: dict[str, Any] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return advice


def row(path: Path, codes: list[str] | None, advice: dict[str, Any]) -> str:
    """Return a row of the table."""
    name = path.stem if len(path.stem) <= LONGEST else f"{path.stem[: LONGEST - 3]}..."
    rest = [code for code in codes or [] if code not in DESCRIBING | ALWAYS]
    theirs = "fails" if codes is None else ", ".join(rest) or "-"
    ours = "; ".join(f"`{each['cause']}` ({each['gain_share']:.0%})" for each in advice["findings"]) or "-"
    return f"| {name} | {advice['run_s']:.3g} s | {advice['io_s']:.3g} s | {theirs} | {ours} |"


def measure() -> list[Figure]:
    """Run both on all logs, write the table, and return the counts."""
    drishti = os.environ.get("DRISHTI") or shutil.which("drishti")
    if drishti is None:
        raise SystemExit(
            "DRISHTI names no program: install it with `pip install drishti-io` in an environment of its own"
        )
    rows, says, finds = [], 0, 0
    for path in logs():
        codes, advice = codes_of(path, drishti), advice_of(path)
        says += bool(set(codes or []) - DESCRIBING - ALWAYS)
        finds += bool(advice["findings"])
        rows.append(row(path, codes, advice))
    head = "| log | run | in I/O, slowest | Drishti | iotide (of the run that it saves) |\n" + "| --- " * 5 + "|\n"
    before, _, rest = PAGE.read_text().partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n{head}{chr(10).join(rows)}\n{END}{after}")
    return [
        Figure("logs on which Drishti names an issue", says, f"of {len(rows)}"),
        Figure("logs on which iotide has a finding", finds, f"of {len(rows)}"),
    ]


if __name__ == "__main__":
    report(measure())
