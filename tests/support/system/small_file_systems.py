"""Folders with little space: in-memory file systems."""

from __future__ import annotations

import contextlib
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
