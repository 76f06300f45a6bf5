"""Construction of the detection report for finished traces."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ...analyzers.offline.detection import AnalysisOptions, analyse
from ...analyzers.offline.member_groups import SecondaryResult
from ...analyzers.offline.requests import Batches
from ...analyzers.settings import DetectSettings
from ...events.files import readable
from ...results.traces.analysis import DetectionReport
from ..common.console.input_problems import problem_list, unsupported_list
from ..traces.ordered_columns import OrderedColumns
from ..traces.trace_reading import Trace, name_of


class DetectionResult(NamedTuple):
    """The report, and data for charts. The data are events of the members with the period, and the periods of others.

    ``member_events`` is None if all members have the period.
    """

    report: DetectionReport
    member_events: Batches | None
    other_periods: Sequence[SecondaryResult]


def report_of(
    paths: Sequence[Path],
    trace: Trace,
    settings: DetectSettings,
    wanted: AnalysisOptions,
    span_ns: tuple[int, int] | None = None,
) -> DetectionResult:
    """Detect the period of a trace.

    Args:
        paths: files of the trace.
        trace: the trace, or a window of it.
        settings: settings of the detection.
        wanted: optional further analyses.
        span_ns: start and end of the whole trace, if ``trace`` is a window.
    """
    prediction, analysis, own, beside = analyse(
        trace.batches(), settings, name_of(paths), wanted, trace.with_members, trace.stamp_s, OrderedColumns
    )
    first_ns, last_ns = span_ns or trace.span_ns
    moved = trace.moved()
    report = DetectionReport(
        files=[readable(path) for path in paths],
        source=", ".join(sorted(set(trace.formats))),
        events=trace.events,
        bytes_read=moved.read,
        bytes_written=moved.written,
        not_counted=moved.not_counted,
        start_s=first_ns / 1e9,
        end_s=last_ns / 1e9,
        wall_clock=trace.wall_clock,
        prediction=prediction,
        analysis=analysis,
        problems=problem_list(trace.problems),
        problems_total=trace.problems.total,
        not_carried=unsupported_list(trace.unsupported),
    )
    return DetectionResult(report, own, beside)
