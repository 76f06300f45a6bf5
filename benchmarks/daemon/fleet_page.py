"""Cost of the job list in a browser for the aggregator and the browser, with a thousand active jobs.

Aggregator, collector and Chromium are separate processes. The measured CPU time over some seconds with the page open
is: of the aggregator, the increase over the same time without the page; of the renderer process, all its threads.
Environment variables:

    BENCH_JOBS        jobs that write once a second    1000
    BENCH_SECONDS     how long is looked               20
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx
import numpy as np
from iotide.benchmarks.common.figures import Figure, report
from iotide.benchmarks.common.served import Served
from iotide.collectors.source import Chunk
from iotide.events import FileInfo, FileType, Kind, make_batch

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from support.servers.running_aggregator import Fed, collecting
from support.system.browser import open_browser

JOBS = int(os.environ.get("BENCH_JOBS", "1000"))
SECONDS = float(os.environ.get("BENCH_SECONDS", "20"))
TICKS = os.sysconf("SC_CLK_TCK")
WARM_UP_S = 20.0
UPDATES = """new Promise((done) => {
  const seen = new Set();
  const text = () => document.body.innerText.match(/as of [\\d:.]+/)?.[0];
  const look = setInterval(() => seen.add(text()), 100);
  setTimeout(() => { clearInterval(look); done(seen.size - 1); }, %d);
})"""


def cpu_s(pid: int) -> float:
    """Return the CPU time of a process, s."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def renderers() -> list[int]:
    """Return Chromium's renderer processes that are our children."""
    found = subprocess.run(["pgrep", "-f", "--", "--type=renderer"], capture_output=True, text=True, check=False)
    return [int(pid) for pid in found.stdout.split() if _is_ours(int(pid))]


def _is_ours(pid: int) -> bool:
    while pid > 1:
        if pid == os.getpid():
            return True
        try:
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            return False
    return False


async def _write_on(source: Fed, until: asyncio.Event) -> None:
    """Let each job write sixteen times per second, the jobs spread over the second."""
    files = {}
    for job in range(JOBS):
        source.open(f"s{job}", f"job-{job}", user=f"u{job % 50}", host=f"n{job % 100}", command="app -x")
        interner = source._interners[f"s{job}"]
        path = f"/scratch/job-{job}/out"
        files[job] = (interner.file(path, FileInfo(path, FileType.REGULAR)), interner.string("write"))
    while not until.is_set():
        begun = time.monotonic()
        for job, (file, call) in files.items():
            start = int(time.time() * 1e9) - 40_000_000 + np.arange(16) * 1_000_000
            columns = {"start": start, "duration": 900_000, "bytes": 10**6, "kind": int(Kind.WRITE), "layer": 1}
            batch = make_batch(16, {**columns, "file": file, "call": call})
            source._waiting.append(Chunk(f"s{job}", batch, source._interners[f"s{job}"].take_fresh()))
            if job % 50 == 49:
                await asyncio.sleep(max(begun + (job + 1) / JOBS - time.monotonic(), 0))


def _looked_at(url: str, folder: Path) -> tuple[float, int, list[str], list[str]]:
    with open_browser(folder) as page:
        page.open(url)
        page.until("document.querySelectorAll('#jobs tr').length >= 50")
        time.sleep(3)
        pids = renderers()
        before_s = sum(cpu_s(pid) for pid in pids)
        begun = time.monotonic()
        updates = int(page.value(UPDATES % int(SECONDS * 1000)))
        busy = (sum(cpu_s(pid) for pid in pids) - before_s) / (time.monotonic() - begun)
        return busy, updates, page.complaints, [each for each in page.requests if not each.startswith(url)]


async def _measured(folder: Path) -> list[Figure]:
    served = Served(folder, max_jobs=str(2 * JOBS))
    served.start()
    done, source = asyncio.Event(), Fed()
    try:
        async with collecting(served.endpoint, [source]):
            writing = asyncio.create_task(_write_on(source, done))
            await asyncio.sleep(WARM_UP_S)
            async with httpx.AsyncClient(base_url=served.url, timeout=60) as client:
                total = (await client.get("/api/v1/fleet?count=1")).json()["total"]
                assert total == JOBS, f"{total} of {JOBS} jobs came within {WARM_UP_S} s"
            rates = []
            for looks in (False, True, False):
                before_s, begun = cpu_s(served.pid), time.monotonic()
                if looks:
                    shown = await asyncio.to_thread(_looked_at, served.url, folder)
                else:
                    await asyncio.sleep(SECONDS)
                rates.append((cpu_s(served.pid) - before_s) / (time.monotonic() - begun))
            done.set()
            await writing
    finally:
        served.kill()
    busy, updates, complaints, elsewhere = shown
    page = rates[1] - (rates[0] + rates[2]) / 2
    return [
        Figure("aggregator, added by the page", page, "cores", "< 0.1", better="lower"),
        Figure("aggregator, without the page", (rates[0] + rates[2]) / 2, "cores"),
        Figure("renderer process of the page", busy, "cores", "< 0.3", better="lower"),
        Figure("updates of the page", updates / SECONDS, "a second"),
        Figure("errors in the console", len(complaints), "", "0", better="lower"),
        Figure("requests to other hosts", len(elsewhere), "", "0", better="lower"),
    ]


def measure() -> list[Figure]:
    """Measure with one open page."""
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(_measured(Path(folder)))


if __name__ == "__main__":
    report(measure())
