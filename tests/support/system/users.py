"""Does something as another user of the machine, which needs root."""

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
    """Makes this process one of an unprivileged user, for good."""
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


class Acting:
    """A process of another user; a context manager that ends it.

    It is a copy of this process, as the other user may not be able to read Python's own files: what it needs has to be
    imported. What it returns has to be JSON.
    """

    def __init__(self, user: int, act: Callable[[Callable[[Any], None]], Any]) -> None:
        reader, writer = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", DeprecationWarning
            )  # the copy has one thread alone, and starts none of ours
            self.pid = os.fork()
        if self.pid == 0:
            os.close(reader)
            with os.fdopen(writer, "w") as out:
                _act(user, act, out)
            os._exit(0)
        os.close(writer)
        self._said = os.fdopen(reader)

    def __enter__(self) -> Acting:
        return self

    def __exit__(self, *_: object) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        self._said.close()

    def heard(self) -> Any:
        """Returns what it says next, or in the end."""
        line = self._said.readline()
        assert line, "it said nothing"
        told = json.loads(line)
        assert "error" not in told, told["error"]
        return told["said"]


def as_user(user: int, act: Callable[[], Any]) -> Any:
    """Returns what a function returns as another user."""
    with Acting(user, lambda _: act()) as acting:
        return acting.heard()


def _act(user: int, act: Callable[[Callable[[Any], None]], Any], out: Any) -> None:
    def say(what: Any) -> None:
        print(json.dumps({"said": what}), file=out, flush=True)

    try:
        become(user)
        say(act(say))
    except BaseException:
        print(json.dumps({"error": traceback.format_exc()}), file=out, flush=True)
        sys.stderr.flush()
