"""Streams that have ended and are added together: jobs and archives are as if they were added separately."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from iotide.analyzers.pipeline.whole_streams import WholeStream
from iotide.archive.file.reader import ArchiveReader
from iotide.daemon.aggregator import Aggregator
from iotide.daemon.archiving.archive_settings import ArchiveSettings
from iotide.daemon.archiving.archives import Archives
from iotide.daemon.ingest.sink import pass_whole_streams
from iotide.daemon.jobs.accounting.job_ledger import ledger_of
from iotide.daemon.jobs.job_findings import findings_of
from iotide.daemon.jobs.job_summary import detail_of
from iotide.daemon.server_parts import build_archives
from iotide.daemon.settings import AggregatorSettings
from iotide.events import Definitions, FileInfo, FileType, Kind, Layer, StreamInfo, make_batch
from support.jobs.batches import rows

NOW_S = 1_700_000_000.0
CALLS = ("read", "write", "io_submit")
PATHS = ("/data/a", "/data/b.py", "/usr/lib/libc.so", "pipe:[7]")


def stream(draw: random.Random, number: int) -> WholeStream:
    """Return a stream: mostly that of a short process, sometimes an odd one."""
    count, files = draw.randint(1, 5), draw.randint(1, 3)
    odd = draw.choice([*("none",) * 40, "undefined", "ahead", "other job", "follows", "gap"])
    start = int(NOW_S * 1e9) - 10**9 * draw.randint(1, 20) + 1000 * np.arange(count)
    pid = draw.choice([100, 101, 1000 + number, 1000 + number])
    batch = make_batch(
        count,
        {
            "start": start + (10**14 if odd == "ahead" else 0),
            "duration": 500,
            "call": np.array(draw.choices(range(len(CALLS) + 1), k=count)) + (9 if odd == "undefined" else 0),
            "file": draw.choices(range(files + 1), k=count),
            "kind": draw.choices([Kind.READ, Kind.WRITE], k=count),
            "bytes": draw.randint(0, 9),
            "layer": Layer.POSIX,
            "handle": draw.randint(0, 2),
            "pid": pid,
            "tid": pid,
        },
    )
    paths = draw.sample(PATHS, files)
    named = [(at, FileInfo(path, FileType.REGULAR, "/", "ext4", False)) for at, path in enumerate(paths, 1)]
    strings = [(at, call) for at, call in enumerate(CALLS, 1)]
    info = StreamInfo(
        job="other" if odd == "other job" else "job",
        source="preload",
        host=draw.choice(["n1", "n2"]),
        user="u",
        command=draw.choice(["cp a b", "./app"]),
        rank=draw.choice([-1, 0, 1]),
        pid=pid,
        clock_offset_ns=0,
        follows=f"{number - 1}" if odd == "follows" else "",
        taken_before=7 if odd == "follows" else 0,
    )
    return WholeStream(f"s:{number}", info, batch, Definitions([] if odd == "gap" else strings, named))


class Run:
    """An aggregator with archives, and a fixed time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.aggregator = Aggregator(AggregatorSettings(), lambda: NOW_S, lambda: 0.0)
        archives = build_archives(self.aggregator, ArchiveSettings(folder=folder), lambda: NOW_S)
        assert archives is not None
        self.archives: Archives = archives

    def separately(self, each: WholeStream) -> None:
        self.archives.opened(each.stream, each.info)
        self.archives.batch(each.stream, each.batch, each.definitions)
        self.archives.closed(each.stream, {})

    def outcome(self) -> dict[str, Any]:
        """Return everything that is published of each job, and its archived streams."""
        self.archives.close()
        made: dict[str, Any] = {}
        for job in ("job", "other"):
            if (session := self.aggregator.jobs.get(job)) is None:
                continue
            made[job] = {
                "detail": detail_of(session, NOW_S).model_dump(),
                "ledger": ledger_of(session, archives=True).model_dump(),
                "signal": session.signal().model_dump(),
                "findings": repr(findings_of(session, ranking=True, run_s=9.0)()),
                "commands": session.command,
                "files": sorted(file.path for file in session.names.files),
                "heard": (session.heard_at_s, session.no_stream_since_s, session.last_ns, session.lag_s),
                "ranks": (session.ranks, session.losses.all_losses(ended=True), session.losses.opened),
                "systems": session.file_systems.used,
            }
        return made | {path.name: archived(path) for path in sorted(self.folder.glob("*.iotide"))}


def archived(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        reader = ArchiveReader(file, path.name)
        assert reader.complete
        read = {
            each.name: ([row for chunk in reader.calls(number) for row in rows(chunk.batch)], each.info, each.losses)
            for number, each in reader.streams.items()
        }
        assert not reader.problems
        return read


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_streams_added_together_are_as_if_added_separately(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    whole = [stream(draw, number) for number in range(draw.randint(1, 24))]
    together, apart = Run(tmp_path / "together"), Run(tmp_path / "apart")
    at = 0
    while at < len(whole):
        count = draw.randint(1, 8)
        pass_whole_streams(together.archives, whole[at : at + count])
        at += count
    for each in whole:
        apart.separately(each)
    assert together.outcome() == apart.outcome()


def test_folders_are_recognized_by_calls_of_streams_added_together(tmp_path: Path) -> None:
    run = Run(tmp_path)
    for number in range(3):
        info = StreamInfo(job="job", source="preload", pid=number, clock_offset_ns=0)
        file = Definitions([(1, "rmdir")], [(1, FileInfo(f"/data/{number}", FileType.REGULAR))])
        batch = make_batch(1, {"start": int(NOW_S * 1e9) - 10**9, "duration": 5, "call": 1, "file": 1, "pid": number})
        pass_whole_streams(run.archives, [WholeStream(f"s:{number}", info, batch, file)])
    files = run.aggregator.jobs["job"].names.files
    assert [(each.path, each.type) for each in files[1:]] == [(f"/data/{at}", FileType.DIRECTORY) for at in range(3)]
    run.archives.close()
