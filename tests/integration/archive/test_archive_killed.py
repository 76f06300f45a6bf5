"""An aggregator that is killed in the middle of a job leaves an archive that is readable up to the last checkpoint."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

from iotide.archive.file.reader import ArchiveReader
from support.system.commands import IOTIDE, iotide, running
from support.system.waiting import DEADLINE_S, wait_for

PROGRAM = """
import os, sys, time
file = os.open("out", os.O_CREAT | os.O_WRONLY)
at = 0
while os.path.exists("go on"):
    for _ in range(100):
        os.pwrite(file, b"x" * 64, 64 * at)
        at += 1
    time.sleep(0.01)
"""


def offsets_in(path: Path) -> list[int]:
    """Read the written offsets, as far as the archive is readable."""
    with path.open("rb") as file:
        reader = ArchiveReader(file, path.name)
        assert not reader.complete
        return [
            offset
            for number in reader.streams
            for calls in reader.calls(number)
            for offset, moved in zip(calls.batch.offset.tolist(), calls.batch.bytes.tolist(), strict=True)
            if moved == 64
        ]


def test_aggregator_killed_in_mid_job_leaves_an_archive_up_to_the_last_checkpoint(tmp_path: Path) -> None:
    ingest, tracer, folder = f"ipc://{tmp_path}/in", tmp_path / "tracer", tmp_path / "archives"
    told = iotide("collect", "--socket", tracer, "--print-environment", cwd=tmp_path).stdout.split()
    (tmp_path / "go on").touch()
    settings = {"IOTIDE_SERVE_ARCHIVE__FOLDER": str(folder), "IOTIDE_SERVE_ARCHIVE__CHECKPOINT_S": "0.2"}
    serve = [*IOTIDE, "serve", "--ingest", ingest, "--publish", "none", "--http", "none", "--interval", "0.1"]
    collect = [*IOTIDE, "collect", "--connect", ingest, "--socket", tracer, "--job", "long"]
    with running(*serve, cwd=tmp_path, **settings) as server, running(*collect, cwd=tmp_path):
        assert server.stderr is not None
        assert "ingest" in server.stderr.readline()
        wait_for(tracer.exists, what="the tracer's socket")
        with running(sys.executable, "-c", PROGRAM, cwd=tmp_path, **dict(each.split("=", 1) for each in told)):

            def checkpoints() -> int:
                begun = [path for path in folder.glob("long-*.iotide") if path.stat().st_size]
                return len(offsets_in(begun[0])) if begun else 0

            saved = wait_for(checkpoints, what="a checkpoint")
            wait_for(lambda: checkpoints() > saved, what="another checkpoint")
            saved = checkpoints()
            server.send_signal(signal.SIGKILL)
            assert server.wait(timeout=DEADLINE_S) == -signal.SIGKILL
            (tmp_path / "go on").unlink()
    (path,) = folder.glob("long-*.iotide")
    offsets = offsets_in(path)
    assert len(offsets) >= saved
    assert offsets == [64 * number for number in range(len(offsets))]
    verified = iotide("archive", "verify", path, cwd=tmp_path)
    assert "its writer did not come to the end" in verified.stdout or "damaged" in verified.stdout
