"""What tests share: how generated ones take a busy machine, what those of traced programs need, who is to blame."""

from __future__ import annotations

import gc
import itertools
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

# Slow is what other processes make of a test, too: neither a clock nor a check of one fails any.
settings.register_profile("busy", parent=settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("quick", parent=settings.get_profile("busy"), max_examples=10)  # make check
settings.load_profile("busy")

_NUMBERS = itertools.count()


@pytest.fixture
def tracing(tmp_path: Path) -> Iterator[Tracing]:
    """A listening collector; give programs its ``environment()``, or ``run`` them."""
    with Tracing(tmp_path) as made:
        yield made


@pytest.fixture
def made() -> Iterator[MadeRegion]:
    """A region as a traced process makes it; ``hand_over`` gives it to a collector."""
    with MadeRegion() as region:
        yield region


@pytest.fixture(autouse=True, scope="session")
def _state_of_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Keeps aggregators away from the state of whoever runs the tests."""
    folder = tmp_path_factory.getbasetemp() / "state"
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_STATE_HOME", str(folder / "shared"))
        patched.delenv("STATE_DIRECTORY", raising=False)
        yield folder


@pytest.fixture(autouse=True)
def _state_of_its_own(_state_of_session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Gives the aggregators of each test jobs of their own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(_state_of_session / str(next(_NUMBERS))))


@pytest.fixture(autouse=True)
def _garbage() -> Iterator[None]:
    """Frees what a test left behind while the test itself is blamed for what it did not close."""
    yield
    gc.collect()
    gc.freeze()  # what stays, such as modules, is not looked through again: a look takes a tenth of a second


def pytest_sessionfinish() -> None:
    """Has what has become garbage since then found after all."""
    gc.unfreeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Lets go of what a failed test had open: its frames would be freed, and blamed, during the next test."""
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
    """Says in one line what was left out for want of a program, and the command that brings it."""
    reasons = [report.longrepr[2] for report in terminalreporter.stats.get("skipped", ()) if report.longrepr]
    if line := left_out(reasons):
        terminalreporter.write_line(line, yellow=True)
