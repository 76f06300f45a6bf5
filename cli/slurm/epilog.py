"""The epilog of a job with a collector. It ends the collector, waits for it, and cleans up."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from .node_folder import JobFolder
from .priority import raise_priority

_KILLED_S: Final = 5.0


def end_collector(place: JobFolder, timeout_s: float, say: Callable[[str], None]) -> bool:
    """End the collector of a job on this node, if there is one.

    Args:
        place: its files, which are removed.
        timeout_s: maximum time for acknowledgements, s; then it is killed.
        say: callback with the collector's output, and with failures.

    Returns:
        Whether it ended by itself, or there was none.
    """
    place.environment.unlink(missing_ok=True)  # first: no task may look for a collector that ends
    ended, was_there = True, False
    if (watch := place.opened_process()) is not None:
        try:
            if was_there := not _has_ended(watch, 0.0):  # it may have ended without being reaped
                raise_priority(place.pid)  # also if other jobs use all cores
                ended = _end(watch, timeout_s)
        finally:
            os.close(watch)
    if not ended:
        say(f"the collector had not ended after {timeout_s:g} s, and was killed")
    elif not was_there and place.process.exists():
        say("the collector had ended before its job")
    for line in place.log_tail():
        say(line)
    place.remove()
    return ended


def _end(watch: int, timeout_s: float) -> bool:
    for number, wait_s in ((signal.SIGTERM, timeout_s), (signal.SIGKILL, _KILLED_S)):
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(watch, number)
        if _has_ended(watch, wait_s):
            return number == signal.SIGTERM
    return False


def _has_ended(watch: int, within_s: float) -> bool:
    ending = select.poll()
    ending.register(watch, select.POLLIN)
    return bool(ending.poll(within_s * 1000))
