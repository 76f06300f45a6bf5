"""Run a function as another user of the machine, which needs root."""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import pytest

ALICE, BOB = 61_001, 61_002
need_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as other users")


def become(user: int) -> None:
    """Change this process to an unprivileged user, permanently."""
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


class UserProcess:
    """A process of another user; a context manager that ends it.

    It is a fork of this process, as the other user may not be able to read Python's own files. Required modules must be
    imported before. The results must be JSON.
    """

    def __init__(self, user: int, act: Callable[[Callable[[Any], None]], Any]) -> None:
        reader, writer = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # the fork has one thread, and starts none of ours
            self.pid = os.fork()
        if self.pid == 0:
            os.close(reader)
            with os.fdopen(writer, "w") as out:
                _act(user, act, out)
            os._exit(0)
        os.close(writer)
        self._output = os.fdopen(reader)

    def __enter__(self) -> UserProcess:
        return self

    def __exit__(self, *_: object) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        self._output.close()

    def receive(self) -> Any:
        """Return its next message, or its result."""
        line = self._output.readline()
        assert line, "the process sent no message"
        message = json.loads(line)
        assert "error" not in message, message["error"]
        return message["sent"]


def as_user(user: int, act: Callable[[], Any]) -> Any:
    """Return the result of a function that runs as another user."""
    with UserProcess(user, lambda _: act()) as process:
        return process.receive()


def _act(user: int, act: Callable[[Callable[[Any], None]], Any], out: Any) -> None:
    def send(what: Any) -> None:
        print(json.dumps({"sent": what}), file=out, flush=True)

    try:
        become(user)
        send(act(send))
    except BaseException:
        print(json.dumps({"error": traceback.format_exc()}), file=out, flush=True)
        sys.stderr.flush()
