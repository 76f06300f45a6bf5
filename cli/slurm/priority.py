"""CPU priority of a job's collector. It is high while the job waits for it, and normal beside the job's programs."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path
from typing import Final

WAITED_FOR: Final = -15
"""Niceness while the node waits for the collector. The scripts of ``deploy/slurm`` have the same."""
_SESSION: Final = -10
"""Niceness of the collector's session meanwhile, on systems whose sessions share the cores."""
_PASSES: Final = 8
"""Maximum number of passes over the threads. A thread that starts during one inherits the earlier niceness."""
_RETRY_S: Final = 0.05


def raise_priority(pid: int) -> None:
    """Give a process a high priority, as far as the system allows it."""
    _set(pid, WAITED_FOR, _SESSION)


def reset_priority(pid: int) -> None:
    """Give all threads of a process the normal priority. The job's programs use the same cores."""
    _set(pid, 0, 0)


def _set(pid: int, niceness: int, session: int) -> None:
    done: set[str] = set()
    for _ in range(_PASSES):
        with contextlib.suppress(OSError):
            fresh = set(os.listdir(f"/proc/{pid}/task")) - done  # noqa: PTH208
            if not fresh:
                break
            for thread in fresh:
                with contextlib.suppress(OSError):
                    os.setpriority(os.PRIO_PROCESS, int(thread), niceness)
            done |= fresh
    for _ in range(_PASSES):
        try:
            Path(f"/proc/{pid}/autogroup").write_text(str(session))
        except BlockingIOError:  # without CAP_SYS_ADMIN the kernel permits ten changes per second on the whole machine
            time.sleep(_RETRY_S)
            continue
        except OSError:
            pass
        break
