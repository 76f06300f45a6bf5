"""What is told of a job's calls besides its rhythm: totals, graph, layers and interactions, many events at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Generic, TypeVar, cast

from ..analyzers.totals import Totals
from ..events import EventBatch, StreamInfo
from .held import Held, Taken
from .job_graph import JobGraph
from .job_interactions import JobInteractions
from .job_layers import JobLayers
from .numbering import JobNames
from .settings import AggregatorSettings

_FEWEST_AT_ONCE: Final = 768
_MOST_AT_ONCE: Final = 32_768
_SHARE_AT_ONCE: Final = 16  # as a part of the events so far: a job with few events holds few
_MOST_CLOSING: Final = 256


_P = TypeVar("_P")


@dataclass(slots=True)
class _Reader(Generic[_P]):
    part: _P
    seen: int = 0
    """Of the events that are held."""
    closed: int = 0
    """Of the streams that have ended since."""


class _JobTotals:
    def __init__(self, settings: AggregatorSettings, names: JobNames) -> None:
        self._names = names
        self.totals = Totals(max_files=settings.max_files, max_calls=settings.max_calls)

    def update(self, taken: Taken) -> None:
        self.totals.update(taken.batch, self._names.left_out)

    def close_stream(self, stream: str) -> None: ...

    def settle(self) -> None: ...


_AnyReader = _Reader[_JobTotals] | _Reader[JobGraph] | _Reader[JobLayers] | _Reader[JobInteractions]


class Analyses:
    """Holds a job's events back until there are enough of them, or somebody asks: each look takes its time.

    What is asked for takes in first what it has not seen yet, so nobody can tell that events were held back.

    Attributes:
        events: how many came in.
    """

    def __init__(self, job: str, settings: AggregatorSettings, names: JobNames) -> None:
        self.events = 0
        self._job, self._settings, self._names = job, settings, names
        self._totals = _Reader(_JobTotals(settings, names))
        self._graph: _Reader[JobGraph] | None = None
        self._layers: _Reader[JobLayers] | None = None
        self._interactions: _Reader[JobInteractions] | None = None
        self._held = Held()
        self._closing: dict[str, int] = {}
        self._pids: dict[str, int] = {}

    @property
    def totals(self) -> Totals:
        """Sums by call and by file."""
        self._catch_up(self._totals)
        return self._totals.part.totals

    @property
    def graph(self) -> JobGraph | None:
        """The directly-follows graph; None before the first event, and where it is switched off."""
        return self._up_to_date(self._graph)

    @property
    def layers(self) -> JobLayers | None:
        """The layers; None likewise."""
        return self._up_to_date(self._layers)

    @property
    def interactions(self) -> JobInteractions | None:
        """Who interacts with whom; None likewise."""
        return self._up_to_date(self._interactions)

    def put(self, batch: EventBatch, stream: str, info: StreamInfo) -> None:
        """Takes in events of a stream in the job's numbers; a part that they break raises, perhaps later."""
        if not self.events:
            self._make_parts()
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
        """Gives memory back that a silent job does not need."""
        self._catch_all_up()
        for reader in self._readers():
            reader.part.settle()

    def losses(self, part: str) -> dict[str, int]:
        """Returns what ``graph``, ``layers`` or ``interactions`` lack so far, by reason."""
        reader = {"graph": self._graph, "layers": self._layers, "interactions": self._interactions}[part]
        return reader.part.losses() if reader is not None else {}

    def _make_parts(self) -> None:
        job, settings, names = self._job, self._settings, self._names
        if settings.dfg.enabled:
            self._graph = _Reader(JobGraph(job, settings.dfg, names))
        if settings.layers.enabled:
            layers = settings.layers.with_paths(settings.detect.data_paths, settings.detect.system_paths)
            self._layers = _Reader(JobLayers(job, layers, names))
        if settings.rank.enabled:
            self._interactions = _Reader(JobInteractions(job, settings.rank, names))

    def _readers(self) -> list[_AnyReader]:
        readers = (self._totals, self._graph, self._layers, self._interactions)
        return [reader for reader in readers if reader is not None]

    def _up_to_date(self, reader: _Reader[_P] | None) -> _P | None:
        if reader is None:
            return None
        self._catch_up(cast(_AnyReader, reader))
        return reader.part

    def _catch_up(self, reader: _AnyReader) -> None:
        first, reader.seen = reader.seen, len(self._held)
        if first < len(self._held):
            taken = self._held.since(first)
            if isinstance(reader.part, JobInteractions):
                for each in taken.parts():
                    reader.part.update(*each)
            else:
                reader.part.update(taken)
        first, reader.closed = reader.closed, len(self._closing)
        for stream in list(self._closing)[first:]:
            reader.part.close_stream(stream)

    def _catch_all_up(self) -> None:
        broken: Exception | None = None
        for reader in self._readers():
            try:
                self._catch_up(reader)
            except Exception as error:  # of one part costs the others nothing
                broken = error
            reader.seen = reader.closed = 0
        self._held.clear()
        self._closing.clear()
        if broken is not None:
            raise broken
