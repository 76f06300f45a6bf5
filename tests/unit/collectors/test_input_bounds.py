"""Bounds of inputs: calls beyond them are reported with every finished trace, whatever its format."""

from __future__ import annotations

import json
from pathlib import Path

import iotide
import pytest
from click.testing import CliRunner
from iotide.cli.main import group

SOURCES = "iotide.collectors.sources."
CALLS = 5


def call(process: int) -> dict[str, object]:
    return {
        "call": "write", "path": "/x", "start": 1.0 + process, "dur": 0.5, "size": 9, "job": "j", "pid": process,
        "stream": f"p{process}",
    }  # fmt: skip


def record(process: int) -> dict[str, object]:
    return {
        "id": process, "name": "write", "cat": "POSIX", "pid": process, "tid": process, "ts": 10 + process, "dur": 5,
        "ph": "X", "args": {"hhash": "n1", "ret": 9},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "bound", "what"),
    [
        ("a.jsonl", "jsonl.parser.MAX_STREAMS", "streams"),
        ("a.pfw", "dftracer.parser.MAX_STREAMS", "processes"),
        ("a.json", "chrome.parser.MAX_STREAMS", "processes"),
        ("a.parquet", "eventlog.parquet_calls.MAX_STREAMS", "processes"),
        ("a.csv", "eventlog.cases.MAX_STREAMS", "cases"),
    ],
)
def test_calls_beyond_the_bound_of_streams_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, bound: str, what: str
) -> None:
    lines, path = tmp_path / "lines.jsonl", tmp_path / name
    lines.write_text("".join(json.dumps(call(process)) + "\n" for process in range(1, CALLS + 1)))
    if name == "a.jsonl":
        lines.rename(path)
    elif name == "a.pfw":
        path.write_text("[\n" + "".join(json.dumps(record(process)) + "\n" for process in range(1, CALLS + 1)))
    else:
        write = ["dfg", "--log", path, lines] if name == "a.csv" else ["archive", "convert", "-o", path, lines]
        done = CliRunner().invoke(group, [str(each) for each in write])
        assert done.exit_code == 0, done.output
    form = "dftracer" if name == "a.pfw" else None
    assert iotide.open(path, format=form).problems == []
    monkeypatch.setattr(SOURCES + bound, 2)
    found = iotide.open(path, format=form)
    assert found.calls == 2
    assert found.problems == [f"{path}: 3 calls of further {what} left out; expected at most 2 {what}"]
