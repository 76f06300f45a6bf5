"""Construction of a report's data from finished traces. All analyzers share one pass; the prediction is separate."""

from __future__ import annotations

from collections.abc import Sequence

from ...analyzers.advice.update import AdviceAnalyzer
from ...analyzers.heat_map.settings import HeatMapSettings
from ...analyzers.heat_map.update import HeatMapAnalyzer
from ...analyzers.layers.report.report import Cut
from ...analyzers.offline.detection import AnalysisOptions, analyse
from ...analyzers.online.predictor import Predictor
from ...analyzers.pipeline.analysis_queue import QueuedEvents
from ...analyzers.pipeline.contract import Analyzer, JobContext
from ...analyzers.pipeline.job_graph import JobGraph
from ...analyzers.pipeline.job_interactions import JobInteractions
from ...analyzers.pipeline.job_layers import JobLayers
from ...analyzers.pipeline.job_totals import JobTotals, call_totals, file_totals, not_counted
from ...analyzers.pipeline.settings import AnalyzerSettings
from ...analyzers.registry import ANALYZERS
from ...analyzers.settings import DetectSettings
from ...clients.report.job_data import JobData
from ...clients.report.report_data import ReportData
from ...events.counted_text import counted
from ...results.findings import Findings
from ...results.jobs.job import JobDetail
from ...results.prediction import Prediction
from ..traces.stream_order import nesting_of
from ..traces.trace_analysis import add_events, context_of
from ..traces.trace_reading import Trace

_TOP = 40
_CUT = Cut(handles=0, files=0, processes=0, hosts=0)


class _CombinedAnalyzers:
    """Several analyzers that process the same events; the first failure ends the work."""

    def __init__(self, analyzers: Sequence[Analyzer], predictor: Predictor, context: JobContext) -> None:
        self._analyzers = analyzers
        self._predictor = predictor
        self._names = context.names

    def update(self, queued: QueuedEvents) -> None:
        """Process events."""
        self._predictor.update(queued.batch, self._names.left_out)
        for analyzer in self._analyzers:
            analyzer.update(queued)

    def close_stream(self, stream: str) -> None:
        """Process the end of a stream."""
        for analyzer in self._analyzers:
            analyzer.close_stream(stream)

    def compact(self) -> None:
        """Release memory."""
        for analyzer in self._analyzers:
            analyzer.compact()

    def losses(self) -> dict[str, int]:
        """Return the losses by bounds, by reason."""
        return {reason: count for analyzer in self._analyzers for reason, count in analyzer.losses().items()}


def material_of(trace: Trace, job: str) -> ReportData:
    """Analyse a trace.

    Args:
        trace: the trace.
        job: name of the job.
    """
    context = context_of(job, AnalyzerSettings())
    totals, layers, graph = JobTotals(context), JobLayers(context), JobGraph(context)
    interactions, heat = JobInteractions(context), HeatMapAnalyzer(context, HeatMapSettings())
    advice = ANALYZERS["advice"].make(context)
    signal = Predictor(job, DetectSettings())
    each: list[Analyzer] = [totals, layers, graph, interactions, heat, *([] if advice is None else [advice])]
    together = _CombinedAnalyzers(each, signal, context)
    nesting = nesting_of(trace)
    add_events(together, trace, context.names, in_order=nesting, what="analysing")
    together.compact()
    prediction = analyse(
        trace.batches(), DetectSettings(), job, AnalysisOptions(), trace.with_members, trace.stamp_s
    ).prediction
    first_ns, last_ns = trace.span_ns
    findings = Findings(
        layers=layers.report(_CUT) if nesting is None else layers.report(_CUT, "time", has_handles=nesting.has_handles),
        heat=heat.deferred_result()(),
        graph=graph.deferred_result()(),
        ranking=interactions.deferred_result()(),
        advice=advice.deferred_result()(prediction) if isinstance(advice, AdviceAnalyzer) else None,
    )
    subject = JobData(
        job=_detail(trace, job, context, totals, signal),
        prediction=prediction if trace.wall_clock else _without_next_time(prediction),
        predictions=0,
        started_s=first_ns / 1e9,
        ended_s=last_ns / 1e9,
        wall_clock=trace.wall_clock,
        notes=(f"read from {', '.join(sorted(set(trace.formats)))}",),
        missing_parts=tuple(_missing_notes(trace, together)),
    )
    return ReportData(subject, signal.series(first_ns, last_ns), (), findings)


def _detail(trace: Trace, job: str, context: JobContext, totals: JobTotals, signal: Predictor) -> JobDetail:
    infos = [stream.info for stream in trace.streams.values()]
    names = {info.job for info in infos if info.job}
    first_ns, last_ns = trace.span_ns
    return JobDetail(
        job=names.pop() if len(names) == 1 else job,
        state="ended",
        user=next((info.user for info in infos if info.user), ""),
        command=next((info.command for info in infos if info.command), ""),
        hosts=sorted({info.host for info in infos if info.host}),
        streams=0,
        ranks=max(max((info.ranks for info in infos), default=0), len({info.rank for info in infos if info.rank >= 0})),
        first_event_at_s=first_ns / 1e9,
        last_event_at_s=last_ns / 1e9,
        events=trace.events,
        bytes_read=signal.bytes_read,
        bytes_written=signal.bytes_written,
        bandwidth=0.0,
        events_dropped=0,
        predictions=0,
        files=file_totals(totals.totals, context.names, _TOP),
        calls=call_totals(totals.totals, context.names, _TOP),
        not_counted=not_counted(totals.totals, context.names),
    )


def _without_next_time(prediction: Prediction) -> Prediction:
    """Remove the time of the next phase: the zero of the trace's clock is unknown."""
    return prediction.without_next()


def _missing_notes(trace: Trace, together: _CombinedAnalyzers) -> list[str]:
    notes = []
    if trace.problems.total:
        notes.append(f"left out: {counted(trace.problems.total, 'malformed pieces of input')}")
    notes += [counted(count, what) for what, count in trace.unsupported.counts.most_common(8)]
    notes += [f"{count:,} left out: {reason}" for reason, count in together.losses().items() if count]
    return notes
