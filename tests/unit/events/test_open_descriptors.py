"""Descriptors that a process has open, with and without /proc."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable
from typing import Any

import pytest
from iotide.events.network import open_descriptors as module
from iotide.events.network.open_descriptors import close_all_but, count_open_descriptors, open_descriptors


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


@pytest.mark.parametrize("limit", [200, 3000, 100_000])
def test_descriptors_are_counted_without_proc_as_with_it(monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    pipe = os.pipe()
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    try:
        known = count_open_descriptors()
        monkeypatch.setattr(module.os, "listdir", _no_proc)
        assert count_open_descriptors() == known
        os.close(pipe[0])
        assert count_open_descriptors() == known - 1
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    os.close(pipe[1])
