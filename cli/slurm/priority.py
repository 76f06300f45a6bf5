"""CPU priority of a job's collector on a node that is busy: the job waits for its start and for its end."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Final

WAITED_FOR: Final = -15
"""Niceness while the node waits for the collector. The scripts of ``deploy/slurm`` have the same."""
BESIDE_THE_JOB: Final = -5
"""Niceness beside the job's programs, as of the process of ``iotide run`` that empties rings."""
_SESSION: Final = "-10"
"""Likewise of its session, on systems whose sessions share the cores."""


def set_priority(pid: int, niceness: int) -> None:
    """Set the niceness of all threads of a process, and the share of its session, as far as the system allows it."""
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208
            with contextlib.suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, int(thread), niceness)
    with contextlib.suppress(OSError):
        Path(f"/proc/{pid}/autogroup").write_text(_SESSION)
