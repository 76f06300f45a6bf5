"""Folders with little space: in-memory file systems."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.tracing.programs import need


@contextlib.contextmanager
def small_room(folder: Path, size: int) -> Iterator[Path]:
    """Mount a file system of the given size in bytes; needs the right to mount, which root in a container may lack."""
    folder.mkdir()
    mounted = subprocess.run(
        [need("mount"), "-t", "tmpfs", "-o", f"size={size},mode=700", "tmpfs", str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=False)


def fill(folder: Path) -> Path:
    """Fill a small file system; removing the returned file frees its space."""
    ballast = folder / "ballast"
    with ballast.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while file.write(bytes(4096)):
            pass
    return ballast


class Disk:
    """An ext4 file system in a file. Its kernel makes it read-only on an error, as that of most machines does."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "disk"
        self._image = folder / "disk.img"
        self.folder.mkdir()
        with self._image.open("wb") as file:
            file.truncate(32 << 20)
        subprocess.run([need("mkfs.ext4"), "-q", str(self._image)], check=True)

    def mount(self) -> None:
        """Mount it; skip the test where that is not possible, as in most containers."""
        command = [need("mount"), "-o", "loop,errors=remount-ro", str(self._image), str(self.folder)]
        mounted = subprocess.run(command, capture_output=True, text=True, check=False)
        if mounted.returncode:
            pytest.skip(f"no file system in a file can be mounted here: {mounted.stderr.strip()}")

    def fail(self) -> None:
        """Cause an error, after which the kernel accepts no writes."""
        number = os.stat(self.folder).st_dev  # noqa: PTH116
        device = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}").resolve().name
        trigger = Path(f"/sys/fs/ext4/{device}/trigger_fs_error")
        if not trigger.exists():
            pytest.skip("this kernel causes no errors of a file system on request")
        trigger.write_text("1")
        with contextlib.suppress(OSError):
            (self.folder / "probe").touch()
            pytest.skip("this kernel did not make the file system read-only")

    def repair(self) -> None:
        """Unmount it, check a copy of its blocks, and mount the copy.

        The failed file system stays in memory while any process, or another mount namespace, still uses it.
        """
        subprocess.run(["umount", "--lazy", str(self.folder)], check=True)
        copy = self._image.with_suffix(".copy")
        shutil.copyfile(self._image, copy)
        self._image = copy
        subprocess.run([need("fsck.ext4"), "-fy", str(copy)], capture_output=True, check=False)
        self.mount()


@contextlib.contextmanager
def mounted_disk(folder: Path) -> Iterator[Disk]:
    """Mount a file system that can fail."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount a file system in a file")
    disk = Disk(folder)
    disk.mount()
    try:
        yield disk
    finally:
        subprocess.run(["umount", "--lazy", str(disk.folder)], check=False)
