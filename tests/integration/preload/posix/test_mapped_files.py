"""Loads and stores of mapped files are no calls: lengths of mappings are reported beside the bytes moved by calls."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from support.system.commands import plain_environment
from support.tracing.programs import need

STORING = """
import numpy
memory = numpy.memmap("data", dtype=numpy.uint8, mode="w+", shape=(8_000_000,))
memory[:] = 1
memory.flush()
"""

LOADING = """
import numpy
for name in "abb":
    print(int(numpy.memmap(name, dtype=numpy.uint8, mode="r").sum()))
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


def check_told_everywhere(folder: Path, script: str, sentence: str) -> dict[str, Any]:
    (folder / "script.py").write_text(script)
    done = iotide(folder, "run", "-o", "report", "--json", "run.json", "--", sys.executable, "script.py")
    assert done.returncode == 0, done.stderr
    assert f"iotide: {sentence}\n" in done.stderr
    assert "iotide: no call was lost, no program was left untraced\n" in done.stderr
    report = (folder / "report" / "report.html").read_text()
    assert sentence[1:] in report
    assert "Nothing is known to be missing" not in report
    (archive,) = (folder / "report").glob("*.iotide")
    assert sentence in iotide(folder, "detect", archive, "--plot", "detected.html").stdout
    job: dict[str, Any] = json.loads((folder / "run.json").read_text())["job"]
    assert json.loads(iotide(folder, "detect", archive, "--json").stdout)["not_counted"] == job["not_counted"]
    assert sentence in (folder / "detected.html").read_text()
    return job


def test_numpy_stores_to_a_mapped_file_are_in_the_summary_the_report_and_the_archive(tmp_path: Path) -> None:
    stores = "stores to 8.0 MB of mapped files (msync wrote back at most 8.0 MB)"
    job = check_told_everywhere(tmp_path, STORING, f"not seen: {stores}, loads from 8.0 MB of 1 mapped file")
    assert (job["not_counted"]["mapped_for_writing"], job["not_counted"]["flushed_at_most"]) == (8_000_000, 8_000_000)
    assert job["bytes_written"] < 100


def test_strace_of_mapped_files_has_the_lengths_that_the_tracer_has(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(STORING)
    record = [need("strace"), "-f", "-ttt", "-T", "-y", "-o", "script.st", sys.executable, "script.py"]
    subprocess.run(record, cwd=tmp_path, env=plain_environment(), check=True)
    detected = iotide(tmp_path, "detect", "script.st")
    # strace names no file of an msync
    assert "not seen: stores to 8.0 MB of mapped files, loads from 8.0 MB of 1 mapped file\n" in detected.stdout


def test_numpy_loads_from_mapped_files_are_in_the_summary_the_report_and_the_archive(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\1" * 3_000_000)
    (tmp_path / "b").write_bytes(b"\1" * 1_000_000)
    job = check_told_everywhere(tmp_path, LOADING, "not seen: loads from 5.0 MB of 2 mapped files")
    facts = {name: job["not_counted"][name] for name in ("mapped_for_reading", "files_mapped_for_reading")}
    assert facts == {"mapped_for_reading": 5_000_000, "files_mapped_for_reading": 2}
    assert job["not_counted"]["mapped_for_writing"] == 0
    assert job["bytes_read"] < 10_000
