"""Standard streams that are closed or cannot be written, and Ctrl-C: no traceback, and the right exit status."""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from iotide.cli.main import EXIT_FAILED, EXIT_NO_READER
from support.servers.running_aggregator import Fed, feeding, serving, until
from support.system.commands import IOTIDE, Program, iotide, plain_environment
from support.system.waiting import DEADLINE_S, wait_for

LINES = "".join(f'{{"call": "write", "path": "/s/f", "start": {at}, "dur": 0.5, "size": 1000}}\n' for at in range(20))
PAGE = os.sysconf("SC_PAGE_SIZE")
PRINTING = """
import sys
from iotide.cli.common.console.standard_streams import standard_streams

with standard_streams():
    print("one")
    sys.stdin.readline()
"""
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


# each command that prints a table or a document, and help
PRINTED = (
    "--help", "--version", "detect calls.jsonl", "detect --json calls.jsonl", "advise calls.jsonl",
    "layers calls.jsonl", "rank --json calls.jsonl", "dfg calls.jsonl", "analyze heatmap calls.jsonl",
    "archive dump job.iotide", "archive info job.iotide", "archive verify job.iotide", "preload list",
    "simulate --class 3x10 --class 2x20", "simulate --json --class 3x10", "keys new own", "keys list known",
    "keys token known --name bob --may read", "doctor",
)  # fmt: skip


@pytest.mark.slow
def test_every_command_has_one_status_without_a_reader(folder: Path) -> None:
    assert iotide("archive", "create", "-o", "job.iotide", "calls.jsonl", cwd=folder).returncode == 0
    known = iotide("keys", "token", "known", "--name", "ann", "--may", "read", cwd=folder)
    assert known.returncode == 0, known.stderr
    found = {words: without_reader(folder, words.split(" ")) for words in PRINTED}
    assert found == dict.fromkeys(PRINTED, (EXIT_NO_READER, ""))


@pytest.mark.slow
async def test_commands_that_ask_an_aggregator_have_the_same_status_without_a_reader(folder: Path) -> None:
    source = Fed()
    source.open("s", "sim")
    source.periodic("s")
    async with serving() as server, feeding(server, source):
        await until(lambda: "sim" in server.aggregator.jobs and server.aggregator.jobs["sim"].prediction is not None)
        url = str(server.http_url)
        asked = [["top", "--once", url], ["contention", url], ["doctor", "--aggregator", url]]
        for words in asked:
            found = await asyncio.to_thread(without_reader, folder, words)
            assert found == (EXIT_NO_READER, ""), words


@pytest.mark.slow
@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
async def test_subscriber_has_the_same_status_without_a_reader(folder: Path, form: tuple[str, ...]) -> None:
    """It prints the first prediction that comes, and notices then that nobody reads."""
    source = Fed()
    source.open("s", "sim")
    async with serving() as server, feeding(server, source):
        words = ["watch", "--connect", str(server.publish_endpoint), *form]
        watching = asyncio.create_task(asyncio.to_thread(without_reader, folder, words))
        at = 0.0
        while not watching.done():  # predictions go to those who have subscribed
            source.periodic("s", until_s=1e9 + at)
            at += 100.0
            await asyncio.wait([watching], timeout=0.5)
        assert await watching == (EXIT_NO_READER, "")


def test_traced_command_keeps_its_status_without_a_reader(folder: Path) -> None:
    words = ["run", "--no-report", "--quiet", "--", "sh", "-c", "exit 7"]
    assert without_reader(folder, words)[0] == 7


def without_reader(folder: Path, words: list[str]) -> tuple[int, str]:
    """Run a command whose output has no reader; return its status and its messages."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [*IOTIDE, *words], cwd=folder, env=plain_environment(), stdout=writing, stderr=subprocess.PIPE, text=True,
            timeout=DEADLINE_S, check=False,
        )  # fmt: skip
    finally:
        os.close(writing)
    return done.returncode, done.stderr


def small_pipe(waiting: int) -> tuple[int, int]:
    """Return a pipe of one page that does not block, and contains a number of bytes."""
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, PAGE)
    os.set_blocking(writing, False)
    os.write(writing, bytes(waiting))
    return reading, writing


def test_output_to_a_pipe_that_does_not_block_is_complete(folder: Path) -> None:
    expected = iotide("run", "--help", cwd=folder).stdout
    assert len(expected) > PAGE
    reading, writing = small_pipe(0)
    command = [*IOTIDE, "run", "--help"]
    with Program(command, env=plain_environment(), stdout=writing, stderr=subprocess.PIPE) as running:
        os.close(writing)

        def is_full() -> bool:
            waiting = fcntl.ioctl(reading, termios.FIONREAD, bytes(4))
            return int.from_bytes(waiting, sys.byteorder) == PAGE

        wait_for(is_full, what="a full pipe")
        with os.fdopen(reading) as output:
            assert output.read() == expected
        assert running.communicate() == (None, b"")
        assert running.returncode == 0


def test_messages_that_a_full_pipe_does_not_take_are_discarded(folder: Path) -> None:
    reading, writing = small_pipe(PAGE)
    words = ["run", "--no-archive", "-o", "report", "--", "sh", "-c", "exit 7"]
    try:
        done = subprocess.run([*IOTIDE, *words], cwd=folder, env=plain_environment(), stderr=writing, check=False)
    finally:
        os.close(reading)
        os.close(writing)
    assert done.returncode == 7
    assert (folder / "report" / "report.html").exists()


def test_unbuffered_output_is_written_line_by_line() -> None:
    command = [sys.executable, "-c", PRINTING]
    environment = plain_environment(PYTHONUNBUFFERED="1")
    with Program(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "one\n"
        assert running.communicate("go on\n") == ("", None)


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
