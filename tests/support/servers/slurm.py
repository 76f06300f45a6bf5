"""The Slurm of ``make demo-cluster`` for tests: one at a time over all of their processes."""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from iotide.cli.cluster_demo.small_slurm import Slurm, small_slurm
from iotide.events import UnavailableError
from support.system.commands import plain_environment
from support.system.waiting import DEADLINE_S, wait_for
from support.tracing.programs import need

_OTHERS_S = 120.0


def _lock(descriptor: int) -> None:
    """Lets other tests' Slurm end first, some time at most: two can run side by side, and what waits long is ended."""

    def locked() -> bool:
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        return False

    with contextlib.suppress(AssertionError):
        wait_for(locked, _OTHERS_S)


@contextlib.contextmanager
def slurm(folder: Path, *lines: str) -> Iterator[Slurm]:
    """Runs it; skips the test where Slurm is absent, or where this user may not run one.

    Args:
        folder: an empty one, for all of its files.
        lines: further ones for slurm.conf.
    """
    for name in ("munged", "slurmctld", "slurmd"):
        need(name)
    if os.getuid() != 0:
        pytest.skip("Slurm's daemons start programs as their users, which takes root")
    with contextlib.ExitStack() as stack:
        lock = stack.enter_context(Path(tempfile.gettempdir(), f"iotide-slurm-tests-{os.getuid()}").open("w"))
        _lock(lock.fileno())
        starting = small_slurm(folder, *lines, environment=plain_environment(), deadline_s=DEADLINE_S)
        try:
            running = stack.enter_context(starting)
        except UnavailableError as error:
            if "mount" not in str(error):
                raise
            pytest.skip(str(error))
        yield running
