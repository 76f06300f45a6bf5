"""Real programs: events of the preload library against strace's and the moved bytes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from iotide.events import Flag, Kind, Layer
from support.system.commands import plain_environment
from support.tracing.programs import need
from support.tracing.system_calls import seen_by_strace, seen_by_us
from support.tracing.tracing import Tracing

PYTHON = """
import mmap, os, shutil
with open("a", "wb") as file:
    file.write(bytes(10000))
with open("a", "r+b") as file:
    file.seek(100)
    file.write(b"x")
    os.fsync(file.fileno())
    with mmap.mmap(file.fileno(), 0) as memory:
        memory[0:1] = b"y"
        memory.flush()
os.pwrite(os.open("a", os.O_WRONLY), b"z" * 10, 5)
shutil.copy("a", "b")
os.rename("b", "c")
os.truncate("c", 5)
os.unlink("c")
"""
FILES = "mkdir t; for i in 1 2 3 4 5; do printf %1000s $i > t/$i; done"
SCRIPTS = {
    "dd": "dd if=/dev/zero of=a bs=4096 count=50 conv=fsync; dd if=a of=b bs=1000 count=3 skip=2 seek=1",
    "tar": f"{FILES}; tar cf x.tar t; mkdir out; tar xf x.tar -C out",
    "cp": f"{FILES}; cp -p t/1 u; cp -r t copy; mv copy other; ln other/1 v; touch -d yesterday v; rm other/2 v",
    "find": f"{FILES}; find t -type f -name '[12]' -delete",
}


def made(folder: Path) -> Path:
    folder.mkdir()
    return folder


@pytest.mark.parametrize("name", [*SCRIPTS, "python"])
def test_every_call_that_strace_sees_on_a_file_is_seen(tracing: Tracing, tmp_path: Path, name: str) -> None:
    command = [sys.executable, "-S", "-c", PYTHON] if name == "python" else ["sh", "-c", SCRIPTS[name]]
    need("find" if name == "python" else name)
    theirs = seen_by_strace(command, made(tmp_path / "theirs"), tmp_path / "log")
    done = tracing.run(command, cwd=made(tmp_path / "ours"))
    ours = seen_by_us(tracing.rows(), tmp_path / "ours")
    assert done.returncode == 0, done.stderr
    assert sum(theirs.values()) > 10
    assert ours == theirs


def test_bytes_of_programs_that_use_stdio_are_those_that_they_moved(tracing: Tracing, tmp_path: Path) -> None:
    text = "".join(f"{number}\n" for number in range(5000, 0, -1))
    (tmp_path / "in").write_text(text)
    done = tracing.run(["sh", "-c", "sort -n in > sorted; sed s/1/2/ sorted > out; grep 7 out > found"], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    read, written = tracing.bytes_by_path(Kind.READ), tracing.bytes_by_path(Kind.WRITE)
    sizes = {name: (tmp_path / name).stat().st_size for name in ("in", "sorted", "out", "found")}
    assert {name: read[str(tmp_path / name)] for name in ("in", "sorted", "out")} == {
        name: sizes[name] for name in ("in", "sorted", "out")
    }
    assert {name: written[str(tmp_path / name)] for name in ("sorted", "out", "found")} == {
        name: sizes[name] for name in ("sorted", "out", "found")
    }


def test_a_repository_that_is_made_under_the_tracer_is_whole(tracing: Tracing, tmp_path: Path) -> None:
    git = need("git")
    folder = made(tmp_path / "repository")
    identity = f"{git} -c user.name=n -c user.email=e@example.org"
    script = f"{git} init -q . && seq 3000 > a && {git} add a && {identity} commit -q -m first && {git} gc -q"
    done = tracing.run(["sh", "-c", script], cwd=folder, env=tracing.environment(HOME=str(folder)))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    check = [git, "fsck", "--strict"]
    environment = {**plain_environment(), "HOME": str(folder)}
    assert subprocess.run(check, cwd=folder, env=environment, capture_output=True, check=False).returncode == 0
    packs = list((folder / ".git" / "objects" / "pack").glob("*.pack"))
    (made_from,) = {row.path for row in tracing.rows("link") + tracing.rows("rename") if "tmp_pack" in row.path}
    assert tracing.bytes_by_path(Kind.WRITE)[made_from] == packs[0].stat().st_size
    assert not any(count for reason, count in tracing.source.counters.items() if "dropped" in reason)


ENGINES = {
    "sync": ("read", "write"),
    "psync": ("pread64", "pwrite64"),
    "pvsync": ("preadv", "pwritev"),
    "pvsync2": ("preadv2", "pwritev2"),
    "posixaio": ("aio_error", "aio_error"),
}


def fio(tracing: Tracing, folder: Path, engine: str, threads: int = 1) -> None:
    (folder / "data").write_bytes(bytes(1 << 20))
    job = ["--name=job", "--filename=data", "--size=1m", "--bs=32k", "--rw=rw", "--randseed=1", "--iodepth=4"]
    job += ["--end_fsync=1", "--thread", f"--numjobs={threads}", "--output=log"]
    done = tracing.run([need("fio"), *job, f"--ioengine={engine}"], cwd=folder)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("engine", ENGINES)
def test_each_way_of_moving_data_is_seen_with_its_bytes(tracing: Tracing, tmp_path: Path, engine: str) -> None:
    fio(tracing, tmp_path, engine)
    reading, writing = ENGINES[engine]
    path = tmp_path / "data"
    rows = [row for row in tracing.rows(path=path) if row.kind in (Kind.READ, Kind.WRITE) and row.bytes]
    assert {(row.call, row.kind) for row in rows} == {(reading, Kind.READ), (writing, Kind.WRITE)}
    assert [row.bytes for row in rows] == [32768] * 32
    assert {row.requested for row in rows} == {32768}
    if engine != "sync":
        for kind in (Kind.READ, Kind.WRITE):
            offsets = sorted(row.offset for row in rows if row.kind == kind)
            assert offsets == list(range(0, 32768 * len(offsets), 32768))


def test_asynchronous_operations_end_under_the_numbers_that_they_began_with(tracing: Tracing, tmp_path: Path) -> None:
    fio(tracing, tmp_path, "posixaio", threads=4)
    under_way: dict[str, int] = {}
    ended = 0
    begins = ("aio_read", "aio_write")
    rows = [row for row in tracing.rows(path=tmp_path / "data") if "id=" in row.signature]
    # A reused number has a new handle after its last end was seen, on any threads.
    for row in sorted(rows, key=lambda row: row.start if row.call in begins else row.end):
        number = row.signature.partition("id=")[2].partition(")")[0]
        if row.call in begins:
            assert number not in under_way
            assert not row.flags & Flag.BLOCKING
            under_way[number] = row.offset
        elif row.call == "aio_error" and row.kind in (Kind.READ, Kind.WRITE):
            assert under_way.pop(number) == row.offset
            ended += 1
    assert ended == 4 * 32
    assert not under_way


def test_mapped_file_is_seen_when_it_is_mapped_and_written_back(tracing: Tracing, tmp_path: Path) -> None:
    fio(tracing, tmp_path, "mmap")
    rows = tracing.rows(path=tmp_path / "data")
    opened = {row.handle for row in rows if row.call == "open"}
    for call in ("mmap", "msync"):
        found = [row for row in rows if row.call == call]
        assert found, call
        assert {row.handle for row in found} <= opened


MAPPING = """
import mmap
with open("data", "r+b") as file:
    for protection, flags in (3, mmap.MAP_SHARED), (1, mmap.MAP_SHARED), (3, mmap.MAP_PRIVATE), (2, mmap.MAP_SHARED):
        with mmap.mmap(file.fileno(), 8192, flags=flags, prot=protection) as memory:
            memory.flush(0, 4096)
            memory.flush()
