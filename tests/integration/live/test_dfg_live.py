"""Graphs of running jobs: in the terminal, against other runs, and as a page with updates."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from iotide.clients.pages.live_pages import LivePages
from iotide.daemon.server import Server
from support.servers.running_aggregator import Fed, feeding, serving, until
from support.system.commands import iotide
from support.system.waiting import DEADLINE_S

TRACE = """\
7 1795229276.10 openat(AT_FDCWD, "/scratch/out", O_WRONLY|O_CREAT, 0644) = 3</scratch/out> <0.01>
7 1795229276.20 write(3</scratch/out>, "a"..., 1000000) = 1000000 <0.01>
7 1795229276.30 write(3</scratch/out>, "a"..., 1000000) = 1000000 <0.01>
"""


async def asked(folder: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return await asyncio.to_thread(iotide, "dfg", *arguments, cwd=folder)


def jobs_of(server: Server) -> str:
    return f"{server.http_url}/jobs"


async def test_running_job_is_shown_kept_and_set_against_others(tmp_path: Path) -> None:
    (tmp_path / "a_n1_0.st").write_text(TRACE)
    source = Fed()
    async with serving() as server, feeding(server, source):
        for name in ("one", "group/two"):
            source.open(name, name)
            source.periodic(name)
        await until(lambda: len(server.aggregator.jobs) == 2)
        one, two = f"{jobs_of(server)}/one", f"{server.http_url}/api/v1/jobs/group/two/dfg"
        await until(lambda: all(job.graph is not None for job in server.aggregator.jobs.values()))

        shown = await asked(tmp_path, one)
        assert shown.returncode == 0, shown.stderr
        assert re.search(r"graph, 120 events of 1 case by stream", shown.stdout)
        kept = await asked(tmp_path, "-o", tmp_path / "one.json", one)
        assert kept.returncode == 0, kept.stderr

        for other in (two, "one.json"):
            same = json.loads((await asked(tmp_path, "--json", "--compare", one, other)).stdout)
            assert same["comparison"]["distance"] == 0
            assert same["graph"]["events"] == 240
        traces = json.loads((await asked(tmp_path, "--json", "--compare", one, "*.st")).stdout)
        assert traces["source"] == "graph and trace"
        assert {row["name"]: row["side"] for row in traces["comparison"]["nodes"]} == {
            "write:/scratch/out": "both",
            "openat:/scratch/out": "red",
        }
        usual = await asked(tmp_path, "--baseline", "one.json", "--baseline", two, "--baseline", one, one)
        assert "this run is like others" in usual.stdout
        unusual = await asked(tmp_path, "--baseline", "one.json", "--baseline", two, "--baseline", one, "a_n1_0.st")
        assert "this run is unlike all of them" in unusual.stdout
        picture = await asked(tmp_path, "-o", tmp_path / "x.html", "--compare", one, two)
        assert picture.returncode == 0, picture.stderr


async def test_unsupported_queries_of_a_running_job_are_rejected(tmp_path: Path) -> None:
    (tmp_path / "a_n1_0.st").write_text(TRACE)
    source = Fed()
    async with serving() as server, feeding(server, source):
        source.open("s", "job")
        source.periodic("s")
        await until(lambda: "job" in server.aggregator.jobs and server.aggregator.jobs["job"].graph is not None)
        job = f"{jobs_of(server)}/job"
        for arguments, message in (
            ([f"{jobs_of(server)}/absent"], "no job 'absent'; expected http://HOST:PORT/jobs/JOB"),
            ([f"{jobs_of(server)}/absent"], "it has job"),
            ([str(server.http_url)], "the job is missing"),
            (["--filter", "rank=0", job], "need the events; this is a graph"),
            (["--log", "x.csv", job], "need the events; this is a graph"),
            (["--map", "call", job], "this is a graph of call+dirs:2 by stream, which cannot be mapped again"),
            ([job, "a_n1_0.st"], "is a graph; give it alone"),
            (["--compare", job, "rank=0", "a_n1_0.st"], "a_n1_0.st is on neither side"),
            (["--compare", job, "absent*"], "--compare RED absent*: there is no such file"),
        ):
            done = await asked(tmp_path, *arguments)
            assert (done.returncode, done.stdout) == (2, ""), done.stderr
            assert message in " ".join(done.stderr.split())
    done = await asked(tmp_path, job)
    assert done.returncode == 2
    assert "no answer" in done.stderr


@pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium is not installed")
async def test_page_in_a_browser_takes_in_what_has_come_since(tmp_path: Path) -> None:
    source = Fed()
    async with serving(pages=LivePages(refresh_s=0.2)) as server, feeding(server, source):
        source.open("s", "job")
        source.periodic("s")
        await until(lambda: "job" in server.aggregator.jobs and server.aggregator.jobs["job"].graph is not None)
        browser = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}"]
        shown = await asyncio.to_thread(
            subprocess.run,
            [*browser, "--virtual-time-budget=3000", "--dump-dom", f"{jobs_of(server)}/job/dfg"],
            capture_output=True,
            text=True,
            check=True,
            timeout=DEADLINE_S,
        )
    assert re.search(r'id="live"[^>]*>live, every 0.2 s; last at', shown.stdout)
    assert 'data-name="write:/scratch/out"' in shown.stdout
