"""The screen of ``iotide top``: order, search, a job, and redrawing after a change of the window size."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from support.servers.running_aggregator import Fed, feeding, serving, until
from support.system.commands import IOTIDE
from support.system.waiting import DEADLINE_S


def _jobs() -> Fed:
    source = Fed()
    for name in ("alpha", "beta", "gamma"):
        source.open(name, name, user="ann", command=f"/apps/{name}")
        source.periodic(name)
    return source


def _names(lines: list[str]) -> list[str]:
    return [line.split()[0] for line in lines[2:-1] if line]


def _is_whole(lines: list[str]) -> bool:
    return len(_names(lines)) == 3 and lines[-1].startswith("q end")


@pytest.mark.slow
async def test_screen_follows_keys_and_window(tmp_path: Path) -> None:
    async with serving() as server, feeding(server, _jobs()):
        await until(lambda: {"alpha", "beta", "gamma"} <= set(server.aggregator.jobs))
        await asyncio.to_thread(_look, str(server.http_url), tmp_path)


def _look(address: str, folder: Path) -> None:
    pytest.importorskip("pyte")
    from support.system.screens import OnScreen

    with OnScreen([*IOTIDE, "top", address], folder, 24, 80) as top:
        first = top.wait_for(lambda lines: len(_names(lines)) == 3, "the list")
        assert first[0].startswith("3 jobs: 3 running")
        assert "BANDWIDTH" in first[1]
        assert first[-1] == "q end  s sort  r reverse  / search  enter job"

        top.press(b"s")
        ordered = ["alpha", "beta", "gamma"]
        top.wait_for(lambda lines: "JOB" in lines[1] and _names(lines) == ordered, "the list by name")
        top.press(b"r")
        top.wait_for(lambda lines: _names(lines) == ["gamma", "beta", "alpha"], "the reverse list")

        top.press(b"/et\r")
        top.wait_for(lambda lines: _names(lines) == ["beta"] and lines[-1] == "search: et", "the found job")
        top.press(b"\r")
        top.wait_for(lambda lines: lines[0].startswith("beta  ann") and "/apps/beta" in lines[1], "the job")

        top.resize(40, 132)
        wide = top.wait_for(lambda lines: lines[0].startswith("beta  ann") and lines[-1], "the job in a larger window")
        assert "/apps/beta" in wide[1]
        top.press(b"\x1b")
        top.wait_for(lambda lines: _names(lines) == ["beta"] and "last 2 min" in lines[1], "the wide list")
        top.press(b"/\x7f\x7f\r")
        top.wait_for(lambda lines: len(_names(lines)) == 3, "all jobs")

        top.resize(10, 80)
        small = top.wait_for(_is_whole, "the small window")
        assert small[0].startswith("3 jobs")
        assert "last 2 min" not in small[1]
        top.resize(24, 80)
        top.wait_for(_is_whole, "the first size again")
        cells = [top.screen.buffer[row][column] for row in range(24) for column in range(80)]
        assert {(cell.fg, cell.bg) for cell in cells} == {("default", "default")}
        top.press(b"q")
        assert top.process.wait(DEADLINE_S) == 0
