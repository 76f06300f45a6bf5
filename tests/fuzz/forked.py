"""Reader processes as forks of the fuzzing process: starting Python for each input takes longer than all the rest."""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from types import ModuleType, SimpleNamespace
from typing import IO, NoReturn, Self
from unittest import mock


class Forked:
    """Stands in for ``subprocess.Popen`` with ``python -m MODULE ARGUMENT...`` as the command."""

    def __init__(self, command: Sequence[str], *, stdin: object, stdout: object, stderr: IO[bytes]) -> None:
        module, *arguments = command[command.index("-m") + 1 :]
        main = importlib.import_module(module).main
        reader, writer = os.pipe()
        self._pid, self._status = os.fork(), None
        if not self._pid:
            _run(main, arguments, writer, stderr)
        os.close(writer)
        self.stdout = os.fdopen(reader, "rb")

    def wait(self, timeout_s: float) -> int:
        """Return the exit status, negative for a signal."""
        until_s = time.monotonic() + timeout_s
        while self._status is None:
            pid, status = os.waitpid(self._pid, os.WNOHANG)
            if pid:
                self._status = os.waitstatus_to_exitcode(status)
            elif time.monotonic() > until_s:
                raise subprocess.TimeoutExpired("fork", timeout_s)
            else:
                time.sleep(0.0005)
        return self._status

    def kill(self) -> None:
        """Kill the process, unless it has ended."""
        if self._status is None:
            os.kill(self._pid, signal.SIGKILL)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stdout.close()
        if self._status is None:
            os.waitpid(self._pid, 0)


def _run(main: Callable[[], None], arguments: Sequence[str], out: int, errors: IO[bytes]) -> NoReturn:
    status = 1
    try:
        os.dup2(out, 1)
        os.dup2(errors.fileno(), 2)
        sys.argv = ["", *arguments]
        main()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def fork_readers(module: ModuleType) -> None:
    """Let a module fork this process instead of starting Python."""
    names = {name: getattr(subprocess, name) for name in ("DEVNULL", "PIPE", "TimeoutExpired")}
    mock.patch.object(module, "subprocess", SimpleNamespace(Popen=Forked, **names)).start()
