"""``import iotide``: the same results as the commands, as objects; the examples in the document run."""

from __future__ import annotations

import asyncio
import json
import math
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import iotide
import numpy as np
import pytest
from iotide.api import Traces
from iotide.api.aggregator import Job
from iotide.events import ConfigError, InputError
from iotide.results.base import Model
from support.places import ROOT
from support.servers.running_aggregator import Fed, feeding, serving
from support.system.commands import iotide as command
from support.system.waiting import DEADLINE_S

DOCUMENT = (ROOT / "docs/python.md").read_text()
PHASES = """
import os, time
for _ in range(8):
    with open("ck", "wb", buffering=0) as file:
        for _ in range(5):
            file.write(bytes(40_000))
    time.sleep(0.25)
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of a real run by ``iotide run``."""
    folder = tmp_path_factory.mktemp("run")
    done = command("run", "-q", "--job", "ckpt", "--", sys.executable, "-c", PHASES, cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "iotide-ckpt"


@pytest.fixture(scope="module")
def traces(report: Path) -> Traces:
    return iotide.open(report)


def _told(traces: Traces, *words: str) -> Any:
    done = command(*words, "--json", *traces.paths, cwd=traces.paths[0].parent)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def _plain(result: Model) -> Any:
    return json.loads(result.model_dump_json())


@pytest.mark.parametrize("name", ["detect", "layers", "rank"])
def test_results_are_those_of_the_command(traces: Traces, name: str) -> None:
    assert _plain(getattr(traces, name)()) == _told(traces, name)


def test_graphs_are_those_of_the_command(traces: Traces) -> None:
    told = _told(traces, "dfg", "--map", "call", "--case", "host", "--filter", "kind=WRITE")
    assert _plain(traces.graph("call", case="host", filter="kind=WRITE")) == told["graph"]


def test_settings_are_those_of_the_command_and_checked(traces: Traces) -> None:
    assert _plain(traces.detect(mode="write", strongest=3)) == _told(
        traces, "detect", "--mode", "write", "--strongest", "3"
    )
    with pytest.raises(ConfigError, match="mode"):
        traces.detect(mode="sideways")
    with pytest.raises(ConfigError):
        traces.graph("no such thing")
    with pytest.raises(InputError, match="cannot be read"):
        traces.graph("rules:/no/such/file")


@pytest.mark.parametrize("name", ["detect", "rank"])
def test_settings_that_are_none_are_named(traces: Traces, name: str) -> None:
    with pytest.raises(ConfigError, match="nothing"):
        getattr(traces, name)(nothing=1)
    with pytest.raises(ConfigError, match=r"floor_share.*mtbf_s"):
        traces.advice(floor_share=math.nan, mtbf_s=-1)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_have_a_row_a_call(traces: Traces, library: str) -> None:
    pytest.importorskip(library)
    frame = getattr(traces, f"to_{library}")()
    assert len(frame) == traces.calls
    calls = [str(call) for call in frame["call"]]
    written = [size for size, kind in zip(frame["bytes"], frame["kind"], strict=True) if kind == "write"]
    assert calls.count("write") >= 40
    assert sum(written) == traces.detect().bytes_written + traces.detect().not_counted.channel_written
    moved = np.array([batch.bytes.sum() for _, batch in traces.batches()])
    assert int(np.asarray(frame["bytes"]).sum()) == int(moved.sum())


_COPIED = [
    {"call": "read", "path": "/scratch/a.py", "size": 10, "stream": "1", "command": "cp a.py b.py"},
    {"call": "read", "path": "/scratch/a.py", "size": 20, "stream": "2", "command": "python a.py"},
    {"call": "write", "path": "/scratch/out", "size": 40, "stream": "3", "command": "cp a.py b.py"},
]
"""Code that one program copies and another one executes."""


def _written(tmp_path: Path, calls: list[dict[str, Any]]) -> Path:
    path = tmp_path / "calls.jsonl"
    path.write_text("".join(json.dumps({"start": at, "dur": 0.5} | call) + "\n" for at, call in enumerate(calls)))
    return path


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_have_equal_texts_of_several_streams(library: str, tmp_path: Path) -> None:
    pytest.importorskip(library)
    frame = getattr(iotide.open(_written(tmp_path, _COPIED)), f"to_{library}")()
    rows = {
        (str(file), str(command)): size
        for file, command, size in zip(*map(frame.__getitem__, ("file", "command", "bytes")), strict=True)
    }
    assert rows == {(call["path"], call["command"]): call["size"] for call in _COPIED}


def test_results_do_not_depend_on_earlier_requests(tmp_path: Path) -> None:
    path = _written(tmp_path, _COPIED)
    asked = iotide.open(path)
    asked.detect(count="everything", system_paths=("/scratch/",))
    for name in ("graph", "advice", "layers", "rank", "detect"):
        assert getattr(asked, name)() == getattr(iotide.open(path), name)(), name


def test_what_is_no_result_is_refused_before_it_is_shown() -> None:
    with pytest.raises(TypeError, match="int: not a result"):
        iotide.show(42)  # type: ignore[arg-type]


def test_results_are_shown_as_text_and_as_a_page(traces: Traces) -> None:
    results = (traces.detect(), traces.layers(), traces.graph(), traces.rank())
    for result in results:
        shown = iotide.show(result)
        assert shown.result is result
        assert str(shown).strip()
        assert re.match("<(iframe|pre)", shown._repr_html_())
    assert "period" in str(iotide.show(results[0]))


def test_unreadable_input_is_an_error_with_the_expected_formats(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing was named"):
        iotide.open()
    with pytest.raises(InputError, match="cannot be read"):
        print(iotide.open(tmp_path / "none").calls)
    broken = tmp_path / "broken.jsonl"
    broken.write_text('{"start": 1, "dur": 1, "call": "write", "size": 10}\nnonsense\n')
    half = iotide.open(broken)
    assert half.calls == 1
    assert "broken.jsonl" in half.problems[0]


def test_commands_start_without_it() -> None:
    assert {"open", "connect", "show"} <= set(dir(iotide))
    with pytest.raises(AttributeError, match="nothing"):
        iotide.nothing  # type: ignore[attr-defined]  # noqa: B018


def _blocks(heading: str) -> Iterator[str]:
    section = DOCUMENT.partition(f"## {heading}")[2].partition("\n## ")[0]
    yield from re.findall(r"^```python\n(.*?)^```", section, re.DOTALL | re.MULTILINE)


def test_documented_examples_on_traces_run(
    report: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(report.parent)
    shared: dict[str, Any] = {}
    for heading in ("Finished traces", "Calls as frames"):
        for block in _blocks(heading):
            exec(compile(block, "docs/python.md", "exec"), shared)
    assert "write" in capsys.readouterr().out


def _has_period(job: Job) -> bool:
    try:
        return job.prediction().period_s is not None
    except InputError:  # there is no prediction yet
        return False


async def test_documented_examples_on_running_jobs_run(capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = _blocks("Running jobs")
    source = Fed()
    async with serving() as server, feeding(server, source):
        source.open("s", "ckpt")
        source.periodic("s")
        aggregator = iotide.connect(server.http_url or "")
        async with asyncio.timeout(DEADLINE_S):
            while not any(job.bytes_written for job in await asyncio.to_thread(aggregator.jobs)):
                await asyncio.sleep(0.05)
            while not await asyncio.to_thread(_has_period, aggregator.job("ckpt")):
                await asyncio.sleep(0.05)
        text = block.replace("http://127.0.0.1:9788", server.http_url or "")
        await asyncio.to_thread(exec, compile(text, "docs/python.md", "exec"), {"iotide": iotide})
        job = aggregator.job("ckpt")
        results = [job.graph, job.layers, job.rank, job.advice, job.prediction, aggregator.contention]
        for result in [await asyncio.to_thread(each) for each in results]:
            assert str(iotide.show(result)).strip(), type(result)
            assert re.match("<(iframe|pre)", iotide.show(result)._repr_html_())
        assert await asyncio.to_thread(job.ledger)
        with pytest.raises(InputError, match="ckpt"):
            await asyncio.to_thread(aggregator.job("other").prediction)
    assert "ckpt running" in capsys.readouterr().out