"""


def test_mapping_has_flags_for_stores_that_reach_the_file_and_for_loads(tracing: Tracing, tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(bytes(8192))
    done = tracing.run([sys.executable, "-S", "-c", MAPPING], cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    rows = tracing.rows(path=tmp_path / "data")
    stores = [(row.call, row.requested) for row in rows if row.flags & Flag.STORES]
    assert stores == [("mmap", 8192), ("msync", 4096), ("msync", 8192)] * 2
    loads = [(row.call, row.requested) for row in rows if row.flags & Flag.LOADS]
    assert loads == [("mmap", 8192)] * 3
    assert len([row for row in rows if row.call == "msync"]) > 2


@pytest.mark.parametrize("calls", ["data", "data,seek,sync"])
def test_closed_descriptors_are_forgotten_also_when_closing_is_not_recorded(
    tracing: Tracing, tmp_path: Path, calls: str
) -> None:
    script = "for i in 1 2 3; do echo $i > $i; done"
    tracing.run(["sh", "-c", script], cwd=tmp_path, env=tracing.environment(IOTIDE_CALLS=calls))
    written = tracing.bytes_by_path(Kind.WRITE)
    assert [written[str(tmp_path / name)] for name in "123"] == [2, 2, 2]
    assert {row.kind for row in tracing.rows(layer=Layer.POSIX)} <= {Kind.READ, Kind.WRITE, Kind.SEEK, Kind.SYNC}
