"""Low-priority work while a command runs."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Final, TypeVar

NICE_INCREMENT: Final = 10
"""Niceness increment. It leaves a tenth of a core if the command uses all, so that the work is not starved."""
_MAX_NICE: Final = 19
_T = TypeVar("_T")


class LowPriority:
    """Threads with low priority while a command runs, and normal priority afterwards if permitted."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._own: dict[int, int] = {}  # niceness by thread
        self._has_ended = threading.Event()

    @contextlib.contextmanager
    def lowered(self) -> Iterator[None]:
        """Lower this thread's priority in the block, unless the command has ended.

        The thread must end with the block.
        """
        thread = threading.get_native_id()
        own = os.getpriority(os.PRIO_PROCESS, thread)
        with self._lock:
            if not self._has_ended.is_set():
                self._own[thread] = own
                _set(thread, min(own + NICE_INCREMENT, _MAX_NICE))
        try:
            yield
        finally:
            with self._lock:  # its number may soon be reused
                self._own.pop(thread, None)

    def command_ended(self) -> None:
        """Handle the end of the command. No other thread may then wait for a low-priority thread."""
        with self._lock:
            self._has_ended.set()
            for thread, own in self._own.items():
                _set(thread, own)

    def wait(self, most_s: float) -> bool:
        """Wait until the command has ended, for a maximum time; return whether it has."""
        return self._has_ended.wait(most_s)

    def run(self, work: Callable[[], _T]) -> _T:
        """Run work in a low-priority thread and return its result, or raise its exception.

        The caller's thread keeps its priority, as a lowered priority may not be raised again.
        """
        result: Future[_T] = Future()

        def run() -> None:
            with self.lowered():
                try:
                    result.set_result(work())
                except BaseException as error:
                    result.set_exception(error)

        threading.Thread(target=run, name="giving way", daemon=True).start()
        return result.result()


def _set(thread: int, niceness: int) -> None:
    with contextlib.suppress(OSError):  # a user may not be permitted to raise a priority
        os.setpriority(os.PRIO_PROCESS, thread, niceness)
