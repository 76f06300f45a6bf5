"""Descriptors that a process has open, with and without /proc."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest
from iotide.events.network import open_descriptors as module
from iotide.events.network.open_descriptors import close_all_but, open_descriptors


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
