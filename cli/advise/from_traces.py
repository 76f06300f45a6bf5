"""Construction of advice for finished traces."""

from __future__ import annotations

from ...analyzers.advice.settings import AdviceSettings
from ...analyzers.advice.update import AdviceAnalyzer
from ...analyzers.offline.detection import AnalysisOptions, analyse
from ...analyzers.pipeline.settings import AnalyzerSettings
from ...analyzers.settings import DetectSettings
from ...results.advice import Advice
from ..common.one_job_bounds import MAX_ADVICE_ROWS
from ..traces.stream_order import nesting_of
from ..traces.trace_analysis import add_events, context_of
from ..traces.trace_reading import Trace


def advice_of_trace(trace: Trace, job: str, floor_share: float, mtbf_s: float) -> Advice:
    """Return the advice for a trace. It comes from the analyzer of running jobs and the period of the whole trace.

    Args:
        trace: the trace.
        job: name of the job.
        floor_share: least share of the run that a change must save to be listed.
        mtbf_s: mean time between failures, s.
    """
    settings = AdviceSettings(floor_share=floor_share, mtbf_s=mtbf_s, max_rows=MAX_ADVICE_ROWS)
    context = context_of(job, AnalyzerSettings())
    analyzer = AdviceAnalyzer(context, settings)
    add_events(analyzer, trace, context.names, in_order=nesting_of(trace), what="judging")
    periodicity = analyse(
        trace.batches(), DetectSettings(), job, AnalysisOptions(), trace.with_members, trace.stamp_s
    ).prediction
    return analyzer.deferred_result()(periodicity)
