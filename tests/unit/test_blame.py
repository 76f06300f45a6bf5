"""A failing test does not affect others, unclosed resources are reported for their own test, and no test hangs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.places import TESTS
from support.system.waiting import DEADLINE_S

BODY = """
import socket, time, pytest
from support.tracing.programs import need

class Kept(socket.socket):
    pass

@pytest.fixture
def half():
    opened = socket.socket()
    assert opened is None

def test_fails_with_a_local():
    opened = socket.socket()
    assert not opened

def test_comes_second():
    pass

def test_fails_with_a_chain():
    try:
        opened = socket.socket()
        assert not opened
    finally:
        raise OSError

def test_comes_fourth():
    pass

def test_fails_in_a_fixture(half):
    pass

def test_comes_sixth():
    pass

def test_leaves_a_cycle():
    opened = Kept()
    opened.cycle = opened

def test_comes_eighth():
    pass

@pytest.mark.timeout(0.5)
def test_hangs():
    time.sleep(600)

@pytest.mark.parametrize("name", ["none1", "none2", "none1"])
def test_needs(name):
    need(name)
"""
FAILED = {"fails_with_a_local", "fails_with_a_chain", "hangs"}
PASSED = {"comes_second", "comes_fourth", "comes_sixth", "comes_eighth", "leaves_a_cycle"}
BLAMED_AFTERWARDS = {"fails_in_a_fixture", "leaves_a_cycle"}
LEFT_OUT = "3 tests were left out, as none1, none2 are not installed; `make system-deps` installs what the tests need"


@pytest.mark.slow
@pytest.mark.parametrize("in_ci", [False, True])
def test_each_test_is_blamed_for_itself_and_what_is_left_out_is_told(tmp_path: Path, in_ci: bool) -> None:
    (tmp_path / "test_it.py").write_text(BODY)
    command = [sys.executable, "-m", "pytest", "-n0", "-rA", "-p", "conftest", "-p", "no:cacheprovider"]
    command += ["-c", str(TESTS.parent / "pyproject.toml"), "--rootdir", str(tmp_path), str(tmp_path / "test_it.py")]
    environment = {**os.environ, "PYTHONPATH": str(TESTS), "CI": "true" if in_ci else ""}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=DEADLINE_S)
    found = re.findall(r"^(PASSED|FAILED|ERROR) \S*test_it\.py::test_(\w+)", done.stdout, re.MULTILINE)
    told = {what: {name for each, name in found if each == what} for what in ("PASSED", "FAILED", "ERROR")}
    failed = FAILED | {"needs"} if in_ci else FAILED
    assert told == {"PASSED": PASSED, "FAILED": failed, "ERROR": BLAMED_AFTERWARDS}, done.stdout
    assert done.stdout.splitlines().count(LEFT_OUT) == (0 if in_ci else 1), done.stdout
