"""Finished traces in the pipeline of running jobs: the same batches for the same analyzers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final, TypeAlias

from ...analyzers.pipeline.analysis_queue import QueuedEvents
from ...analyzers.pipeline.contract import Analyzer, JobContext
from ...analyzers.pipeline.numbering import JobNames
from ...analyzers.pipeline.settings import AnalyzerSettings
from ...events import ConfigError, EventBatch, StreamInfo, concatenate
from ...events.files import read_text
from ..common.console.progress import step_progress
from ..common.one_job_bounds import MAX_CALLS, MAX_FILES
from .stream_order import merge_by_end
from .trace_reading import Trace, translator_of

_AT_ONCE: Final = 65_536

Choice: TypeAlias = Callable[[EventBatch, StreamInfo], EventBatch]
"""Returns the selected events of a stream."""


def context_of(job: str, settings: AnalyzerSettings) -> JobContext:
    """Return the context of analyzers for finished traces, with higher bounds than for running jobs."""
    return JobContext(job, JobNames(MAX_CALLS, MAX_FILES), settings, _rules)


def add_events(
    analyzer: Analyzer,
    trace: Trace,
    names: JobNames,
    *,
    chosen: Choice | None = None,
    in_order: Callable[[Iterable[EventBatch]], Iterator[EventBatch]] | None = None,
    what: str = "analysing",
) -> None:
    """Give an analyzer all events of a trace, stream by stream, and close the streams.

    Args:
        analyzer: gets the events by end, 65,536 at a time, independent of the trace's batches.
        trace: the trace.
        names: numbers of the events, as in the analyzer's context.
        chosen: selects events; in the numbers of ``names``.
        in_order: orders the events of a stream by end; by default they are sorted.
        what: description of the work, for the progress display.
    """
    with step_progress(what) as show:
        for at, (stream, pieces) in enumerate(trace.chunks.of_streams()):
            info = trace.streams[stream].info
            batches: Iterator[EventBatch] = map(translator_of(names, trace.streams[stream]).translate, pieces)
            if chosen is not None:
                batches = _chosen(batches, chosen, info)
            ordered = (
                merge_by_end(batches, ordered=trace.chunks.by_end(stream)) if in_order is None else in_order(batches)
            )
            for batch in _whole(ordered):
                analyzer.update(QueuedEvents.of(batch, stream, info))
            show(at + 1, len(trace.streams))
    for stream in trace.chunks.names:
        analyzer.close_stream(stream)


def _chosen(batches: Iterator[EventBatch], chosen: Choice, info: StreamInfo) -> Iterator[EventBatch]:
    for batch in batches:
        if len(left := chosen(batch, info)):
            yield left


def _whole(batches: Iterable[EventBatch]) -> Iterator[EventBatch]:
    """Regroup events into equal batches, so that analyzers get the same ones for any source."""
    held: list[EventBatch] = []
    events = 0
    for batch in batches:
        held.append(batch)
        events += len(batch)
        if events >= _AT_ONCE:
            whole = concatenate(held)
            cut = events - events % _AT_ONCE
            for at in range(0, cut, _AT_ONCE):
                yield whole.select(slice(at, at + _AT_ONCE))
            events -= cut
            held = [whole.select(slice(cut, None))] if events else []
    if events:
        yield concatenate(held)


def _rules(name: str) -> str:
    """Return the text of a file named in a setting. Raises ConfigError if it cannot be read."""
    try:
        return read_text(Path(name))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{name}: {error}") from None
