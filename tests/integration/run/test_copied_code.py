"""Python modules that tar packs are its data, and count; they were counted as imports of an interpreter."""

from __future__ import annotations

import json
from pathlib import Path

from support.system.commands import iotide
from support.tracing.programs import need


def test_modules_that_are_packed_count(tmp_path: Path) -> None:
    tar = need("tar")
    (tmp_path / "project").mkdir()
    for number in range(8):
        (tmp_path / "project" / f"m{number}.py").write_text("x = 1\n" * 4096)
    command = [tar, "-cf", tmp_path / "all.tar", "-C", tmp_path, "project"]
    done = iotide("run", "-o", "report", "--json", "run.json", "--", *command, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    job = json.loads((tmp_path / "run.json").read_text())["job"]
    assert job["bytes_read"] == 8 * 6 * 4096
    archive = next((tmp_path / "report").glob("*.iotide"))
    made = json.loads(iotide("detect", "--json", archive, cwd=tmp_path).stdout)
    assert made["bytes_read"] == job["bytes_read"]
