"""All analyzers of a job except that of its period. Totals, graph, layers and interactions run on large batches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, TypeVar

from msgspec import Struct, field

from ...analyzers.online.predictor import Predictor
from ...analyzers.pipeline.analysis_queue import AnalysisQueue, Run
from ...analyzers.pipeline.contract import Analyzer, JobContext, Reporting
from ...analyzers.pipeline.job_totals import JobTotals
from ...analyzers.pipeline.numbering import JobNames
from ...analyzers.registry import ANALYZERS
from ...analyzers.totals import Totals
from ...events import EventBatch, StreamInfo
from ...results.prediction import Prediction
from .job_settings import JobSettings, read_rules
from .losses.failures import Failures

if TYPE_CHECKING:
    from ...analyzers.pipeline.job_graph import JobGraph
    from ...analyzers.pipeline.job_groups import JobGroups
    from ...analyzers.pipeline.job_interactions import JobInteractions
    from ...analyzers.pipeline.job_layers import JobLayers

_MIN_BATCH_EVENTS: Final = 768
_MAX_BATCH_EVENTS: Final = 65_536
_MAX_ROOM_EVENTS: Final = 16_384
_MAX_CLOSING: Final = 256
_MIN_SPAN_S: Final = 5.0  # least span of a job whose members are examined

_Analyzer = TypeVar("_Analyzer")


class _Reader(Struct):
    analyzer: Analyzer
    seen: int = 0
    """Number of processed events of the queue."""
    closed: int = 0
    """Number of processed stream ends."""
    losses: dict[str, int] = field(default_factory=dict)
    """As last reported."""


class JobAnalyzers:
    """Queues a job's events until there are enough of them, or a result is requested. Each update has a fixed cost.

    A requested analyzer first processes the queue, so that its results are complete. A failed analyzer is stopped and
    reported in ``failures``; the others continue. Analyzers are imported with the first event.

    Attributes:
        events: number of events.
        signal: predictor of the whole job; None without one.
    """

    def __init__(self, job: str, settings: JobSettings, names: JobNames, failures: Failures) -> None:
        self.events = 0
        self.signal: Predictor | None = None
        self._job, self._settings, self._names, self._failures = job, settings, names, failures
        self._made: set[str] = set()  # analyzers requested or needed so far
        self._readers: dict[str, _Reader] = {}
        self._stopped: dict[str, dict[str, int]] = {}  # final losses of each
        self._queue = AnalysisQueue()
        self._closing: dict[str, int] = {}
        self._pids: dict[str, int] = {}

    @property
    def totals(self) -> Totals:
        """Totals by call and by file. Raises AnalysisFailedError, like all failed analyzers."""
        sums = self._updated_analyzer("totals", JobTotals)
        return sums.totals if sums is not None else Totals()

    @property
    def graph(self) -> JobGraph | None:
        """The directly-follows graph; None before the first event, and if it is off."""
        if not self.events:
            return None
        from ...analyzers.pipeline.job_graph import JobGraph

        return self._updated_analyzer("graph", JobGraph)

    @property
    def layers(self) -> JobLayers | None:
        """The layers; None before the first event, and if they are off."""
        if not self.events:
            return None
        from ...analyzers.pipeline.job_layers import JobLayers

        return self._updated_analyzer("layers", JobLayers)

    @property
    def interactions(self) -> JobInteractions | None:
        """The interactions; None before the first event, and if they are off."""
        if not self.events:
            return None
        from ...analyzers.pipeline.job_interactions import JobInteractions

        return self._updated_analyzer("interactions", JobInteractions)

    @property
    def groups(self) -> JobGroups | None:
        """Members and their groups; None before the first event, and if they are off."""
        if not self.events:
            return None
        from ...analyzers.pipeline.job_groups import JobGroups

        return self._updated_analyzer("groups", JobGroups)

    def with_groups(self, prediction: Prediction, now_ns: int, span_s: float, *, whole: bool) -> Prediction:
        """Return a prediction extended by groups of the job's members; unchanged for a short job.

        Args:
            prediction: prediction from the signal of the whole job.
            now_ns: current time.
            span_s: observed time of the job.
            whole: use the whole observation.
        """
        if not self.events or span_s < _MIN_SPAN_S:
            return prediction
        from ...analyzers.pipeline.job_groups import JobGroups, groups_wanted

        if not groups_wanted(self._settings.detect):
            return prediction
        self._make("groups")
        if "groups" in self._readers:
            self._catch_up("groups")
        reader = self._readers.get("groups")
        if reader is None or not isinstance(reader.analyzer, JobGroups):
            return prediction
        try:
            return reader.analyzer.answer(prediction, now_ns, whole=whole)
        except Exception as error:
            self._failures.add("groups", error, stopped=False)
            return prediction

    def put(self, batch: EventBatch, stream: str, info: StreamInfo, room: int = 0) -> None:
        """Add events of a stream in the job's numbers; ``room``: events that may wait, besides the job's share."""
        if self._closing and (stream in self._closing or (info.pid and info.pid in self._closing.values())):
            self._catch_up_all()  # the same pid may belong to another process now
        self._pids[stream] = info.pid
        self.events += len(batch)
        self._queue.put(batch, stream, info)
        if self._is_due(room):
            self._catch_up_all()

    def put_ended(self, batch: EventBatch, runs: list[Run], room: int = 0) -> None:
        """Add the events of streams that have ended, each without earlier events; ``room`` as in ``put``."""
        pids = {run.info.pid for run in runs if run.info.pid}
        if len(pids) < len(runs) or not pids.isdisjoint(self._closing.values()):  # a pid is used again
            at = 0
            for stream, info, length in runs:
                self.put(batch.select(slice(at, at + length)), stream, info, room)
                self.close_stream(stream)
                at += length
            return
        self.events += len(batch)
        self._queue.put_runs(batch, runs)
        self._closing.update((run.stream, run.info.pid) for run in runs)
        if self._is_due(room) or len(self._closing) >= _MAX_CLOSING:
            self._catch_up_all()

    def _is_due(self, room: int) -> bool:
        """Return whether the queue is long enough."""
        return len(self._queue) >= self._enough(room)

    def _enough(self, room: int) -> float:
        share = self.events * self._settings.queue_share  # a job with few events queues few
        return min(max(share, min(room, _MAX_ROOM_EVENTS), _MIN_BATCH_EVENTS), _MAX_BATCH_EVENTS)

    @property
    def queued_in_room(self) -> int:
        """Number of events that wait only because there was room."""
        return max(0, len(self._queue) - int(self._enough(0)))

    def empty_queue(self) -> None:
        """Analyze all waiting events."""
        self._catch_up_all()

    def close_stream(self, stream: str) -> None:
        """Close a stream."""
        if (pid := self._pids.pop(stream, None)) is not None:
            self._closing[stream] = pid
            if len(self._closing) >= _MAX_CLOSING:
                self._catch_up_all()

    def compact(self) -> None:
        """Release memory that a silent job does not need.

        The events of a small job stay queued: they are smaller than the analyzers' state, and most small jobs end
        without a request. Analyzers that were requested are released.
        """
        # a metrics scrape requests two parts of each job
        if len(self._made) < len(ANALYZERS) and self.events <= _MIN_BATCH_EVENTS:
            for name in list(self._readers):
                self._catch_up(name)
            self._queue.pack()
        else:
            self._catch_up_all()
        for name, reader in list(self._readers.items()):
            try:
                reader.analyzer.compact()
            except Exception as error:
                self._stop(name, error)

    def losses(self, name: str) -> dict[str, int]:
        """Return the losses of an analyzer so far, by reason. For a stopped one its final losses."""
        if (reader := self._readers.get(name)) is None:
            return self._stopped.get(name, {})
        try:
            reader.losses = reader.analyzer.losses()
        except Exception as error:
            self._failures.add(name, error, stopped=False)
        return reader.losses

    def all_losses(self) -> Iterator[tuple[str, dict[str, int]]]:
        """Yield each analyzer that has worked or was stopped, with its losses."""
        for name in (*self._readers, *(self._stopped.keys() - self._readers.keys())):
            yield name, self.losses(name)

    def _make(self, name: str) -> None:
        """Create an analyzer when it is first needed. Events are only removed once all analyzers exist."""
        if name in self._made or not self.events:
            return
        self._made.add(name)
        try:
            analyzer = ANALYZERS[name].make(JobContext(self._job, self._names, self._settings, read_rules))
        except Exception as error:
            self._failures.add(name, error, stopped=True)
            return
        if name == "groups":
            from ...analyzers.pipeline.job_groups import JobGroups

            if isinstance(analyzer, JobGroups):
                analyzer.signal = self.signal
        if analyzer is not None:
            self._readers[name] = _Reader(analyzer)

    def reporting_analyzer(self, name: str) -> Reporting | None:
        """Return an analyzer with a result of its own. Return None if it has none or is off."""
        analyzer = self._updated_analyzer(name, object)
        return analyzer if isinstance(analyzer, Reporting) else None

    def _updated_analyzer(self, name: str, kind: type[_Analyzer]) -> _Analyzer | None:
        self._make(name)
        if name in self._readers:
            self._catch_up(name)
            self._process_interactions(name)
        self._failures.check(name)
        reader = self._readers.get(name)
        return reader.analyzer if reader is not None and isinstance(reader.analyzer, kind) else None

    def _catch_up(self, name: str) -> None:
        reader = self._readers[name]
        try:
            first, reader.seen = reader.seen, len(self._queue)
            if first < len(self._queue):
                reader.analyzer.update(self._queue.since(first))
            first, reader.closed = reader.closed, len(self._closing)
            for stream in list(self._closing)[first:]:
                reader.analyzer.close_stream(stream)
        except Exception as error:
            self._stop(name, error)

    def _process_interactions(self, name: str) -> None:
        """Make interactions process their own queue: during a query they could not be stopped."""
        if name != "interactions" or (reader := self._readers.get(name)) is None:
            return
        try:
            reader.analyzer.compact()
        except Exception as error:
            self._stop(name, error)

    def _catch_up_all(self) -> None:
        for name in ANALYZERS:
            self._make(name)
        for name in list(self._readers):
            self._catch_up(name)
        for reader in self._readers.values():
            reader.seen = reader.closed = 0
        self._queue.clear()
        self._closing.clear()

    def _stop(self, name: str, error: Exception) -> None:
        """Remove a failed analyzer: it may have processed only a part of its input."""
        self._failures.add(name, error, stopped=True)
        self._stopped[name] = self.losses(name)
        del self._readers[name]
