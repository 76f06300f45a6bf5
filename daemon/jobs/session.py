"""One job: its streams, analyzers and results. It has no socket and no clock."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import InitVar, dataclass, field
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from ...analyzers.completeness import Completeness
from ...analyzers.online.predictor import Predictor
from ...analyzers.pipeline.numbering import JobNames, StreamNames
from ...analyzers.time_limit import measured_writes, time_limit_of
from ...analyzers.totals import Totals
from ...events import BatchJob, Definitions, EventBatch, Flag, StreamInfo
from ...events.batch import representatives
from ...events.losses import LEFT_RUNNING, MISPLACED, bytes_of, events_of
from ...results.jobs.job import SignalSeries
from ...results.prediction import Prediction, TimeLimit
from .clock_skew import shifted_to_arrival
from .file_systems import FileSystems
from .history import History, stale_at
from .job_analyzers import JobAnalyzers
from .job_description import describe_program
from .job_settings import JobSettings
from .job_state import State
from .losses.failures import Failures
from .losses.job_losses import LOST_WITH_COLLECTOR, Handovers, JobLosses, without_incomplete_period
from .losses.job_nodes import NODES_LATE_S, NONE_UNSEEN, JobNodes, UnseenNodes
from .losses.ledger import Ledger

if TYPE_CHECKING:
    from ...analyzers.pipeline.job_graph import JobGraph
    from ...analyzers.pipeline.job_interactions import JobInteractions
    from ...analyzers.pipeline.job_layers import JobLayers

_BANDWIDTH_S: Final = 10
_MAX_HOSTS: Final = 64  # listed in a prediction
_ENDED: Final = (State.ENDED, State.REMOVED)
SIGNAL: Final = "signal"
PREDICTION: Final = "prediction"


@dataclass(slots=True)
class JobSession:
    """The state of one job; a function of its batches in their order.

    Two clocks are arguments: ``now_s`` is the time of day, for timestamps and predictions; ``at_s`` is a monotonic
    clock, for the age of the job.
    """

    job: str
    settings: JobSettings
    created_at_s: float
    """By the steady clock."""
    failed: InitVar[Failures | None] = None
    """Collects failures of the analyses; by default they are only reported with the job."""
    state: State = State.RUNNING
    ended_at_s: float = 0.0
    heard_at_s: float = 0.0
    """Time of the last batch, by the steady clock."""
    no_stream_since_s: float | None = None
    user: str = ""
    command: str = ""
    command_weight: int = 0
    """Weight of the command; a later command must have a higher weight to replace it."""
    hosts: set[str] = field(default_factory=set)
    clocks_off: dict[str, int] = field(default_factory=dict)
    """Clock offset by host, ns, positive if ahead; received times were corrected by it."""
    ranks: set[int] = field(default_factory=set)
    communicator: int = 0
    ends_at_s: float = 0.0
    """Time limit, time of day; 0 if unknown."""
    batch: BatchJob | None = None
    """Batch system data."""
    nodes: JobNodes = field(default_factory=JobNodes)
    losses: JobLosses = field(default_factory=JobLosses)
    first_ns: int | None = None
    last_ns: int | None = None
    streams: dict[str, StreamNames] = field(default_factory=dict)
    infos: dict[str, StreamInfo] = field(default_factory=dict)
    """Descriptions of the open streams."""
    heard_until_ns: dict[str, int] = field(default_factory=dict)
    """End of the newest event by open stream: losses are after it."""
    handovers: Handovers = field(default_factory=Handovers)
    completeness: Completeness = field(default_factory=Completeness)
    ledger: Ledger = field(default_factory=Ledger)
    history: History = field(init=False)
    predictions: int = 0
    stale_at_s: float | None = None
    """Time of day at which the last prediction must be renewed without new data. None for never."""
    flushed: bool = False
    """A flush (a TMIO phase, the end of a stream) arrived since the last prediction."""
    lag_s: float = 0.0
    """Time from the end of the newest event to its arrival, of the last batch, s."""
    own_clock: bool = False
    """Whether the trace's zero is unknown. Its times then cannot be compared with the time of day."""
    stamp_ns: int = 0
    """Resolution of its coarsest stamps, ns; 0 where all are fine."""
    names: JobNames = field(init=False)
    predictor: Predictor = field(init=False)
    file_systems: FileSystems = field(init=False)
    analyzers: JobAnalyzers = field(init=False)
    failures: Failures = field(init=False)

    def __post_init__(self, failed: Failures | None) -> None:
        self.failures = failed or Failures(self.job)
        self.heard_at_s = self.created_at_s
        self.history = History(self.settings.history)
        self.names = JobNames(self.settings.max_calls, self.settings.max_files, self.settings.detect.rule)
        self.file_systems = FileSystems(self.names)
        self.predictor = Predictor(self.job, self.settings.detect)
        self.analyzers = JobAnalyzers(self.job, self.settings, self.names, self.failures)
        self.analyzers.signal = self.predictor

    def open_stream(self, stream: str, info: StreamInfo, at_s: float, now_s: float | None = None) -> None:
        """Open a stream; without a time of day the steady clock is used."""
        is_new = stream not in self.streams  # otherwise the daemon is new, and the stream is introduced to it
        self.streams[stream] = StreamNames(self.names, info.command)
        self.no_stream_since_s = None
        self.heard_at_s = at_s
        if is_new:
            self.losses.open_stream(stream, info.follows)
            self.ledger.open(stream)
            self._add_collector_losses(self.handovers.open_stream(stream, info), at_s if now_s is None else now_s)
        self.change_stream(stream, info)

    def change_stream(self, stream: str, info: StreamInfo) -> None:
        """Update the description of an open stream; its user does not change."""
        if (known := self.infos.get(stream)) is not None and known.user and known.user != info.user:
            info = replace(info, user=known.user)
        self.infos[stream] = info
        describe_program(self, info)

    def add_losses(self, grown: Mapping[str, int], now_s: float, since_ns: int | None = None) -> None:
        """Add losses since ``since_ns``, or since the beginning of the job if that is unknown."""
        if not grown:
            return
        now_ns = (self.last_ns or 0) if self.own_clock else int(now_s * 1e9)
        start_ns = since_ns if since_ns is not None else self.first_ns if self.first_ns is not None else now_ns
        with self.failures.guard_input(SIGNAL) as is_active:
            if is_active:
                self.completeness.add_lost(start_ns, now_ns, events_of(grown), bytes_of(grown))

    def _add_collector_losses(self, events: int, now_s: float) -> None:
        if not events:
            return
        lost = +Counter({LOST_WITH_COLLECTOR: events})
        self.losses.add(lost)
        self.add_losses(lost, now_s)

    def update_stream_losses(self, stream: str, losses: Mapping[str, int], now_s: float) -> None:
        """Update the cumulative losses of an open stream."""
        self.ledger.set_losses(stream, losses)
        grown = self.losses.update_stream(stream, losses)
        self._discount_continued(stream, grown)
        self.add_losses(grown, now_s, self.heard_until_ns.get(stream))

    def _discount_continued(self, stream: str, grown: Mapping[str, int]) -> None:
        """Remove the loss of a process left running whose next stream came before the report of the loss."""
        if LEFT_RUNNING in grown and any(
            each.follows and stream.endswith(f":{each.follows}") for each in self.infos.values()
        ):
            self.losses.discount_left_running()

    def close_stream(
        self, stream: str, at_s: float, losses: Mapping[str, int] | None = None, now_s: float | None = None
    ) -> None:
        """Close a stream, with its final losses.

        Args:
            stream: the stream; ignored if it is not open.
            at_s: steady clock.
            losses: all losses of the stream.
            now_s: time of day; by default the steady clock.
        """
        now_s = at_s if now_s is None else now_s
        grown = self.losses.close_stream(stream, losses or {})
        self._discount_continued(stream, grown)
        self.ledger.close(stream, losses or {})
        self.add_losses(grown, now_s, self.heard_until_ns.pop(stream, None))
        self._add_collector_losses(self.handovers.close_stream(stream, losses or {}), now_s)
        if self.streams.pop(stream, None) is not None:
            self.flush()
            self.infos.pop(stream)
            self.analyzers.close_stream(stream)
        if not (self.streams or self.nodes.collectors):
            self.no_stream_since_s = at_s

    def update(
        self,
        stream: str,
        batch: EventBatch,
        definitions: Definitions,
        now_s: float,
        at_s: float | None = None,
        room: int = 0,
    ) -> None:
        """Process events of an open stream, with new definitions of its numbers.

        ``now_s`` is the time of day, ``at_s`` the steady clock (by default the time of day). ``room`` is the number of
        the job's events that may wait to be analyzed together; results are independent of it. Raises ProtocolError if
        the definitions contradict earlier ones.
        """
        names = self.streams[stream]
        names.define(definitions)
        if not (count := len(batch)):
            return
        self.heard_at_s = now_s if at_s is None else at_s
        self.handovers.add_received(stream, count)
        last = int(batch.end.max())
        if not self.own_clock and last > (now_s + self.settings.clock_skew_s) * 1e9:
            batch, shifted = shifted_to_arrival(batch, int(now_s * 1e9), int(self.settings.clock_skew_s * 1e9))
            self.losses.add(Counter({MISPLACED: shifted}))
            last = int(batch.end.max())
        batch = names.translate(batch)
        self.heard_until_ns[stream] = max(last, self.heard_until_ns.get(stream, last))
        self.take_in(batch, last, now_s)
        self.analyzers.put(batch, stream, self.infos[stream], room)

    def take_in(self, batch: EventBatch, last: int, now_s: float) -> None:
        """Count events in the job's numbers, and add them to the signal; ``last``: the end of the latest."""
        self._count(batch, last, now_s)
        self._add_to_signal(batch, last, now_s)
        self.flushed = self.flushed or bool((representatives(batch.flags) & int(Flag.AGGREGATE)).any())

    def predict(self, now_s: float, *, whole: bool = False, search: bool = True) -> Prediction | None:
        """Predict from the present data; None before the first event.

        Args:
            now_s: time of day; a trace with its own clock is predicted from its last event.
            whole: use all data up to the last I/O instead of the adapted window, and predict no next phase.
            search: False skips the search for a period, which takes most of the time.

        Raises:
            AnalysisFailedError: the job cannot be predicted.
        """
        if self.last_ns is None:
            return None
        self.flushed = False
        self.failures.check(SIGNAL)
        now_ns = self.last_ns if self.own_clock else max(int(now_s * 1e9), self.last_ns)
        with self.failures.guard_query(PREDICTION):
            # a run ends with its last I/O: the silence until the job counts as ended is not part of its period
            at_ns = (self.predictor.last_ns or self.last_ns) if whole else now_ns
            predicted = self.predictor.predict(at_ns, whole=whole) if search else self.predictor.without_search(at_ns)
            if search:
                predicted = self.analyzers.with_groups(predicted, at_ns, self.span_s, whole=whole)
            predicted = predicted.with_stamp_resolution(self.stamp_ns / 1e9)
            prediction = without_incomplete_period(predicted, now_ns, self.completeness, self.losses)
            where: dict[str, object] = {
                "made_at_s": now_ns / 1e9,
                "nodes": len(self.hosts),
                "ranks_unseen": self.losses.missing_ranks,
                "nodes_unseen": self.unseen_nodes(now_ns / 1e9).total,
                "name": "" if self.batch is None else self.batch.title,
                "hosts": sorted(self.hosts)[:_MAX_HOSTS],
                "file_systems": self.file_systems.used[:],
            }
            prediction = (prediction.without_next() if whole else prediction).model_copy(update=where)
            if self.ends_at_s and search and not whole:
                prediction = prediction.model_copy(update={"time_limit": self.time_limit(prediction, self.ends_at_s)})
            stays_valid = self.own_clock or whole
            self.stale_at_s = None if stays_valid else stale_at(prediction, self.predictor.last_ns / 1e9)
            if self.stale_at_s is not None and (unseen_s := self.unseen_s(now_ns / 1e9)):
                self.stale_at_s = min(self.stale_at_s, now_ns / 1e9 + unseen_s)
            self.history.append(prediction)
        self.predictions += 1
        return prediction

    @property
    def prediction(self) -> Prediction | None:
        """The last prediction; None before the first one, and if the signal failed.

        While the job has no streams, no next phase is predicted.
        """
        last = None if self.failures.stopped(SIGNAL) else self.history.last
        return last if last is None or self.streams else last.without_next()

    def unseen_s(self, now_s: float) -> float:
        """Return the time from ``now_s`` (time of day) until the newest bytes are in a complete bin of the signal."""
        return 0.0 if self.own_clock else max(self.predictor.unseen_until_ns / 1e9 - now_s, 0.0)

    def time_limit(self, prediction: Prediction, ends_at_s: float) -> TimeLimit | None:
        """Return the saved work of the job at its time limit. Return None for a trace with its own clock."""
        if self.own_clock:
            return None
        predictor, first_s = self.predictor, (self.first_ns or 0) / 1e9
        written = measured_writes(prediction, predictor.reads, predictor.writes, first_s)
        return time_limit_of(prediction, ends_at_s, written)

    def unseen_nodes(self, now_s: float) -> UnseenNodes:
        """Return the nodes without a collector; none in the first moments of a running job."""
        is_early = self.state not in _ENDED and now_s - (self.first_ns or 0) / 1e9 < NODES_LATE_S
        if self.batch is None or self.first_ns is None or is_early:
            return NONE_UNSEEN
        return self.nodes.unseen(self.batch, self.hosts)

    def complete_losses(self, now_s: float) -> None:
        """Finish the losses of streams that are still open, as no more data is expected."""
        self._add_collector_losses(self.handovers.lost_at_end(), now_s)

    @property
    def span_s(self) -> float:
        """Time from the start of the first event to the end of the last, s."""
        return 0.0 if self.first_ns is None or self.last_ns is None else (self.last_ns - self.first_ns) / 1e9

    def compact(self) -> None:
        """Release memory that a silent job does not need."""
        self.analyzers.compact()

    @property
    def bytes_read(self) -> int:
        """Bytes read of the program's data, as counted by the signal. Nested calls are not counted twice."""
        return self.predictor.bytes_read

    @property
    def bytes_written(self) -> int:
        """Bytes written of the program's data, as counted by the signal."""
        return self.predictor.bytes_written

    @property
    def totals(self) -> Totals:
        """Totals by call and by file.

        Raises:
            AnalysisFailedError: they failed and were stopped; so do ``graph``, ``layers`` and ``interactions``.
        """
        return self.analyzers.totals

    @property
    def graph(self) -> JobGraph | None:
        """The directly-follows graph; None before the first event, and if it is off."""
        return self.analyzers.graph

    @property
    def layers(self) -> JobLayers | None:
        """The layers; None before the first event, and if they are off."""
        return self.analyzers.layers

    @property
    def interactions(self) -> JobInteractions | None:
        """The interactions; None before the first event, and if they are off."""
        return self.analyzers.interactions

    def signal(self, last_s: float | None = None, until_s: float = 0.0) -> SignalSeries:
        """Return the bandwidth over the observation or its last seconds. It ends at or after the last event.

        Raises:
            AnalysisFailedError: the signal failed.
        """
        self.failures.check(SIGNAL)
        end = max(self.last_ns or 0, 0 if self.own_clock else int(until_s * 1e9))
        first = self.first_ns or 0
        start = first if last_s is None else max(first, end - int(min(last_s * 1e9, float(end))))
        with self.failures.guard_query(SIGNAL):
            return self.predictor.series(start, end)

    def bandwidth(self, now_s: float) -> float:
        """Return the mean bandwidth of the last ten seconds, bytes/s; 0 if the signal failed."""
        if self.last_ns is None or self.failures.stopped(SIGNAL):
            return 0.0
        now_ns = self.last_ns if self.own_clock else int(now_s * 1e9)
        start_ns = now_ns - _BANDWIDTH_S * 10**9
        signals = (self.predictor.reads, self.predictor.writes)
        try:
            return sum(float(signal.read(start_ns, now_ns).volume.sum()) for signal in signals) / _BANDWIDTH_S
        except Exception as error:
            self.failures.add(SIGNAL, error, stopped=False)
            return 0.0

    def _add_to_signal(self, batch: EventBatch, last: int, now_s: float) -> None:
        with self.failures.guard_input(SIGNAL) as is_active:
            if is_active:
                self.completeness.add_received(last, len(batch), batch.moved)
                self.file_systems.add(batch)
                self.predictor.update(batch, self.names.left_out, None if self.own_clock else int(now_s * 1e9))

    def flush(self) -> None:
        """Handle the end of a stream."""
        self.flushed = True
        with self.failures.guard_input(SIGNAL) as is_active:
            if is_active:
                self.predictor.flush()

    def _count(self, batch: EventBatch, last: int, now_s: float) -> None:
        first = int(batch.start.min())
        self.first_ns = first if self.first_ns is None else min(first, self.first_ns)
        self.last_ns = last if self.last_ns is None else max(last, self.last_ns)
        if not self.own_clock:
            self.lag_s = max(0.0, now_s - last / 1e9)
        ranks = representatives(batch.rank)
        if ranks.max() >= 0:
            self.ranks.update(rank for rank in set(ranks.tolist()) if rank >= 0)
