"""``iotide report``: one page on archives, traces in other formats, and running jobs."""

from __future__ import annotations

import asyncio
import html
import re
import sys
from pathlib import Path

import pytest
from iotide.clients.report.fetching import fetch_material
from iotide.clients.report.report import write_page
from support.servers.running_aggregator import Fed, feeding, serving, until
from support.system.commands import iotide
from support.tracing.programs import need_file

WRITER = """
import os, sys, time
out = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY)
for _ in range(8):
    for _ in range(50):
        os.write(out, bytes(4096))
    os.fsync(out)
    time.sleep(0.3)
"""
DARSHAN = Path("darshan/examples/example_logs/sample-badost.darshan")


def text_of(page: Path) -> str:
    bare = re.sub(r"<(style|svg).*?</\1>|<[^>]*>", " ", page.read_text(), flags=re.DOTALL)
    return re.sub(r"\s+", " ", html.unescape(bare))


def test_archive_of_a_run_has_the_report_of_the_run(tmp_path: Path) -> None:
    done = iotide("run", "--job", "w", "-o", "r", "--", sys.executable, "-c", WRITER, tmp_path / "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (archive,) = (tmp_path / "r").glob("*.iotide")
    made = iotide("report", archive, "-o", "page.html", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert "report: page.html" in made.stderr
    live, offline = text_of(tmp_path / "r/report.html"), text_of(tmp_path / "page.html")
    for told in ("Written 1.6 MB", "wrote 1.6 MB", "Calls on its data took", "4 KiB to 8 KiB 400", "fsync POSIX 8"):
        assert told in live
        assert told in offline
    assert "read from preload" in offline
    assert "href" not in (tmp_path / "page.html").read_text()


@pytest.mark.slow
def test_log_of_darshan_counts_the_calls_behind_its_sums(tmp_path: Path) -> None:
    pytest.importorskip("darshan")
    import darshan

    log = need_file(Path(darshan.__file__).parent.parent / DARSHAN)
    made = iotide("report", log, "-o", "page.html", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    text = text_of(tmp_path / "page.html")
    assert "2,048 ranks ran for 12 min 59 s" in text
    assert "I/O calls 311,401" in text or "I/O calls 311,375" in text
    assert "Nothing is known to be missing" not in text
    assert "What follows what" not in text


async def test_running_job_is_asked_of_its_aggregator(tmp_path: Path) -> None:
    async with serving() as server:
        source = Fed()
        source.open("s", "sim")
        source.periodic("s")
        async with feeding(server, source):
            await until(lambda: "sim" in server.aggregator.jobs and server.aggregator.jobs["sim"].prediction)
            material = await asyncio.to_thread(fetch_material, f"{server.http_url}/jobs/sim")
    assert material.findings.layers is not None
    assert material.findings.heat is not None
    assert material.history
    write_page(tmp_path / "page.html", material)
    assert "as the aggregator knew it" in text_of(tmp_path / "page.html")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["x.iotide"], "x.iotide"),
        (["http://127.0.0.1:1/jobs/a", "b"], "give it alone"),
        (["a@http://127.0.0.1:1"], "no answer"),
        (["-o", "page.txt", "x"], "ends in .html"),
    ],
)
def test_input_without_a_report_is_rejected(tmp_path: Path, words: list[str], told: str) -> None:
    done = iotide("report", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert told in " ".join(done.stderr.split())
    assert not list(tmp_path.glob("*.html"))
