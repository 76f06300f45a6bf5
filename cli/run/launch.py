"""Start of the command of ``iotide run`` with unchanged behaviour: signals, status, descriptors."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from types import FrameType
from typing import Any, Final, NoReturn, Self

EXIT_NOT_EXECUTABLE: Final = 126
EXIT_NOT_FOUND: Final = 127
_FROM_KEYBOARD: Final = (signal.SIGINT, signal.SIGQUIT)
_FORWARDED: Final = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)


class LaunchError(Exception):
    """The command cannot be started. ``status`` is the exit status of a shell in this case."""

    def __init__(self, status: int, problem: str) -> None:
        super().__init__(problem)
        self.status = status


def start(command: Sequence[str], environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Start a command with our standard streams and every inherited descriptor.

    Raises:
        LaunchError: the program does not exist or is not executable.
    """
    try:
        # Descriptors inherited from the user belong to the command; Python's own are close-on-exec.
        return subprocess.Popen(command, env=dict(environment), close_fds=False)
    except FileNotFoundError:
        is_there = "/" in command[0] and os.path.exists(command[0])  # then its interpreter or loader is missing
        text = "the interpreter that it names was not found" if is_there else "command not found"
        raise LaunchError(EXIT_NOT_FOUND, f"{command[0]}: {text}") from None
    except OSError as error:
        raise LaunchError(EXIT_NOT_EXECUTABLE, f"{command[0]}: {error.strerror}") from None


class SignalPassing:
    """Leaves signals to the command: those of the keyboard reach it directly, others are forwarded.

    It is entered before the command starts, so that no signal is lost; early signals are forwarded late.
    """

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None
        self._early: list[int] = []
        self._before: dict[signal.Signals, Any] = {}

    def attach(self, child: subprocess.Popen[bytes]) -> None:
        """Set the process that receives the signals."""
        self._child = child
        for number in self._early:
            self._forward(number, None)

    def __enter__(self) -> Self:
        for number in (*_FROM_KEYBOARD, *_FORWARDED):
            if signal.getsignal(number) == signal.SIG_IGN:
                continue  # nohup and similar: the command inherits it
            # A handler instead of SIG_IGN, which the command would inherit.
            handler = _ignore if number in _FROM_KEYBOARD and _is_in_foreground() else self._forward
            self._before[number] = signal.signal(number, handler)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _forward(self, number: int, _: FrameType | None) -> None:
        if self._child is None:
            self._early.append(number)
            return
        with contextlib.suppress(ProcessLookupError):
            self._child.send_signal(number)


def outlive_interrupts() -> None:
    """Ignore Ctrl-C until this process ends. A second Ctrl-C would otherwise cost the report and the exit status."""
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
        signal.signal(signal.SIGINT, _ignore)


def shell_status(returncode: int) -> int:
    """Return an exit status as a shell reports it. Death by signal N is 128 + N."""
    return returncode if returncode >= 0 else 128 - returncode


def exit_like(returncode: int) -> NoReturn:
    """End this process like the command. It ends with the command's status, or by the signal that killed it."""
    sys.stdout.flush()
    sys.stderr.flush()
    if returncode < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        with contextlib.suppress(OSError, ValueError):  # SIGKILL and SIGSTOP have no handler to reset
            signal.signal(-returncode, signal.SIG_DFL)
        os.kill(os.getpid(), -returncode)
    os._exit(shell_status(returncode))


def _ignore(number: int, _: FrameType | None) -> None:
    pass


def _is_in_foreground() -> bool:
    """Return whether our process group, and thus the command, gets the terminal's signals."""
    try:
        return os.tcgetpgrp(sys.stderr.fileno()) == os.getpgrp()
    except OSError:
        return False
