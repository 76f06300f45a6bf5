"""``iotide run`` that is killed leaves the calls recorded so far, whatever its analysis has archived."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from iotide.collectors.source import Chunk, Closed, Opened, Origin
from iotide.collectors.sources.registry import open_file, read_all
from iotide.events import InputError
from iotide.events.losses import NOT_SAVED
from support.system.commands import IOTIDE, iotide, running
from support.system.descriptors import open_files
from support.system.waiting import DEADLINE_S, wait_for

CHECKPOINTS = 4
"""Checkpoints of an archive after which it has calls that come later than the copy of the early ones."""

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


STEADY = """
import os, sys, time
file = os.open("/dev/null", os.O_WRONLY)
count = os.open("count", os.O_CREAT | os.O_WRONLY)
at = 0
while os.path.exists("go on"):
    for _ in range(100):
        os.pwrite(file, b"x" * 64, 64 * at)
        at += 1
    os.pwrite(count, at.to_bytes(8, "little"), 0)
    time.sleep(0.01)
"""
WITHOUT_CHECKPOINTS = """
from iotide.cli.entry import main
from iotide.daemon.archiving.archives import Archives
Archives.tick = lambda self: False
main()
"""

HOLDING = """
import os
from iotide.cli.entry import main
from iotide.collectors.sources.preload.spool import spool
from iotide.collectors.sources.preload.spool.spool_reader import SpoolReader
from iotide.daemon.archiving import archives
archives._FIRST_CHECKPOINT_S = 0.25
spool._MEMORY_SEGMENT = 1 << 16
read = SpoolReader.read
SpoolReader.read = lambda self, *more: 0 if os.path.exists("hold") else read(self, *more)
main()
"""
"""iotide that reads nothing while a file exists, as if the analysis gets no core. A part of the spool is soon full."""


@dataclass
class Left:
    """Contents of a file about one process."""

    offsets: list[int] = field(default_factory=list)
    """Of its writes."""
    lost: int = 0
    """Number of calls that its ring had no room for."""


def left_in(path: Path) -> dict[str, Left]:
    """Read the contents of a file by stream; none while the file has no header."""
    left: dict[str, Left] = defaultdict(Left)
    try:
        for item in read_all(open_file(path, Origin("killed"))):
            if isinstance(item, Chunk):
                moved = item.batch.bytes == 64
                left[item.stream].offsets += item.batch.offset[moved].tolist()
            elif isinstance(item, Closed):
                left[item.stream].lost = item.losses["events_dropped:ring_full"]
            elif isinstance(item, Opened):
                assert item.info.job == "killed"
    except InputError:
        return {}
    return {stream: each for stream, each in left.items() if each.offsets}


def has_calls(path: Path) -> bool:
    """Return whether a call of the burst can be read from a file that is still written."""
    try:
        items = read_all(open_file(path, Origin("killed")))
        return any(isinstance(item, Chunk) and (item.batch.bytes == 64).any() for item in items)
    except InputError:
        return False


def most_left(folder: Path) -> tuple[Path, dict[str, Left]]:
    """Return the file with the most offsets, and its contents."""
    left = [(path, left_in(path)) for path in folder.glob("killed-*")]
    return max(left, key=lambda each: sum(len(of.offsets) for of in each[1].values()), default=(folder, {}))


def calls_left(folder: Path) -> int:
    """Return the number of the program's writes in the file with the most of them."""
    return sum(len(each.offsets) for each in most_left(folder)[1].values())


def kill(run: subprocess.Popen[str], *, both: bool) -> None:
    """Kill a run, with ``both`` also the process that empties rings; return when both have ended."""
    children = Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text().split()
    ours = [int(child) for child in children if "iotide" in Path(f"/proc/{child}/cmdline").read_text()]
    watches = [os.pidfd_open(child) for child in ours]
    run.kill()
    for child in ours if both else ():
        os.kill(child, signal.SIGKILL)
    assert run.wait(timeout=DEADLINE_S) == -signal.SIGKILL
    for watch in watches:
        assert select.select([watch], [], [], DEADLINE_S)[0]
        os.close(watch)


