"""A run with more files than an aggregator distinguishes per job: each file has its name."""

from __future__ import annotations

import re
from pathlib import Path

from iotide.daemon.settings import AggregatorSettings
from iotide.results.jobs.run import RunSummary
from support.system.commands import iotide

_FILES = AggregatorSettings().max_files + 500
_SIZE = 1000
_PROGRAM = f"""
import os
for number in range({_FILES}):
    file = os.open(f"part/{{number}}", os.O_WRONLY | os.O_CREAT, 0o600)
    os.write(file, bytes({_SIZE}))
    os.close(file)
"""


def test_each_of_many_files_has_its_name(tmp_path: Path) -> None:
    (tmp_path / "part").mkdir()
    done = iotide("run", "-o", "report", "--", "python3", "-ISc", _PROGRAM, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    summary = RunSummary.model_validate_json((tmp_path / "report/summary.json").read_text())
    assert summary.job.bytes_written == _FILES * _SIZE
    written = re.search(r"iotide: ([\d.]+ \wB) written to ", done.stderr)
    assert written is not None, done.stderr
    assert written[1] == f"{_FILES * _SIZE / 1e6:.1f} MB"
    archive = next((tmp_path / "report").glob("*.iotide"))
    advice = iotide("advise", str(archive), cwd=tmp_path).stdout
    assert f"{_FILES:,} files of {_SIZE} B each in {tmp_path}/part" in advice
    assert f"{_FILES:,} files of {_SIZE} B each in {tmp_path}/part" in (tmp_path / "report/report.html").read_text()
