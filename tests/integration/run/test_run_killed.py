"""``iotide run`` that is killed in the middle of a burst leaves the calls recorded so far."""

from __future__ import annotations

import os
import signal
import sys
from collections import defaultdict
from pathlib import Path

import pytest
from iotide.collectors.source import Chunk, Opened, Origin
from iotide.collectors.sources.registry import open_file, read_all
from iotide.events import InputError
from support.system.commands import IOTIDE, iotide, running
from support.system.waiting import DEADLINE_S, wait_for

BURST = """
import os, sys
children = []
for number in range(2 * os.cpu_count()):
    if not os.fork():
        file = os.open("/dev/null", os.O_WRONLY)
        at = 0
        while os.path.exists("go on"):
            for _ in range(1000):
                os.pwrite(file, b"x" * 64, 64 * at)
                at += 1
        os._exit(0)
for _ in range(2 * os.cpu_count()):
    os.wait()
"""


def offsets_in(path: Path) -> dict[str, list[int]]:
    """Read the written offsets by stream; none while the file has no header."""
    offsets: dict[str, list[int]] = defaultdict(list)
    try:
        for item in read_all(open_file(path, Origin("killed"))):
            if isinstance(item, Chunk):
                moved = item.batch.bytes == 64
                offsets[item.stream] += item.batch.offset[moved].tolist()
            elif isinstance(item, Opened):
                assert item.info.job == "killed"
    except InputError:
        return {}
    return {stream: each for stream, each in offsets.items() if each}


def has_calls(path: Path) -> bool:
    """Return whether a call of the burst can be read from a file that is still written."""
    try:
        items = read_all(open_file(path, Origin("killed")))
        return any(isinstance(item, Chunk) and (item.batch.bytes == 64).any() for item in items)
    except InputError:
        return False


def most_told(folder: Path) -> tuple[Path, dict[str, list[int]]]:
    """Return the file with the most offsets, and these."""
    told = [(path, offsets_in(path)) for path in folder.glob("killed-*")]
    return max(told, key=lambda each: sum(map(len, each[1].values())), default=(folder, {}))


@pytest.mark.slow
@pytest.mark.parametrize("both", [False, True])
def test_run_killed_in_a_burst_leaves_what_was_seen(tmp_path: Path, both: bool) -> None:
    go_on, out = tmp_path / "go on", tmp_path / "out"
    go_on.touch()
    command = [*IOTIDE, "run", "--job", "killed", "-o", out, "--", sys.executable, "-c", BURST]
    with running(*command, cwd=tmp_path) as run:
        try:
            wait_for(lambda: any(map(has_calls, out.glob("killed-*"))), what="calls on disk")
            children = Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text().split()
            ours = [int(child) for child in children if "iotide" in Path(f"/proc/{child}/cmdline").read_text()]
            run.kill()
            for child in ours if both else ():
                os.kill(child, signal.SIGKILL)
            assert run.wait(timeout=DEADLINE_S) == -signal.SIGKILL
        finally:
            go_on.unlink()
    path, left = most_told(out)
    assert left
    for offsets in left.values():
        assert offsets == [64 * number for number in range(len(offsets))]
    created = iotide("archive", "create", "-o", tmp_path / "made.iotide", path, cwd=tmp_path)
    assert created.returncode == 0, created.stderr
    assert sorted(map(len, offsets_in(tmp_path / "made.iotide").values())) == sorted(map(len, left.values()))
