"""Timestamps of strace that are too coarse for a command: whole seconds, and files with separate clocks."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from iotide.cli.main import group

MINUTE = 60


def _written(path: Path, stamps: list[str]) -> Path:
    lines = [f'7 {stamp} write(3</data/x>, "", 4096) = 4096 <0.000020>\n' for stamp in stamps]
    path.write_text("".join(lines))
    return path


def _clock(seconds: float) -> str:
    return time.strftime("%H:%M:%S", time.gmtime(seconds))


def test_whole_seconds_claim_no_period_of_seconds(tmp_path: Path) -> None:
    stamps = [_clock(0.7 * phase) for phase in range(40) for _ in range(5)]
    path = _written(tmp_path / "t.st", stamps)
    told = CliRunner().invoke(group, ["detect", str(path)])
    assert told.exit_code == 0
    assert "no period claimed" in told.output
    assert "whole seconds, which show no period below 10 s" in " ".join(told.output.split())
    made = json.loads(CliRunner().invoke(group, ["detect", "--json", str(path)]).stdout)["prediction"]
    assert (made["period_s"], made["confidence"], made["stamp_s"], made["others"]) == (None, 0.0, 1.0, [])


def test_whole_seconds_show_a_period_of_a_minute(tmp_path: Path) -> None:
    stamps = [_clock(MINUTE * phase + second) for phase in range(12) for second in range(6)]
    path = _written(tmp_path / "t.st", stamps)
    made = json.loads(CliRunner().invoke(group, ["detect", "--json", str(path)]).stdout)["prediction"]
    assert made["period_s"]["value"] == pytest.approx(MINUTE, rel=0.02)
    assert made["confidence"] > 0.5


@pytest.mark.parametrize("command", [("detect",), ("dfg",), ("report", "-o", "report.html"), ("archive", "convert")])
def test_separate_files_of_relative_times_are_refused(command: tuple[str, ...], tmp_path: Path) -> None:
    files = [str(_written(tmp_path / f"r.st.{pid}", ["0.000000", "0.5"])) for pid in (1, 2)]
    out = ["-o", str(tmp_path / "all.jsonl")] if command[0] == "archive" else []
    arguments = [each.replace("report.html", str(tmp_path / "report.html")) for each in command]
    told = CliRunner().invoke(group, [*arguments, *files, *out])
    assert told.exit_code != 0
    message = told.output + str(told.exception)
    assert "strace -r counts times from a file's own first line, so 2 files have no common clock" in message
    assert "strace -ff -ttt -T -y" in message
    assert CliRunner().invoke(group, ["detect", files[0]]).exit_code == 0
