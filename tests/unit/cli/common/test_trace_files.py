"""Report folders of ``iotide run`` stand for their archives in all commands that read traces."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from iotide.cli.main import group

_LINES = "".join(f'{{"call": "write", "path": "/s/f", "start": {at}, "dur": 0.5, "size": 1000}}\n' for at in range(20))
_COMMANDS = ("detect", "layers", "rank", "advise", "dfg", "analyze heatmap")


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """Returns a report folder."""
    (tmp_path / "trace.jsonl").write_text(_LINES)
    folder = tmp_path / "iotide-app-1"
    folder.mkdir()
    (folder / "summary.json").write_text("{}")
    _output("archive", "create", "-o", str(folder / "app.iotide"), str(tmp_path / "trace.jsonl"))
    return folder


def _output(*words: str) -> str:
    done = CliRunner().invoke(group, words)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.parametrize("command", _COMMANDS)
def test_folder_of_a_run_is_read_as_its_archive(command: str, report: Path) -> None:
    words = [*command.split(), "--json"]
    assert _output(*words, str(report)) == _output(*words, str(report / "app.iotide"))


@pytest.mark.parametrize("command", ["info", "dump", "verify"])
def test_folder_of_a_run_is_inspected_as_its_archive(command: str, report: Path) -> None:
    assert _output("archive", command, str(report)) == _output("archive", command, str(report / "app.iotide"))


@pytest.mark.parametrize("command", _COMMANDS)
def test_folder_of_several_runs_is_read_as_their_archives(command: str, report: Path) -> None:
    other = report.with_name("iotide-app-2")
    shutil.copytree(report, other)
    (report.parent / "not-a-run").mkdir()
    archives = [str(folder / "app.iotide") for folder in (report, other)]
    words = [*command.split(), "--json"]
    assert _output(*words, str(report.parent)) == _output(*words, *archives)


@pytest.mark.parametrize("command", ["info", "dump", "verify"])
def test_only_one_archive_is_inspected(command: str, report: Path, tmp_path: Path) -> None:
    (report / "second.iotide").write_bytes((report / "app.iotide").read_bytes())
    for folder in (report, report.parent):
        done = CliRunner().invoke(group, ["archive", command, str(folder)])
        assert done.exit_code == 2
        assert f"2 archives; name one of them, such as {report / 'app.iotide'}" in " ".join(done.output.split())
    (tmp_path / "empty").mkdir()
    done = CliRunner().invoke(group, ["archive", command, str(tmp_path / "empty")])
    assert done.exit_code == 2
    assert "empty: is a folder; expected an archive" in done.output


def test_signal_of_several_jobs_is_reported(report: Path) -> None:
    other = report.with_name("iotide-app-2")
    other.mkdir()
    (other / "summary.json").write_text("{}")
    trace = str(report.parent / "trace.jsonl")
    _output("archive", "create", "-o", str(other / "other.iotide"), "--job", "other", trace)
    assert "2 jobs are analysed as one; --by job" in _output("detect", str(report.parent))
    assert "analysed as one" not in _output("detect", "--by", "job", str(report.parent))
    assert "analysed as one" not in _output("detect", str(report))


@pytest.mark.parametrize("words", ["report -o", "archive create -o", "archive convert --to jsonl -o"])
def test_folder_of_a_run_is_converted_as_its_archive(words: str, report: Path, tmp_path: Path) -> None:
    output = tmp_path / "output.html"
    _output(*words.split(), str(output), str(report))
    assert output.stat().st_size > 0


def test_other_folders_are_refused_with_their_archives_named(report: Path) -> None:
    (report / "summary.json").unlink()
    done = CliRunner().invoke(group, ["detect", str(report)])
    assert done.exit_code != 0
    assert f"its archives ({report}/*.iotide)" in str(done.exception)
    done = CliRunner().invoke(group, ["detect", str(report.parent)])
    assert f"its archives ({report.parent}/*/*.iotide)" in str(done.exception)


@pytest.mark.parametrize("command", [*_COMMANDS, "report", "archive create -o out.iotide"])
def test_path_that_cannot_be_looked_up_is_reported_with_its_name(command: str) -> None:
    path = "a" * 300
    done = CliRunner().invoke(group, [*command.split(), path])
    assert done.exit_code != 0
    assert not isinstance(done.exception, OSError)
    assert path in done.output + str(done.exception)
