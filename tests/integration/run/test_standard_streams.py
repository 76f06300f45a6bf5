"""Standard streams that are closed or cannot be written, and Ctrl-C: no traceback, and the right exit status."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest
from iotide.cli.main import EXIT_FAILED
from support.system.commands import IOTIDE, iotide, plain_environment

LINES = "".join(f'{{"call": "write", "path": "/s/f", "start": {at}, "dur": 0.5, "size": 1000}}\n' for at in range(20))
FULL = "iotide: cannot write to standard output: No space left on device\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "calls.jsonl").write_text(LINES)
    return tmp_path


def redirected(folder: Path, words: str, redirection: str) -> subprocess.CompletedProcess[str]:
    """Run a command of iotide with redirections of a shell."""
    return subprocess.run(
        ["sh", "-c", f'exec "$@" {redirection}', "sh", *IOTIDE, *words.split(" ")],
        cwd=folder,
        env=plain_environment(),
        capture_output=True,
        text=True,
        check=False,
    )


# one command for each way of printing: click, rich, a stream
@pytest.mark.parametrize("words", ["--version", "detect calls.jsonl", "advise calls.jsonl"])
def test_full_standard_output_is_reported(folder: Path, words: str) -> None:
    done = redirected(folder, words, ">/dev/full")
    assert (done.returncode, done.stderr) == (EXIT_FAILED, FULL)


def test_archive_is_not_blamed_for_full_standard_output(folder: Path) -> None:
    assert iotide("archive", "create", "-o", "job.iotide", "calls.jsonl", cwd=folder).returncode == 0
    done = redirected(folder, "archive dump job.iotide", ">/dev/full")
    assert (done.returncode, done.stderr) == (EXIT_FAILED, FULL)


def test_closed_standard_output_is_the_null_device(folder: Path) -> None:
    done = redirected(folder, "advise calls.jsonl", "<&- >&-")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("redirection", ["2>/dev/full", "<&- >&- 2>&-"])
def test_status_of_a_traced_command_does_not_depend_on_our_streams(folder: Path, redirection: str) -> None:
    script = "for number in 0 1 2; do [ -e /proc/$$/fd/$number ] && echo $number; done > open; exit 7"
    (folder / "script").write_text(script)
    done = redirected(folder, "run --no-archive -o report -- sh script", redirection)
    assert done.returncode == 7
    assert (folder / "report" / "report.html").exists()
    if "&-" in redirection:  # 1 is open for the loop itself
        assert (folder / "open").read_text() == "1\n"


@pytest.mark.parametrize("module", ["click", "numpy"])
def test_interrupt_ends_without_traceback_by_the_signal(folder: Path, module: str) -> None:
    # click is imported first, and numpy when the command runs
    (folder / f"{module}.py").write_text("import signal\nsignal.raise_signal(signal.SIGINT)\n")
    done = subprocess.run(
        ["env", "--default-signal=INT", *IOTIDE, "detect", "calls.jsonl"],
        cwd=folder,
        env=plain_environment() | {"PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == -signal.SIGINT
    assert (done.stdout, done.stderr.strip()) == ("", "")
