"""The next run removes the folders of killed runs, and nothing else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from iotide.cli.common import socket_folder as module
from iotide.cli.common.socket_folder import GATE, remove_left_over, socket_folder
from support.system.waiting import DEADLINE_S

HOLD = """
import socket, sys
from iotide.cli.common.socket_folder import GATE, socket_folder
with socket_folder() as folder:
    gate = socket.socket(socket.AF_UNIX)
    gate.bind(str(folder / GATE))
    print(folder, flush=True)
    sys.stdin.read()
"""


def holding(root: Path) -> tuple[subprocess.Popen[str], Path]:
    """Return a process that uses a folder below ``root``, and the folder."""
    environment = dict(os.environ) | {"TMPDIR": str(root)}
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD], text=True, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def end(process: subprocess.Popen[str], number: signal.Signals) -> None:
    process.send_signal(number)
    process.communicate(timeout=DEADLINE_S)


@pytest.fixture
def short_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="it-", dir="/tmp") as name:
        yield Path(name)


@pytest.fixture
def dead(short_folder: Path) -> Path:
    process, folder = holding(short_folder)
    end(process, signal.SIGKILL)
    assert {path.name for path in folder.iterdir()} >= {GATE}
    return folder


@pytest.mark.slow
def test_folder_of_a_killed_run_goes_when_another_starts(dead: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(dead.parent))
    with socket_folder() as folder:
        assert list(dead.parent.iterdir()) == [folder]
    assert list(dead.parent.iterdir()) == []


@pytest.mark.slow
def test_folder_of_a_run_that_goes_on_stays(short_folder: Path) -> None:
    process, folder = holding(short_folder)
    try:
        remove_left_over(short_folder)
        assert (folder / GATE).is_socket()
    finally:
        process.communicate("", timeout=DEADLINE_S)
    assert not folder.exists()


def with_a_file(folder: Path) -> None:
    (folder / "mine").write_text("kept")


def of_another_kernel(folder: Path) -> None:
    (folder / "lock").write_text("00000000-0000-0000-0000-000000000000\n")


def not_begun(folder: Path) -> None:
    (folder / "lock").write_text("")


def without_a_lock(folder: Path) -> None:
    (folder / "lock").unlink()


def with_a_linked_lock(folder: Path) -> None:
    (folder / "lock").rename(folder.parent / "elsewhere")
    (folder / "lock").symlink_to(folder.parent / "elsewhere")


def with_a_fifo(folder: Path) -> None:
    (folder / "lock").unlink()
    os.mkfifo(folder / "lock")


def open_to_others(folder: Path) -> None:
    folder.chmod(0o755)


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [with_a_file, of_another_kernel, not_begun, without_a_lock, with_a_linked_lock, with_a_fifo, open_to_others],
)
def test_folder_that_another_run_may_use_is_kept(dead: Path, change: Callable[[Path], None]) -> None:
    change(dead)
    before = sorted(dead.iterdir())
    remove_left_over(dead.parent)
    assert sorted(dead.iterdir()) == before


@pytest.mark.slow
def test_folder_of_another_user_stays(dead: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: dead.stat().st_uid + 1)
    remove_left_over(dead.parent)
    assert dead.exists()


def test_link_to_a_dead_folder_is_not_followed(dead: Path, short_folder: Path) -> None:
    other = short_folder / "other"
    other.mkdir()
    (other / "iotide-link").symlink_to(dead)
    remove_left_over(other)
    assert (dead / GATE).is_socket()
    assert (other / "iotide-link").is_symlink()


@pytest.mark.slow
def test_nothing_is_removed_if_the_boot_id_is_unreadable(dead: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BOOT", Path("/nowhere/boot_id"))
    remove_left_over(dead.parent)
    assert dead.exists()