@pytest.mark.slow
@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("full", [False, True])
def test_run_killed_in_a_burst_leaves_what_was_seen(tmp_path: Path, both: bool, full: bool) -> None:
    go_on, out = tmp_path / "go on", tmp_path / "out"
    go_on.touch()
    command = [*IOTIDE, "run", "--job", "killed", "-o", out, "--", sys.executable, "-c", BURST]
    small = {"IOTIDE_RING_RECORDS": "256"} if full else {}  # a burst fills it between two looks of the collector
    with running(*command, cwd=tmp_path, **small) as run:
        try:
            wait_for(lambda: any(map(has_calls, out.glob("killed-*"))), what="calls on disk")
            kill(run, both=both)
        finally:
            go_on.unlink()
    path, left = most_left(out)
    assert left
    for each in left.values():
        numbers = [offset // 64 for offset in each.offsets]
        assert numbers == sorted(set(numbers))
        # On a busy machine a ring may fill up; the file then tells how many calls are missing among the others.
        assert numbers[-1] + 1 - len(numbers) <= each.lost
    assert not full or any(each.lost for each in left.values())
    created = iotide("archive", "create", "-o", tmp_path / "made.iotide", path, cwd=tmp_path)
    assert created.returncode == 0, created.stderr
    again = left_in(tmp_path / "made.iotide").values()
    assert sorted((len(each.offsets), each.lost) for each in again) == sorted(
        (len(each.offsets), each.lost) for each in left.values()
    )


@pytest.mark.slow
@pytest.mark.parametrize("both", [False, True])
def test_run_killed_before_its_archive_has_a_checkpoint_leaves_what_was_seen(tmp_path: Path, both: bool) -> None:
    go_on, out = tmp_path / "go on", tmp_path / "out"
    go_on.touch()
    # As if the analysis gets no core after it has begun to read: it reads, and archives nothing.
    command = [sys.executable, "-c", WITHOUT_CHECKPOINTS, "run", "--job", "killed", "-o", out]
    with running(*command, "--", sys.executable, "-c", STEADY, cwd=tmp_path) as run:
        try:
            wait_for(lambda: list(out.glob("*.iotide")), what="the beginning of an archive")
            seen = wait_for(lambda: int.from_bytes((tmp_path / "count").read_bytes(), "little"), what="calls")
            wait_for(lambda: calls_left(out) >= seen, what="these calls on disk")
            kill(run, both=both)
        finally:
            go_on.unlink()
    path, left = most_left(out)
    (offsets,) = (each.offsets for each in left.values())
    assert offsets == [64 * number for number in range(len(offsets))]
    assert len(offsets) >= seen
    (archive,) = out.glob("*.iotide")
    told = iotide("archive", "info", archive, cwd=tmp_path)
    assert (told.returncode, str(path) in told.stderr) == (0, True)


def kill_later(folder: Path, program: str, *options: str, has_ended: bool = False) -> int:
    """Kill a run with calls that are not read yet, long after the copy of its early calls has ended.

    Returns:
        A number of writes that the steady program has made by then.
    """
    go_on, hold, out = folder / "go on", folder / "hold", folder / "out"
    go_on.touch()
    command = [sys.executable, "-c", HOLDING, "run", "--job", "killed", "-o", out, *options]
    with running(*command, "--", sys.executable, "-c", program, cwd=folder) as run:
        try:
            (archive,) = wait_for(lambda: list(out.glob("*.iotide")), what="the beginning of an archive")
            collector = collector_of(run.pid)
            wait_for(
                lambda: len(list(Path(f"/proc/{collector}/task").iterdir())) == 1,
                what="the end of the copy of early calls",
            )
            wait_for(lambda: not list(out.glob("*.spool")), what="the end of that file")
            kept, sizes = [0], set[int]()

            def is_archived() -> bool:
                """Return whether segments were released. At the bound of the kept ones, each is replaced at once."""
                kept.append(segments_in(collector))
                sizes.add(archive.stat().st_size)
                return kept[-1] < max(kept) or len(sizes) > CHECKPOINTS

            wait_for(is_archived, what="later calls archived")
            hold.touch()
            held = count_in(folder)
            seen = wait_for(lambda: (count := count_in(folder)) > held + 20_000 and count, what="a burst")
            if has_ended:
                go_on.unlink()
                assert run.stderr is not None
                wait_for(lambda: "reading on" in run.stderr.readline(), what="the command's end")
            kill(run, both=False)
        finally:
            go_on.unlink(missing_ok=True)
    return seen


@pytest.mark.slow
@pytest.mark.parametrize("has_ended", [False, True])
def test_run_killed_later_leaves_what_its_archive_does_not_have(tmp_path: Path, has_ended: bool) -> None:
    seen, out = kill_later(tmp_path, STEADY, has_ended=has_ended), tmp_path / "out"
    (archive,), (path,) = out.glob("*.iotide"), out.glob("*.spool")
    archived, left = ([each.offsets for each in left_in(file).values()] for file in (archive, path))
    assert len(archived) == len(left) == 1
    numbers = sorted({offset // 64 for offset in (*archived[0], *left[0])})
    assert numbers == list(range(len(numbers)))
    assert len(numbers) >= seen
    assert left[0] == [64 * number for number in range(left[0][0] // 64, len(numbers))]
    assert left[0][0] > 0
    assert b"/dev/null" in path.read_bytes()
    told = iotide("archive", "info", archive, cwd=tmp_path)
    assert "may be missing" in told.stderr
    assert "not saved" not in iotide("archive", "create", "-o", tmp_path / "made.iotide", path, cwd=tmp_path).stderr


MANY_NAMES = (
    """
import os
for number in range(4000):
    try:
        os.open("/".join(["x" * 200] * 4 + [str(number)]), os.O_RDONLY)
    except FileNotFoundError:
        pass
"""
    + STEADY
)


@pytest.mark.slow
def test_run_killed_later_with_too_many_names_tells_what_is_lost(tmp_path: Path) -> None:
    kill_later(tmp_path, MANY_NAMES, "--spool-memory", "8")
    (path,) = (tmp_path / "out").glob("*.spool")
    losses = [item.losses for item in read_all(open_file(path, Origin("killed"))) if isinstance(item, Closed)]
    assert sum(each[NOT_SAVED] for each in losses) > 20_000
    told = iotide("archive", "create", "-o", tmp_path / "made.iotide", path, cwd=tmp_path)
    assert "calls that were not saved when iotide run was killed (raise --spool-memory" in told.stderr


def count_in(folder: Path) -> int:
    """Return the number of writes that the steady program has made."""
    return int.from_bytes((folder / "count").read_bytes(), "little")


def collector_of(run: int) -> int:
    """Return the process that empties rings."""
    children = Path(f"/proc/{run}/task/{run}/children").read_text().split()
    (ours,) = (child for child in children if b"iotide" in Path(f"/proc/{child}/cmdline").read_bytes())
    return int(ours)


def segments_in(collector: int) -> int:
    """Return the number of segments of the spool that a process has."""
    return sum("iotide-spool" in each for each in open_files(collector))
