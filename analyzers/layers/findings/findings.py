"""Findings of a layer report."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from ....results.layers import Finding, Layers
from ..report_context import ReportContext
from ..settings import Thresholds
from .findings_calls import churn, collectives, concentrated, failed, late, metadata, node_local, own_files
from .findings_requests import amplified, computing, of_files

_RULES: Final[tuple[Callable[[ReportContext, Layers, Thresholds], Iterator[Finding]], ...]] = (
    concentrated,
    late,
    collectives,
    amplified,
    computing,
    of_files,
    own_files,
    churn,
    metadata,
    failed,
    node_local,
)
"""Rules, each with its threshold and the numbers behind its findings."""


def findings(view: ReportContext, report: Layers, limits: Thresholds) -> list[Finding]:
    """Return the findings by descending time."""
    least_s = max(limits.least_s, limits.least_share * sum(row.data_seconds for row in report.layers))
    found = [each for rule in _RULES for each in rule(view, report, limits) if each.seconds >= least_s]
    return sorted(found, key=lambda finding: -finding.seconds)
