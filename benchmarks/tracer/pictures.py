"""Renew the pictures of the documentation that show running jobs, a trace and a report: jobs, detect and report.png.

An aggregator, a collector and eight real programs run on this machine. Chromium draws the pages. The report is that of
the README's fio in /scratch, which is made if there is none (root). Its summary is printed, to renew the README, too.
Arguments select pictures by name.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from PIL import Image

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from support.system.browser import Page, open_browser
from support.system.waiting import wait_for

IMAGES: Final = Path(__file__).parents[2] / "docs/images"
IOTIDE: Final = [sys.executable, "-m", "iotide"]
PROGRAM: Final = """
import os, sys, time
pause, size, path, way = float(sys.argv[1]), int(sys.argv[2]) << 20, sys.argv[3], sys.argv[4]
block = bytes(1 << 20)
if way == "read":
    with open(path, "wb") as file:
        file.write(block)
due = time.monotonic()
while True:
    with open(path, "rb" if way == "read" else "wb", buffering=0) as file:
        for _ in range(size >> 20):
            if way == "read":
                file.seek(0)
                file.read(1 << 20)
            else:
                file.write(block)
    due += pause
    time.sleep(max(due - time.monotonic(), 0.05))
"""
JOBS: Final = [
    ("climate-4701", 6.0, 24, "write"),
    ("climate-4702", 9.5, 48, "write"),
    ("lammps-4703", 4.0, 8, "write"),
    ("lammps-4704", 7.0, 16, "write"),
    ("nek5000-4705", 11.0, 64, "write"),
    ("nek5000-4706", 5.0, 12, "write"),
    ("train-4707", 3.0, 16, "read"),
    ("train-4708", 8.0, 32, "read"),
]
"""Name, pause in s, MiB per phase, and direction."""
WARM_UP_S: Final = float(os.environ.get("IOTIDE_PICTURES_S", "130"))
"""Time that the jobs run before the picture: the sparkline has two minutes."""


def main() -> None:
    """Draw the pictures."""
    drawers = {"detect": _draw_trace, "jobs": _draw_jobs, "report": _draw_report}
    names = sys.argv[1:] or list(drawers)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        with open_browser(folder / "chromium") as page:
            for name in names:
                drawers[name](page, folder)
        for name in names:
            _reduce(IMAGES / f"{name}.png")
        if page.complaints:
            raise SystemExit("\n".join(page.complaints))


def _reduce(path: Path) -> None:
    """Store a picture with a palette of 256 colours, a third of the size."""
    Image.open(path).convert("RGB").quantize(256).save(path, optimize=True)


def _draw_trace(page: Page, folder: Path) -> None:
    """Trace the program of the tutorial, and draw its analysis."""
    tutorial = (IMAGES.parent / "tutorial.md").read_text()
    (folder / "simulate.py").write_text(tutorial.partition("```python\n")[2].partition("```")[0])
    run = [*IOTIDE, "run", "-q", "-o", "first", "--", sys.executable, "simulate.py"]
    subprocess.run(run, cwd=folder, check=True)
    (archive,) = (folder / "first").glob("*.iotide")
    subprocess.run([*IOTIDE, "detect", "--plot", "period.html", str(archive)], cwd=folder, check=True)
    page.open((folder / "period.html").as_uri())
    height = int(page.value("document.documentElement.scrollHeight"))
    page.picture(IMAGES / "detect.png", width=960, height=height)


def _draw_report(page: Page, _folder: Path) -> None:
    """Trace the program of the README, and draw the first part of its report."""
    readme = (IMAGES.parents[1] / "README.md").read_text()
    command = re.search(r"^\$ iotide (run -- fio .*)$", readme, re.MULTILINE)
    assert command is not None
    scratch = Path("/scratch")
    is_new = not scratch.exists()
    scratch.mkdir(exist_ok=True)
    try:
        done = subprocess.run(
            [*IOTIDE, *command[1].split()], cwd=scratch, check=True, stderr=subprocess.PIPE, text=True
        )
        print("".join(line for line in done.stderr.splitlines(keepends=True) if line.startswith("iotide:")))
        report = re.search(r"^iotide: report: (\S+)", done.stderr, re.MULTILINE)
        assert report is not None
        page.open(Path(scratch, report[1]).as_uri())
        page.resize(1080, 800)
        height = int(page.value("document.querySelector('.picture').getBoundingClientRect().bottom + scrollY"))
        page.picture(IMAGES / "report.png", width=1080, height=height)
        shutil.rmtree(Path(scratch, report[1]).parent)
        for each in scratch.glob("ckpt.0.*"):
            each.unlink()
    finally:
        if is_new:
            shutil.rmtree(scratch)


def _draw_jobs(page: Page, folder: Path) -> None:
    """Run the jobs, and draw the list of them."""
    with _processes(folder) as address:
        time.sleep(WARM_UP_S)
        page.open(f"{address}/?sort=next")
        page.until("document.querySelectorAll('tbody tr').length >= 8")
        page.picture(IMAGES / "jobs.png", width=1200, height=430)
        page.open("about:blank")  # the page would report that the aggregator has ended
        foreign = [each for each in page.requests if not each.startswith((address, "file:", "about:", "data:"))]
        if foreign:
            raise SystemExit(f"the pages request {foreign}")


def _is_ready(address: str) -> bool:
    try:
        urllib.request.urlopen(f"{address}/healthz", timeout=5).close()
    except OSError:
        return False
    return True


@contextmanager
def _processes(folder: Path) -> Iterator[str]:
    """Run the aggregator, a collector and the jobs; yield the address of the pages."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    ingest, traced = f"ipc://{folder}/ingest", folder / "tracer.sock"
    started: list[subprocess.Popen[bytes]] = []

    def start(command: list[str], **environment: str) -> None:
        started.append(subprocess.Popen(command, cwd=folder, env={**os.environ, **environment}))

    address = f"http://127.0.0.1:{port}"
    try:
        serve = [*IOTIDE, "serve", "--ingest", ingest, "--http", f"127.0.0.1:{port}", "--publish", "none"]
        start([*serve, "--state", "none"])
        wait_for(lambda: _is_ready(address), what="the aggregator")
        collect = [*IOTIDE, "collect", "--socket", str(traced)]
        start([*collect, "--connect", ingest])
        wait_for(traced.exists, what="the collector's socket")
        lines = subprocess.check_output([*collect, "--print-environment"], text=True).splitlines()
        environment = dict(line.split("=", 1) for line in lines)
        (folder / "job.py").write_text(PROGRAM)
        for name, pause, size, way in JOBS:
            job = ["python3", "job.py", str(pause), str(size), f"{name}.dat", way]
            start(job, **environment, IOTIDE_JOB=name)
        yield address
    finally:
        for process in reversed(started):
            process.terminate()
        for process in reversed(started):
            process.wait()


if __name__ == "__main__":
    main()
