"""Work in a forked copy of the process. The copy sees a consistent state while the process continues."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import signal
import time
import warnings
from collections.abc import Callable, Collection
from typing import Final

from ...events.network.open_descriptors import close_all_but

_libc: Final = ctypes.CDLL(None, use_errno=True)
_DIE_WITH_PARENT: Final = 1
_NICE: Final = 5
_TIMEOUT_S: Final = 3600.0
_FAILED: Final = 255
"""Exit status of a copy that failed without an OSError. Lower ones are error numbers of the system."""


class ForkedTask:
    """One child at a time, which does some work and reports whether it succeeded.

    Attributes:
        took_s: wall time of the last child, s.
        cpu_s: CPU time of the last child, s.
        paused_s: time for which the last fork blocked the process, s.
        errno: errno of the OSError that ended the last child; 0 for another reason, or none.
    """

    def __init__(self) -> None:
        self.took_s = 0.0
        self.paused_s = self.cpu_s = 0.0
        self.errno = 0
        self._pid = 0
        self._started_s = 0.0

    @property
    def is_busy(self) -> bool:
        """Whether there is a child."""
        return self._pid != 0

    def begin(self, work: Callable[[], bool], keep: Collection[int] = ()) -> bool:
        """Run work in a forked child, with these descriptors open. Return False if it cannot be forked."""
        parent = os.getpid()
        self._started_s = time.monotonic()
        try:
            with warnings.catch_warnings():
                # warning about threads: the child uses none of their locks
                warnings.simplefilter("ignore", DeprecationWarning)
                self._pid = os.fork()
        except OSError:
            return False
        if self._pid == 0:
            _run_child(work, parent, keep)
        self.paused_s = time.monotonic() - self._started_s
        return True

    def poll(self, *, wait: bool = False) -> bool | None:
        """Return whether the work succeeded, once; None without a child, or while it works."""
        if not self._pid:
            return None
        if time.monotonic() - self._started_s > _TIMEOUT_S:
            self._kill()
        try:
            pid, status, used = os.wait4(self._pid, 0 if wait else os.WNOHANG)
            cpu_s = used.ru_utime + used.ru_stime
        except ChildProcessError:
            pid, status, cpu_s = self._pid, _FAILED << 8, 0.0
        if not pid:
            return None
        self._pid = 0
        self.cpu_s = cpu_s
        self.took_s = time.monotonic() - self._started_s
        code = os.waitstatus_to_exitcode(status)
        self.errno = code if 0 < code < _FAILED else 0
        return code == 0

    def close(self) -> None:
        """Kill the child, if there is one."""
        if self._pid:
            self._kill()
            self.poll(wait=True)

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)


def _run_child(work: Callable[[], bool], parent: int, keep: Collection[int]) -> None:
    """Work in the child, which ends here without the process' exit handlers."""
    status = _FAILED
    try:
        gc.disable()
        signal.set_wakeup_fd(-1)
        close_all_but(keep)  # sockets and locks: another daemon may take them over
        _libc.prctl(_DIE_WITH_PARENT, signal.SIGKILL, 0, 0, 0)
        if os.getppid() == parent:
            with contextlib.suppress(OSError):  # a sandbox may forbid it
                os.nice(_NICE)
            status = 0 if work() else _FAILED
    except OSError as error:
        status = error.errno if error.errno is not None and 0 < error.errno < _FAILED else _FAILED
    except BaseException:  # the exit status reports it
        status = _FAILED
    finally:
        os._exit(status)
