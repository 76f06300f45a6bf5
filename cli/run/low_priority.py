"""Work beside a command that gives way to it, as long as the command runs."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Final, TypeVar

NICER: Final = 10
"""By so much: a tenth of a core where the command takes all, so that it is not starved."""
_LEAST: Final = 19
_T = TypeVar("_T")


class LowPriority:
    """Threads that give way to a command, and take their priority back when it has ended, where the system allows."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._own: dict[int, int] = {}  # niceness by thread
        self._over = threading.Event()

    @contextlib.contextmanager
    def given(self) -> Iterator[None]:
        """Has this thread give way in the block, unless the command has ended; the thread is to do no more after it."""
        thread = threading.get_native_id()
        own = os.getpriority(os.PRIO_PROCESS, thread)
        with self._lock:
            if not self._over.is_set():
                self._own[thread] = own
                _set(thread, min(own + NICER, _LEAST))
        try:
            yield
        finally:
            with self._lock:  # its number may soon be another's
                self._own.pop(thread, None)

    def over(self) -> None:
        """Takes in that the command has ended: nobody else is to wait for a thread that gives way."""
        with self._lock:
            self._over.set()
            for thread, own in self._own.items():
                _set(thread, own)

    def wait(self, most_s: float) -> bool:
        """Waits until the command has ended, so long at most; returns whether it has."""
        return self._over.wait(most_s)

    def done(self, work: Callable[[], _T]) -> _T:
        """Returns what work returns, which runs in a thread that gives way; raises what it raises.

        The caller's thread keeps its priority, as one that has given way may not take it back.
        """
        result: Future[_T] = Future()

        def run() -> None:
            with self.given():
                try:
                    result.set_result(work())
                except BaseException as error:
                    result.set_exception(error)

        threading.Thread(target=run, name="giving way", daemon=True).start()
        return result.result()


def _set(thread: int, niceness: int) -> None:
    with contextlib.suppress(OSError):  # a user may not take back what was given
        os.setpriority(os.PRIO_PROCESS, thread, niceness)
