"""``iotide top`` on a running aggregator: printed once, and on a terminal of 80 columns with keys."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import pty
import struct
import subprocess
import termios
from pathlib import Path

import pytest
from support.servers.running_aggregator import Fed, feeding, serving, until
from support.system.commands import IOTIDE, iotide, plain_environment
from support.system.waiting import DEADLINE_S, wait_for


def jobs(*names: str) -> Fed:
    source = Fed()
    for name in names:
        source.open(name, name, user="ann", command=f"/apps/{name}")
        source.periodic(name)
    return source


@pytest.mark.slow
async def test_list_is_printed_once_where_there_is_no_terminal(tmp_path: Path) -> None:
    async with serving() as server, feeding(server, jobs("alpha", "beta")):
        await until(lambda: {"alpha", "beta"} <= set(server.aggregator.jobs))
        done = await asyncio.to_thread(iotide, "top", "--sort", "job", str(server.http_url), cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        total, head, *rows = done.stdout.splitlines()
        assert total.startswith("2 jobs: 2 running")
        assert head.split()[:3] == ["JOB", "user", "state"]
        assert [row.split()[0] for row in rows] == ["alpha", "beta"]
        assert all(len(row) <= 80 for row in rows)
        found = await asyncio.to_thread(iotide, "top", "--search", "beta", str(server.http_url), cwd=tmp_path)
        assert "alpha" not in found.stdout
        assert "beta" in found.stdout


@pytest.mark.slow
def test_unresponsive_aggregator_is_reported(tmp_path: Path) -> None:
    done = iotide("top", "http://127.0.0.1:1", cwd=tmp_path)
    assert done.returncode == 2
    assert "no answer" in done.stderr


@pytest.mark.slow
async def test_keys_search_show_a_job_and_end(tmp_path: Path) -> None:
    async with serving() as server, feeding(server, jobs("alpha", "beta")):
        await until(lambda: all(job.prediction is not None for job in server.aggregator.jobs.values()))
        await asyncio.to_thread(_press_keys, str(server.http_url), tmp_path)


def _press_keys(address: str, folder: Path) -> None:
    control, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    os.set_blocking(control, False)
    environment = plain_environment(TERM="vt100")  # which has no colour
    process = subprocess.Popen(
        [*IOTIDE, "top", address], stdin=terminal, stdout=terminal, cwd=folder, env=environment, start_new_session=True
    )
    seen = b""

    def shows(*texts: bytes) -> bool:
        nonlocal seen
        with contextlib.suppress(BlockingIOError):
            seen += os.read(control, 65_536)
        return all(text in seen for text in texts)

    try:
        wait_for(lambda: shows(b"2 jobs", b"alpha", b"beta", b"BANDWIDTH"), what="the list")
        os.write(control, b"/")
        wait_for(lambda: shows(b"search: "), what="the search")
        os.write(control, b"bet\r\r")  # curses writes only the changes of the screen, so not the whole word
        wait_for(lambda: shows(b"/apps/", b"/scratch/out"), what="the job")
        os.write(control, b"q")
        assert process.wait(DEADLINE_S) == 0
    finally:
        process.kill()
        process.wait()
        os.close(control)
        os.close(terminal)


@pytest.mark.slow
async def test_it_ends_when_its_terminal_is_gone(tmp_path: Path) -> None:
    async with serving() as server, feeding(server, jobs("alpha")):
        await until(lambda: "alpha" in server.aggregator.jobs)
        assert await asyncio.to_thread(_without_terminal, str(server.http_url), tmp_path) == 0


def _without_terminal(address: str, folder: Path) -> int:
    """Start it without a controlling terminal, so that the hang-up sends no signal, and hang up."""
    control, terminal = pty.openpty()
    process = subprocess.Popen(
        [*IOTIDE, "top", address],
        stdin=terminal,
        stdout=terminal,
        cwd=folder,
        env=plain_environment(TERM="vt100"),
        start_new_session=True,
    )
    os.close(terminal)
    try:
        assert os.read(control, 1)  # it draws
        os.close(control)
        return process.wait(DEADLINE_S)
    finally:
        process.kill()
        process.wait()
