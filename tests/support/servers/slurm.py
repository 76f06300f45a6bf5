"""The Slurm of ``make demo-cluster`` for tests; one instance at a time over all test processes."""

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
    """Wait for other tests' Slurm with a limit: two can run side by side, and a long wait would time out."""

    def locked() -> bool:
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        return False

    with contextlib.suppress(AssertionError):
        wait_for(locked, _OTHERS_S)


@contextlib.contextmanager
def slurm(folder: Path, *lines: str) -> Iterator[Slurm]:
    """Run it; skip the test if Slurm is absent or this user may not run it.

    Args:
        folder: an empty one, for all of its files.
        lines: further lines for slurm.conf.
    """
    for name in ("munged", "slurmctld", "slurmd"):
        need(name)
    if os.getuid() != 0:
        pytest.skip("Slurm's daemons start programs as their users, which needs root")
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
