"""Files of programs with other mounts than the collector: their file system is resolved in the program's namespace."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from iotide.collectors.node.file_metadata import NodeFileMetadata
from iotide.events import FileType
from support.system.commands import Program
from support.system.mounting import need_mounts
from support.system.waiting import wait_for
from support.tracing.tracing import Tracing


def test_file_on_a_mount_that_only_the_program_sees(tracing: Tracing, tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    script = f"echo outside >{tmp_path}/file; read go; mount -t tmpfs none {inner}; echo inside >{inner}/file"
    with Program(
        [*need_mounts(), "sh", "-c", script], env=tracing.environment(), stdin=subprocess.PIPE, text=True
    ) as running:
        wait_for(lambda: tracing.poll() or f"{tmp_path}/file" in tracing.files(), what="the first file")
        running.communicate("go\n")
    tracing.settle()
    files = tracing.files()
    assert (files[f"{inner}/file"].mount_point, files[f"{inner}/file"].filesystem) == (str(inner), "tmpfs")
    outside = files[f"{tmp_path}/file"]
    mine = NodeFileMetadata()
    expected = mine.of_process(os.getpid())(f"{tmp_path}/file", FileType.REGULAR)
    mine.close()
    assert outside == expected
    assert not (inner / "file").exists()


def test_file_of_a_program_in_a_jail(tracing: Tracing, tmp_path: Path) -> None:
    if os.getuid() != 0:
        pytest.skip("only root may call chroot")
    script = """
import os, sys
os.chroot(sys.argv[1])
os.chdir("/")
descriptor = os.open("/data", os.O_CREAT | os.O_WRONLY)
os.write(descriptor, b"x" * 10)
os.close(descriptor)
"""
    done = tracing.run([shutil.which("python3") or "python3", "-c", script, tmp_path])
    assert done.returncode == 0, done.stderr
    (tmp_path / "data").unlink()
    info = tracing.files()["/data"]
    mine = NodeFileMetadata()
    expected = mine.of_process(os.getpid())(str(tmp_path), FileType.DIRECTORY)
    mine.close()
    assert info.type is FileType.REGULAR
    assert info.filesystem in (expected.filesystem, "")


def test_names_where_the_kernel_tells_none(tracing: Tracing, tmp_path: Path) -> None:
    if os.getuid() != 0:
        pytest.skip("only root may call chroot")
    (tmp_path / "folder").mkdir()
    script = """
import os, sys
os.chroot(sys.argv[1])  # without /proc
os.chdir("/")
folder = os.open("/folder", os.O_RDONLY)
os.write(os.open("below", os.O_CREAT | os.O_WRONLY, dir_fd=folder), b"x" * 10_007)
os.mkdir("made", dir_fd=os.dup(folder))
reader, writer = os.pipe()
os.write(writer, b"x" * 11_003)
os.read(reader, 11_003)
"""
    done = tracing.run([sys.executable, "-c", script, tmp_path])
    assert done.returncode == 0, done.stderr
    moved = {
        tracing.tables[stream].file(number).path: size
        for stream, batch in tracing.events().items()
        for number, size in zip(batch.file.tolist(), batch.bytes.tolist(), strict=True)
        if size in (10_007, 11_003)
    }
    assert moved.pop("/folder/below") == 10_007
    assert [(name.partition(":")[0], size) for name, size in moved.items()] == [("pipe", 11_003)]
    assert "/folder/made" in tracing.files()


def test_types_of_files_are_those_of_the_files(tracing: Tracing, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    script = f"cat {tmp_path}/fifo & echo through > {tmp_path}/fifo; wait; ls {tmp_path} >{tmp_path}/list; :</dev/null"
    done = tracing.run(["sh", "-c", script])
    assert done.returncode == 0, done.stderr
    types = {path: info.type for path, info in tracing.files().items()}
    assert types[f"{tmp_path}/fifo"] is FileType.PIPE
    assert types[f"{tmp_path}/list"] is FileType.REGULAR
    assert types[str(tmp_path)] is FileType.DIRECTORY
    assert types["/dev/null"] is FileType.DEVICE
