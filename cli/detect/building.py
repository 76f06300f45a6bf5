"""Makes the report of finished traces' period."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ...analyzers.offline.detection import AnalysisOptions, analyse
from ...analyzers.offline.members import Beside
from ...analyzers.offline.requests import Batches
from ...analyzers.settings import DetectSettings
from ...events.files import readable
from ...results.traces.analysis import DetectionReport
from ..common.console.input_problems import listed, not_carried
from ..traces.trace_reading import Trace, name_of


class Detected(NamedTuple):
    """What was found, and for pictures the events of those who have the period and the periods of others.

    ``own`` is None where the period is of all.
    """

    report: DetectionReport
    own: Batches | None
    beside: Sequence[Beside]


def report_of(
    paths: Sequence[Path],
    trace: Trace,
    settings: DetectSettings,
    wanted: AnalysisOptions,
    span_ns: tuple[int, int] | None = None,
) -> Detected:
    """Finds the period in a trace.

    Args:
        paths: from where it was read.
        trace: what was read, or a window of it.
        settings: how the period is looked for.
        wanted: what is computed beyond it.
        span_ns: start and end of the whole of which the trace is a window.
    """
    prediction, analysis, own, beside = analyse(
        trace.batches(), settings, name_of(paths), wanted, trace.apart, trace.stamp_s
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
        problems=listed(trace.problems),
        problems_total=trace.problems.total,
        not_carried=not_carried(trace.unsupported),
    )
    return Detected(report, own, beside)
