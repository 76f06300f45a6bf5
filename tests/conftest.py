"""Shared fixtures: hypothesis profiles, tracer and region fixtures, and attribution of unclosed resources to their
test.
"""

from __future__ import annotations

import gc
import itertools
import signal
import sys
import traceback
import warnings
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from support.tracing.programs import left_out
from support.tracing.regions import MadeRegion
from support.tracing.tracing import Tracing

# Load from other processes slows tests, so neither a deadline nor the too_slow check may fail one.
settings.register_profile("busy", parent=settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("quick", parent=settings.get_profile("busy"), max_examples=10)  # make check
settings.load_profile("busy")

# Shells let commands in the background ignore SIGINT, and the programs of the tests would inherit that.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

_NUMBERS = itertools.count()


@pytest.fixture
def tracing(tmp_path: Path) -> Iterator[Tracing]:
    """A listening collector; pass its ``environment()`` to programs, or ``run`` them."""
    with Tracing(tmp_path) as made:
        yield made


@pytest.fixture
def made() -> Iterator[MadeRegion]:
    """A region as a traced process creates it; ``hand_over`` passes it to a collector."""
    with MadeRegion() as region:
        yield region


@pytest.fixture(autouse=True, scope="session")
def _state_of_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Keep aggregators away from the state folder of the user who runs the tests."""
    folder = tmp_path_factory.getbasetemp() / "state"
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_STATE_HOME", str(folder / "shared"))
        patched.delenv("STATE_DIRECTORY", raising=False)
        yield folder


@pytest.fixture(autouse=True)
def _state_of_its_own(_state_of_session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the aggregators of each test a state folder of their own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(_state_of_session / str(next(_NUMBERS))))


@pytest.fixture(autouse=True)
def _garbage() -> Iterator[None]:
    """Collect garbage at the end of each test, so that unclosed resources are reported for this test."""
    yield
    gc.collect()
    gc.freeze()  # long-lived objects, such as modules, are not scanned again: each scan takes 0.1 s


def pytest_sessionfinish() -> None:
    """Collect the garbage that appeared after the last test."""
    gc.unfreeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Release the frames of a failed test: they would otherwise be freed, and reported, during the next test."""
    report = yield
    if report.failed and call.excinfo is not None and not item.config.getoption("usepdb"):
        with warnings.catch_warnings(action="ignore", category=ResourceWarning):
            _clear(call.excinfo.value)
            sys.last_traceback = sys.last_value = sys.last_exc = None
            gc.collect()
    return report


def _clear(error: BaseException | None) -> None:
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        for frame, _ in traceback.walk_tb(error.__traceback__):
            frame.f_locals  # noqa: B018  (before Python 3.13, what this gave before holds the values until it is asked anew)
        for each in getattr(error, "exceptions", ()):
            _clear(each)
        error = error.__cause__ or error.__context__


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print one line with the number of tests skipped for absent programs and the command that installs these."""
    reasons = [report.longrepr[2] for report in terminalreporter.stats.get("skipped", ()) if report.longrepr]
    if line := left_out(reasons):
        terminalreporter.write_line(line, yellow=True)
