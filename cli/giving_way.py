"""Work that starts beside a command and gives way to it."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Final, TypeVar

NICENESS: Final = 10
"""A tenth of a core where the command takes all, so that it is not starved."""
_T = TypeVar("_T")


def giving_way(work: Callable[[], _T]) -> _T:
    """Returns what work returns, which runs in a thread of lower priority; raises what it raises.

    The caller's thread keeps its priority, as one that has given way may not take it back.
    """
    result: Future[_T] = Future()

    def run() -> None:
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _nicer())
        try:
            result.set_result(work())
        except BaseException as error:
            result.set_exception(error)

    threading.Thread(target=run, name="giving way", daemon=True).start()
    return result.result()


def _nicer() -> int:
    return max(NICENESS, os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))
