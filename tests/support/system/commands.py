"""Run iotide as a user does."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import AnyStr

from support.system.waiting import DEADLINE_S

IOTIDE = [sys.executable, "-m", "iotide"]


def plain_environment(**extra: str) -> dict[str, str]:
    """Our environment without variables of a batch system or an outer iotide."""
    drop = ("IOTIDE_", "SLURM_", "PBS_", "LD_PRELOAD")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(drop)}
    # Open MPI refuses root and more ranks than cores by default; containers run as root on few cores.
    kept |= {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "OMPI_MCA_btl": "self,vader,tcp",
        "OMPI_MCA_btl_tcp_if_include": "lo",
        "OMPI_MCA_oob_tcp_if_include": "lo",
        "PMIX_MCA_psec": "^munge",  # the socket of a munged that has ended costs each start of ranks 2.3 s
        "TERM": "dumb",
    }
    return kept | extra


class Program(subprocess.Popen[AnyStr]):
    """A program that its ``with`` block ends if a test fails: the test, and all after it, would wait for its end."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self.kill()
        super().__exit__(kind, error, trace)


@contextmanager
def running(*command: str | Path, cwd: Path, **extra: str) -> Iterator[subprocess.Popen[str]]:
    """Run a program, and end it after the block."""
    process = subprocess.Popen(command, cwd=cwd, env=plain_environment(**extra), stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def iotide(
    *arguments: str | Path,
    cwd: Path,
    timeout_s: float = DEADLINE_S,
    env: Mapping[str, str] | None = None,
    stdin: str = "",
) -> subprocess.CompletedProcess[str]:
    """Run a sub-command to its end."""
    return subprocess.run(
        [*IOTIDE, *map(str, arguments)],
        cwd=cwd,
        env=env or plain_environment(),
        input=stdin,
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )
