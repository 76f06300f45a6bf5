"""Descriptors that a process has open, with and without /proc."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from iotide.events.network import open_descriptors as module
from iotide.events.network.open_descriptors import close_all_but, open_descriptors
from support.system.commands import plain_environment


def _no_proc(_: Any) -> list[str]:
    raise FileNotFoundError


@pytest.mark.parametrize("listing", [os.listdir, _no_proc])
def test_open_descriptors_are_found(monkeypatch: pytest.MonkeyPatch, listing: Callable[..., list[str]]) -> None:
    monkeypatch.setattr(module.os, "listdir", listing)
    reading, writing = os.pipe()
    found = open_descriptors()
    os.close(writing)
    assert {0, 1, 2, reading, writing} <= set(found)
    assert writing not in open_descriptors() or listing is os.listdir  # the listing may have taken its number
    os.close(reading)


@pytest.mark.parametrize("listing", [os.listdir, _no_proc])
def test_child_keeps_only_what_it_asked_for(monkeypatch: pytest.MonkeyPatch, listing: Callable[..., list[str]]) -> None:
    reading, writing = os.pipe()
    if (pid := os.fork()) == 0:
        try:
            monkeypatch.setattr(module.os, "listdir", listing)
            close_all_but({writing})
            os.write(writing, b"closed" if not module._is_open(reading) else b"open")
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as answers:
        assert answers.read() == b"closed"
    os.waitpid(pid, 0)


COUNTED = """
import os, resource, sys
from iotide.events.network import open_descriptors as module
from iotide.events.network.open_descriptors import count_open_descriptors

def no_proc(_):
    raise FileNotFoundError

wanted, (_, hard) = int(sys.argv[1]), resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))
pipe = os.pipe()
counts = [count_open_descriptors()]
module.os.listdir = no_proc
counts.append(count_open_descriptors())
os.close(pipe[0])
print(*counts, count_open_descriptors())
"""
"""A process of its own: that of the tests may have more descriptors open than the lowest limit."""


@pytest.mark.parametrize("limit", [200, 3000, 100_000])
def test_descriptors_are_counted_without_proc_as_with_it(limit: int) -> None:
    words = [sys.executable, "-c", COUNTED, str(limit)]
    printed = subprocess.run(words, capture_output=True, text=True, check=True, env=plain_environment()).stdout
    known, polled, fewer = map(int, printed.split())
    assert polled == known
    assert fewer == known - 1
