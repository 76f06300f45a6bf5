"""Stores to mapped files are no calls: known facts about them are reported beside the bytes moved by calls."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from support.system.commands import plain_environment

SCRIPT = """
import numpy
memory = numpy.memmap("data", dtype=numpy.uint8, mode="w+", shape=(8_000_000,))
memory[:] = 1
memory.flush()
"""


def iotide(folder: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "iotide", *map(str, words)],
        cwd=folder,
        env=plain_environment(),
        capture_output=True,
        text=True,
        check=False,
    )


def test_numpy_stores_to_a_mapped_file_are_in_the_summary_the_report_and_the_archive(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    done = iotide(tmp_path, "run", "--quiet", "-o", "report", "--json", "run.json", "--", sys.executable, "script.py")
    assert done.returncode == 0, done.stderr
    sentence = "not seen: stores to 8.0 MB of mapped files (msync wrote back at most 8.0 MB)"
    assert f"iotide: {sentence}" in done.stderr
    job = json.loads((tmp_path / "run.json").read_text())["job"]
    assert (job["not_counted"]["mapped_for_writing"], job["not_counted"]["flushed_at_most"]) == (8_000_000, 8_000_000)
    assert job["bytes_written"] < 100
    assert sentence[1:] in (tmp_path / "report" / "report.html").read_text()
    (archive,) = (tmp_path / "report").glob("*.iotide")
    detected = iotide(tmp_path, "detect", archive)
    assert sentence in detected.stdout
