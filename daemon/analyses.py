"""What is told of a job's calls besides its rhythm: totals, graph, layers and interactions, many events at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, Protocol, TypeVar

from msgspec import Struct, field

from ..analyzers.online.predictor import Predictor
from ..analyzers.pipeline.numbering import JobNames
from ..analyzers.totals import Totals
from ..events import EventBatch, StreamInfo
from ..events.models import Prediction
from .analysis_queue import AnalysisQueue, Taken
from .failures import Failures
from .job_graph import JobGraph
from .job_groups import JobGroups, groups_wanted
from .job_interactions import JobInteractions
from .job_layers import JobLayers
from .settings import AggregatorSettings

_FEWEST_AT_ONCE: Final = 768
_MOST_AT_ONCE: Final = 65_536
_SHARE_AT_ONCE: Final = 16  # as a part of the events so far: a job with few events holds few
_MOST_CLOSING: Final = 256
_SHORTEST_S: Final = 5.0  # a job whose members are looked at


_P = TypeVar("_P", bound="Part")


class Part(Protocol):
    """One analysis of a job."""

    def update(self, taken: Taken) -> None:
        """Takes in events."""
        ...

    def close_stream(self, stream: str) -> None:
        """Takes in that a stream has ended."""
        ...

    def settle(self) -> None:
        """Gives memory back that a silent job does not need."""
        ...

    def losses(self) -> dict[str, int]:
        """Returns what is missing in what it tells, by reason."""
        ...


class JobTotals:
    """Sums by call and by file."""

    def __init__(self, settings: AggregatorSettings, names: JobNames) -> None:
        self._names = names
        self.totals = Totals(max_files=settings.max_files, max_calls=settings.max_calls)

    def update(self, taken: Taken) -> None:
        """Takes in events."""
        self.totals.update(taken.batch, self._names.left_out)

    def close_stream(self, stream: str) -> None:
        """Changes nothing."""

    def settle(self) -> None:
        """Changes nothing."""

    def losses(self) -> dict[str, int]:
        """Returns nothing: what is beyond the bounds is summed as other."""
        return {}


def _graph(job: str, settings: AggregatorSettings, names: JobNames) -> Part | None:
    return JobGraph(job, settings.dfg, names) if settings.dfg.enabled else None


def _layers(job: str, settings: AggregatorSettings, names: JobNames) -> Part | None:
    layers = settings.layers.with_paths(settings.detect.data_paths, settings.detect.system_paths)
    return JobLayers(job, layers, names) if layers.enabled else None


def _interactions(job: str, settings: AggregatorSettings, names: JobNames) -> Part | None:
    return JobInteractions(job, settings.rank, names) if settings.rank.enabled else None


def _groups(_: str, settings: AggregatorSettings, names: JobNames) -> Part | None:
    return JobGroups(settings.detect, names) if groups_wanted(settings.detect) else None


PARTS: Final[Mapping[str, Callable[[str, AggregatorSettings, JobNames], Part | None]]] = {
    "totals": lambda _, settings, names: JobTotals(settings, names),
    "graph": _graph,
    "layers": _layers,
    "interactions": _interactions,
    "groups": _groups,
}
"""What makes each analysis of a job, by name; None where it is switched off."""


class _Reader(Struct):
    part: Part
    seen: int = 0
    """Of the events that are held."""
    closed: int = 0
    """Of the streams that have ended since."""
    losses: dict[str, int] = field(default_factory=dict)
    """As last told."""


class Analyses:
    """Holds a job's events back until there are enough of them, or somebody asks: each look takes its time.

    What is asked for takes in first what it has not seen yet, so nobody can tell that events were held back. A part
    that breaks is stopped, which ``failures`` tells; the others go on.

    Attributes:
        events: how many came in.
        signal: that of the whole job; None where there is none.
    """

    def __init__(self, job: str, settings: AggregatorSettings, names: JobNames, failures: Failures) -> None:
        self.events = 0
        self.signal: Predictor | None = None
        self._job, self._settings, self._names, self._failures = job, settings, names, failures
        self._made: set[str] = set()  # parts that were asked for, or needed, so far
        self._readers: dict[str, _Reader] = {}
        self._stopped: dict[str, dict[str, int]] = {}  # what each part lacked in the end
        self._held = AnalysisQueue()
        self._closing: dict[str, int] = {}
        self._pids: dict[str, int] = {}

    @property
    def totals(self) -> Totals:
        """Sums by call and by file. Raises AnalysisFailedError, as all parts do that failed."""
        part = self._up_to_date("totals", JobTotals)
        return part.totals if part is not None else Totals()

    @property
    def graph(self) -> JobGraph | None:
        """The directly-follows graph; None before the first event, and where it is switched off."""
        return self._up_to_date("graph", JobGraph)

    @property
    def layers(self) -> JobLayers | None:
        """The layers; None likewise."""
        return self._up_to_date("layers", JobLayers)

    @property
    def interactions(self) -> JobInteractions | None:
        """Who interacts with whom; None likewise."""
        return self._up_to_date("interactions", JobInteractions)

    @property
    def groups(self) -> JobGroups | None:
        """Members and their groups; None before the first event, and where they are switched off."""
        return self._up_to_date("groups", JobGroups)

    def with_groups(self, prediction: Prediction, now_ns: int, span_s: float, *, whole: bool) -> Prediction:
        """Returns a prediction with what groups of the job's members add to it; of a short job as it is.

        Args:
            prediction: what was found in the signal of the whole job.
            now_ns: the present.
            span_s: how long the job has been seen.
            whole: look at the whole observation.
        """
        if not self.events or span_s < _SHORTEST_S or not groups_wanted(self._settings.detect):
            return prediction
        self._make("groups")
        if "groups" in self._readers:
            self._catch_up("groups")
        reader = self._readers.get("groups")
        if reader is None or not isinstance(reader.part, JobGroups):
            return prediction
        try:
            return reader.part.answer(prediction, now_ns, whole=whole)
        except Exception as error:
            self._failures.add("groups", error, stopped=False)
            return prediction

    def put(self, batch: EventBatch, stream: str, info: StreamInfo) -> None:
        """Takes in events of a stream in the job's numbers."""
        if self._closing and (stream in self._closing or (info.pid and info.pid in self._closing.values())):
            self._catch_all_up()  # the same number may be another process now
        self._pids[stream] = info.pid
        self.events += len(batch)
        self._held.put(batch, stream, info)
        if len(self._held) >= min(max(self.events // _SHARE_AT_ONCE, _FEWEST_AT_ONCE), _MOST_AT_ONCE):
            self._catch_all_up()

    def close_stream(self, stream: str) -> None:
        """Takes in that a stream has ended."""
        if (pid := self._pids.pop(stream, None)) is not None:
            self._closing[stream] = pid
            if len(self._closing) >= _MOST_CLOSING:
                self._catch_all_up()

    def settle(self) -> None:
        """Gives memory back that a silent job does not need.

        The events of a small job are kept as they are: they are fewer than what the analyses would hold of them, and
        most small jobs end and nobody asks. What was asked of it is given back nonetheless.
        """
        if len(self._made) < len(PARTS) and self.events <= _FEWEST_AT_ONCE:  # a scrape asks of each for two parts
            for name in list(self._readers):
                self._catch_up(name)
            self._held.pack()
        else:
            self._catch_all_up()
        for name, reader in list(self._readers.items()):
            try:
                reader.part.settle()
            except Exception as error:
                self._stop(name, error)

    def losses(self, part: str) -> dict[str, int]:
        """Returns what a part lacks so far, by reason; of one that was stopped what it lacked until then."""
        if (reader := self._readers.get(part)) is None:
            return self._stopped.get(part, {})
        try:
            reader.losses = reader.part.losses()
        except Exception as error:
            self._failures.add(part, error, stopped=False)
        return reader.losses

    def _make(self, name: str) -> None:
        """Makes a part when it is first needed; events are let go of only once there are all parts."""
        if name in self._made or not self.events:
            return
        self._made.add(name)
        try:
            part = PARTS[name](self._job, self._settings, self._names)
        except Exception as error:
            self._failures.add(name, error, stopped=True)
            return
        if isinstance(part, JobGroups):
            part.signal = self.signal
        if part is not None:
            self._readers[name] = _Reader(part)

    def _up_to_date(self, name: str, kind: type[_P]) -> _P | None:
        self._make(name)
        if name in self._readers:
            self._catch_up(name)
            self._take_in_all(name)
        self._failures.check(name)
        reader = self._readers.get(name)
        return reader.part if reader is not None and isinstance(reader.part, kind) else None

    def _catch_up(self, name: str) -> None:
        reader = self._readers[name]
        try:
            first, reader.seen = reader.seen, len(self._held)
            if first < len(self._held):
                reader.part.update(self._held.since(first))
            first, reader.closed = reader.closed, len(self._closing)
            for stream in list(self._closing)[first:]:
                reader.part.close_stream(stream)
        except Exception as error:
            self._stop(name, error)

    def _take_in_all(self, name: str) -> None:
        """Has interactions take in what they hold back themselves: while they answer they could not be stopped."""
        if (reader := self._readers.get(name)) is not None and isinstance(reader.part, JobInteractions):
            try:
                reader.part.settle()
            except Exception as error:
                self._stop(name, error)

    def _catch_all_up(self) -> None:
        for name in PARTS:
            self._make(name)
        for name in list(self._readers):
            self._catch_up(name)
        for reader in self._readers.values():
            reader.seen = reader.closed = 0
        self._held.clear()
        self._closing.clear()

    def _stop(self, name: str, error: Exception) -> None:
        """Lets go of a part that broke: it may have taken in a part of what it was given."""
        self._failures.add(name, error, stopped=True)
        self._stopped[name] = self.losses(name)
        del self._readers[name]
