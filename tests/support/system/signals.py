"""Signal handlers of a process, from the kernel."""

from __future__ import annotations

import re
import signal
from pathlib import Path


def handles(pid: int, number: signal.Signals) -> bool:
    """Return whether a process has a handler for a signal, from /proc."""
    caught = re.search(r"^SigCgt:\s*([0-9a-f]+)$", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    return caught is not None and bool(int(caught[1], 16) >> (number - 1) & 1)
