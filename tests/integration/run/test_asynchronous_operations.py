"""Asynchronous operations count once, at their completion: calls and sizes equal those that fio reports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.system.commands import iotide
from support.tracing.programs import need


@pytest.mark.parametrize("engine", ["libaio", "posixaio"])
def test_operations_are_those_of_fio(engine: str, tmp_path: Path) -> None:
    fio = need("fio")
    target = tmp_path / "data"
    job = ["--name=w", "--rw=write", "--bs=64k", "--size=4m", f"--ioengine={engine}", "--iodepth=4", "--thread"]
    done = iotide("run", "-o", "report", "--", fio, *job, f"--filename={target}", "--output-format=json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    own = json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0]["write"]
    assert "through 64 KiB writes" in done.stderr
    archive = next((tmp_path / "report").glob("*.iotide"))
    layers = json.loads(iotide("layers", "--json", archive, cwd=tmp_path).stdout)
    rows = [row for row in layers["layers"]["handles"] if row["file"] == str(target) and row["writes"]]
    assert [(row["writes"], row["bytes_written"]) for row in rows] == [(own["total_ios"], own["io_bytes"])]
    advice = json.loads(iotide("advise", "--json", archive, cwd=tmp_path).stdout)
    assert not [finding for finding in advice["findings"] if finding["cause"] in ("random", "small_requests")]
