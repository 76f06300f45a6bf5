"""Paths that are no files, or have unusual names: a clear error without traceback or delay."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from iotide.cli.main import group
from iotide.collectors.settings import TracerSettings
from iotide.collectors.source import Origin
from iotide.collectors.sources.preload.source import PreloadSource
from iotide.collectors.tracer.preload_environment import traced_environment
from iotide.events import ConfigError, InputError, IotideError
from iotide.events.files import read_text, write_text

LINES = "".join(f'{{"call": "write", "path": "/s/f", "start": {at}, "dur": 0.5, "size": 1000}}\n' for at in range(20))
LONG = "a" * 5000
UNREADABLE = ("pipe", "/dev/zero", "folder", LONG)
UNWRITABLE = ("pipe.html", "device.html", f"{LONG}.html", "good.jsonl/x.html")
ODD_NAMES = (b"no \xff.jsonl", b"new\nline.jsonl", b"[a]*.jsonl")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "good.jsonl").write_text(LINES)
    for name in ("pipe", "pipe.html"):
        os.mkfifo(tmp_path / name)
    (tmp_path / "device.html").symlink_to("/dev/full")
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words: str | bytes) -> Result:
    """Run a command as ``iotide`` does."""
    done = CliRunner().invoke(group, [os.fsdecode(word) for word in words])
    assert isinstance(done.exception, SystemExit | IotideError | None), done.exception
    return done


@pytest.mark.parametrize("path", UNREADABLE)
@pytest.mark.parametrize(
    "words", [("preload", "check"), ("simulate", "--mix"), ("dfg", "good.jsonl", "--baseline")], ids=" ".join
)
def test_unreadable_input_is_reported(words: tuple[str, ...], path: str) -> None:
    done = run(*words, path)
    assert isinstance(done.exception, IotideError) or (done.exit_code == 2 and done.stderr.strip()), done.output


@pytest.mark.parametrize("path", UNREADABLE)
def test_library_that_cannot_be_read_is_told(here: Path, path: str) -> None:
    with pytest.raises(ConfigError, match="cannot read"):
        traced_environment({}, here / "socket", "job", TracerSettings(libraries=(Path(path),)))


@pytest.mark.parametrize("path", UNWRITABLE)
@pytest.mark.parametrize(
    "words", [("layers", "-o"), ("rank", "-o"), ("detect", "--plot"), ("archive", "create", "-o")], ids=" ".join
)
def test_unwritable_output_is_reported_and_left_unchanged(here: Path, words: tuple[str, ...], path: str) -> None:
    done = run(*words, path, "good.jsonl")
    assert done.exit_code == (1 if words[0] == "archive" else 2)
    assert stat.S_ISCHR((here / "device.html").stat().st_mode)
    assert stat.S_ISFIFO((here / "pipe.html").stat().st_mode)


@pytest.mark.parametrize("path", [LONG, "good.jsonl/x"])
def test_socket_that_cannot_be_made_is_told(here: Path, path: str) -> None:
    with pytest.raises(InputError):
        PreloadSource(here / path, Origin("job"))


@pytest.mark.parametrize("path", ["pipe", LONG, "folder"])
def test_text_that_cannot_be_written_is_told_without_a_wait(here: Path, path: str) -> None:
    with pytest.raises(OSError, match=r"pipe|too long|directory"):
        write_text(here / path, "text")


def test_pipe_with_a_writer_is_read() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"text")
    os.close(writing)
    try:
        assert read_text(Path(f"/proc/self/fd/{reading}")) == "text"
    finally:
        os.close(reading)


def test_longest_names_are_written() -> None:
    assert run("rank", "-o", "x" * 250 + ".html", "good.jsonl").exit_code == 0
    assert run("archive", "create", "-o", "y" * 255, "good.jsonl").exit_code == 0


@pytest.mark.parametrize("name", ODD_NAMES)
@pytest.mark.parametrize(
    "words",
    [
        ("detect", "--json"),
        ("dfg", "--json"),
        ("layers", "--json"),
        ("rank", "--json"),
        ("archive", "create", "-o", "made.iotide"),
        ("archive", "convert", "-o", "made.jsonl"),
    ],
    ids=lambda words: words[0] + words[1],
)
def test_files_of_all_names_are_read(words: tuple[str, ...], name: bytes) -> None:
    Path(os.fsdecode(name)).write_text(LINES)
    assert run(*words, "--", name).exit_code == 0


@pytest.mark.parametrize("name", ODD_NAMES)
def test_jobs_of_all_names_are_archived(name: bytes) -> None:
    assert run("archive", "create", "--job", name, "-o", "made.iotide", "good.jsonl").exit_code == 0
    assert run("archive", "verify", "made.iotide").exit_code == 0
