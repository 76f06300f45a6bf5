"""Analyzers built by hand, and replacements of analyzers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from iotide.analyzers.pipeline.contract import Analyzer, JobContext, Reporting
from iotide.analyzers.pipeline.job_groups import JobGroups
from iotide.analyzers.pipeline.job_totals import JobTotals
from iotide.analyzers.pipeline.numbering import JobNames
from iotide.analyzers.pipeline.settings import AnalyzerSettings
from iotide.analyzers.registry import ANALYZERS
from msgspec.structs import replace


def context(names: JobNames, job: str = "j", **settings: object) -> JobContext:
    """Return the context of an analyzer; ``settings``: tables by name."""
    read: Callable[[str], str] = lambda name: Path(name).read_text()  # noqa: E731
    return JobContext(job, names, AnalyzerSettings.model_validate(settings), read)


def replace_analyzer(monkeypatch: pytest.MonkeyPatch, name: str, make: Callable[[JobContext], Analyzer | None]) -> None:
    """Replace the construction of one analyzer for all jobs."""
    monkeypatch.setitem(ANALYZERS, name, replace(ANALYZERS[name], make=make))


def results_of(analyzer: object) -> object:
    """Return everything that an analyzer reports, in a form that can be compared."""
    if isinstance(analyzer, JobTotals):
        totals = analyzer.totals
        return totals.events, totals.bytes_read, totals.bytes_written, totals.calls(), totals.files()
    if isinstance(analyzer, JobGroups):
        members, signals = analyzer.analyzer.members, analyzer.analyzer.signals
        held = [signals.bins_of_members(level).tolist() for level in range(signals.levels)]
        return [str(each) for each in members.all], signals.oldest, signals.newest, held
    assert isinstance(analyzer, Reporting)
    return analyzer.deferred_result()()
