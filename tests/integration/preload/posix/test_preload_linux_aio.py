"""Asynchronous I/O of the kernel (libaio): every operation with its bytes at its completion."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from iotide.events import Flag, Kind
from support.system.commands import plain_environment
from support.tracing.compiled_programs import built
from support.tracing.programs import need, need_library
from support.tracing.tracing import Row, Tracing

WAYS = ("libaio", "raw", "plugin")
LIBAIO = "-l:libaio.so.1"


def command_of(way: str, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    source = "linux_aio.c"
    if way != "raw":
        need_library("libaio.so.1")
    if way == "libaio":
        return [str(built(tmp_path_factory, source, LIBAIO, name="linux_aio_libaio"))]
    raw = str(built(tmp_path_factory, source, "-DRAW", name="linux_aio_raw"))
    return [raw]


def transfers(rows: list[Row]) -> dict[str, tuple[int, int]]:
    """Count and bytes of successful operations, by kind."""
    found = {}
    for kind in (Kind.READ, Kind.WRITE):
        ends = [row for row in rows if row.kind == kind and row.call == "io_getevents" and not row.flags & Flag.FAILED]
        found[kind.name] = len(ends), sum(row.bytes for row in ends)
    return found


@pytest.mark.parametrize("what", ["calls", "threads"])
@pytest.mark.parametrize("way", WAYS)
def test_every_operation_is_seen_with_its_bytes(
    tracing: Tracing, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, way: str, what: str
) -> None:
    command = [*command_of(way, tmp_path_factory), what]
    if way == "plugin":
        plugin = built(tmp_path_factory, "linux_aio.c", "-DPLUGIN", "-shared", "-fPIC", LIBAIO, name="linux_aio.so")
        command.append(str(plugin))
    untraced = subprocess.run(
        command, cwd=tmp_path, env=plain_environment(), capture_output=True, text=True, check=False
    )
    assert untraced.returncode == 0, untraced.stdout
    done = tracing.run(command, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, untraced.stdout, untraced.stderr)
    told = {kind: (int(count), int(size)) for kind, count, size in (line.split() for line in done.stdout.splitlines())}
    rows = tracing.rows(path=tmp_path / "data")
    assert transfers(rows) == told
    begun = [row for row in rows if row.call == "io_submit" and row.kind in (Kind.READ, Kind.WRITE)]
    failed = [row for row in rows if row.call == "io_getevents" and row.flags & Flag.FAILED]
    assert len(begun) == sum(count for count, _ in told.values()) + len(failed)
    assert not any(row.bytes for row in begun)
    if what == "calls":
        assert {(row.kind, row.offset, row.requested, row.bytes, row.errno) for row in rows if row.offset > 64} >= {
            (Kind.WRITE, 4096, 128, 128, 0),
            (Kind.READ, 4096, 4096, 128, 0),
        }
        assert [(row.errno, row.bytes) for row in failed] == [(14, 0)]


FIO = ["--name=job", "--filename=data", "--size=4m", "--bs=32k", "--rw=rw", "--randseed=1", "--ioengine=libaio"]


@pytest.mark.parametrize(
    "options",
    [
        ["--iodepth=16"],
        ["--iodepth=16", "--iodepth_batch=8", "--iodepth_batch_complete_min=4"],
        ["--iodepth=16", "--userspace_reap"],
        ["--iodepth=4", "--numjobs=3", "--thread"],
    ],
    ids=["deep", "batches", "reaped_by_the_program", "threads"],
)
def test_bytes_of_fio_are_those_that_it_moved(tracing: Tracing, tmp_path: Path, options: list[str]) -> None:
    (tmp_path / "data").write_bytes(bytes(4 << 20))
    jobs = 3 if "--numjobs=3" in options else 1
    done = tracing.run([need("fio"), *FIO, "--output=log", *options], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = [row for row in tracing.rows(path=tmp_path / "data") if row.kind in (Kind.READ, Kind.WRITE) and row.bytes]
    assert {row.call for row in rows} == {"io_getevents"}
    assert [row.bytes for row in rows] == [32768] * (128 * jobs)
    assert {row.requested for row in rows} == {32768}
    for kind in (Kind.READ, Kind.WRITE):
        offsets = {row.offset for row in rows if row.kind == kind}
        assert offsets == set(range(0, 32768 * len(offsets), 32768))
