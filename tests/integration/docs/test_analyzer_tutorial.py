"""The analyzer of the documentation: it satisfies the contract, and a running aggregator uses it."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
import types
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from iotide.analyzers.pipeline.analysis_queue import QueuedEvents
from iotide.analyzers.pipeline.contract import AnalyzerKind, Reporting
from iotide.analyzers.pipeline.numbering import JobNames
from iotide.analyzers.pipeline.snapshots import restore, snapshot
from iotide.analyzers.registry import ANALYZERS
from iotide.cli.main import group
from iotide.daemon.settings import AggregatorSettings, load_settings
from iotide.events import ConfigError, EventBatch, FileInfo, FileType, Kind, StreamInfo, make_batch
from support.jobs.analyzer_kinds import context
from support.places import ROOT
from support.servers.running_aggregator import Fed, asking, feeding, serving, until

PAGE = ROOT / "docs" / "analyzers.md"
MODULE = "iotide.analyzers.hours.update"
HOUR_NS = 3600 * 10**9


@pytest.fixture
def hours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AnalyzerKind:
    """The module of the page, in the registry."""
    code = "\n\n".join(re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL))
    file = tmp_path / "update.py"
    file.write_text(code)
    package = types.ModuleType("iotide.analyzers.hours")
    package.__path__ = [str(tmp_path)]
    monkeypatch.setitem(sys.modules, package.__name__, package)
    spec = importlib.util.spec_from_file_location(MODULE, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, MODULE, module)
    spec.loader.exec_module(module)
    kind: AnalyzerKind = module.KIND
    monkeypatch.setitem(ANALYZERS, kind.name, kind)
    return kind


def calls(hour: int, count: int) -> EventBatch:
    numbers = np.arange(count)
    return make_batch(
        count,
        {
            "start": (24 * 20_000 + hour) * HOUR_NS + numbers,
            "duration": 10**6,
            "call": 1,
            "kind": np.where(numbers % 2, int(Kind.WRITE), int(Kind.OTHER)),
            "layer": 1,
            "file": 1,
            "bytes": 1000 * (numbers % 2),
        },
    )


def test_it_sums_up_by_hour_and_goes_on_from_a_snapshot(hours: AnalyzerKind) -> None:
    names = JobNames(5, 5)
    names.call("write")
    names.file(FileInfo("/scratch/x", FileType.REGULAR))
    analyzer = hours.make(context(names))
    info = StreamInfo(job="j", source="test")
    assert analyzer is not None
    analyzer.update(QueuedEvents.of(calls(3, 10), "s", info))
    again = restore(snapshot(analyzer))
    again.update(QueuedEvents.of(calls(14, 4), "s", info))
    again.update(QueuedEvents.of(calls(3, 2), "s", info))
    assert isinstance(again, Reporting)
    assert again.deferred_result()().model_dump() == {
        "job": "j",
        "hours": [
            {"hour": 3, "calls": 6, "bytes": 6000, "seconds": 0.006},
            {"hour": 14, "calls": 2, "bytes": 2000, "seconds": 0.002},
        ],
    }


@pytest.mark.usefixtures("hours")
def test_command_runs_it_on_finished_traces(tmp_path: Path) -> None:
    lines = [
        b'{"call": "write", "path": "/scratch/f", "start": %d, "dur": 0.5, "size": 1000, "pid": %d, "tid": 7}\n'
        % (24 * 3600 * 20_000 + 3600 * hour, pid)
        for hour, pid in ((3, 7), (14, 7), (3, 8), (2, 8))  # not in order of time
    ]
    trace = tmp_path / "nightly.jsonl"
    trace.write_bytes(b"".join(lines))
    expected = [(2, 1), (3, 2), (14, 1)]
    done = CliRunner().invoke(group, ["analyze", "hours", "--json", str(trace)])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert [(each["hour"], each["calls"]) for each in told["hours"]] == expected
    shown = CliRunner().invoke(group, ["analyze", "hours", str(trace)])
    table = [line.split() for line in shown.stdout.splitlines() if line.strip() and line.split()[0].isdigit()]
    assert [(int(row[0]), int(row[1])) for row in table] == expected
    assert "job: nightly" in shown.stdout


@pytest.mark.usefixtures("hours")
@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["days"], "known: advice, filesystems, heatmap, hours"),
        (["totals"], "known: advice, filesystems, heatmap, hours"),
        (["hours", "--set", "enabled"], "expected NAME=VALUE"),
        (["hours", "--set", "enable=yes"], "analyzers.hours.enable"),
        (["hours", "--set", "enabled=no"], "switched off"),
        (["hours", "--set", "enabled=no", "http://127.0.0.1:1/jobs/x"], "without --format and --set"),
    ],
)
def test_command_reports_the_error(words: list[str], told: str, tmp_path: Path) -> None:
    trace = tmp_path / "a.jsonl"
    trace.write_bytes(b'{"call": "write", "path": "/f", "start": 1, "dur": 0.5, "size": 1, "pid": 7, "tid": 7}\n')
    done = CliRunner().invoke(group, ["analyze", *words, *([] if "http" in words[-1] else [str(trace)])])
    assert done.exit_code == 2 or isinstance(done.exception, ConfigError), done.output
    assert told in done.output + str(done.exception)


@pytest.mark.usefixtures("hours")
async def test_running_aggregator_serves_it() -> None:
    source = Fed()
    async with (
        serving() as server,
        asking(server) as client,
        feeding(server, source),
    ):
        source.open("s", "job")
        source.periodic("s")
        await until(lambda: "job" in server.aggregator.jobs and server.aggregator.jobs["job"].analyzers.events == 120)
        told = (await client.get("/api/v1/jobs/job/hours")).json()
        assert sum(each["bytes"] for each in told["hours"]) == 120_000_000
        document = (await client.get("/api/v1/openapi.json")).json()
        assert "/api/v1/jobs/{job}/hours" in document["paths"]
        assert "Hours" in document["components"]["schemas"]
        assert (await client.get("/api/v1/jobs/nobody/hours")).status_code == 404


@pytest.mark.usefixtures("hours")
async def test_it_is_switched_off_by_its_own_table() -> None:
    source = Fed()
    async with (
        serving(analyzers={"hours": {"enabled": False}}) as server,
        asking(server) as client,
        feeding(server, source),
    ):
        source.open("s", "job")
        source.periodic("s")
        await until(lambda: "job" in server.aggregator.jobs and server.aggregator.jobs["job"].analyzers.events == 120)
        answer = await client.get("/api/v1/jobs/job/hours")
        assert answer.status_code == 404
        assert "analyzers.hours" in answer.json()["expected"]


@pytest.mark.usefixtures("hours")
@pytest.mark.parametrize(
    ("tables", "named"),
    [
        ({"hours": {"enabled": "perhaps"}}, "analyzers.hours.enabled"),
        ({"hours": {"enable": True}}, "analyzers.hours.enable"),
        (
            {"days": {}},
            "analyzers.days: no analyzer has settings of this name; known: advice, filesystems, heatmap, hours",
        ),
    ],
)
def test_wrong_settings_are_refused_by_name(tables: dict[str, object], named: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(named)):
        AggregatorSettings.model_validate({"analyzers": tables})


@pytest.mark.usefixtures("hours")
def test_environment_reaches_its_table() -> None:
    made = load_settings(None, {"IOTIDE_SERVE_ANALYZERS__HOURS__ENABLED": "false"})
    assert made.analyzers == {"hours": {"enabled": "false"}}
