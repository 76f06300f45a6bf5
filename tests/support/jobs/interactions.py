"""Hand-written traces of interactions between processes and files, and their rankings."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from iotide.analyzers.interaction.settings import InteractionSettings
from iotide.analyzers.interaction.update import InteractionAnalyzer
from iotide.analyzers.pipeline.numbering import JobNames
from iotide.events import EventBatch, FileInfo, Flag, Kind, Layer, file_type_of, make_batch
from iotide.events.kernel import COMM, KernelEvent, text_about
from iotide.results.interaction import Actor, Ranking

Row = dict[str, Any]


class Trace:
    """Builder of events."""

    def __init__(self) -> None:
        self.names = JobNames(1000, 1_000_000)
        self.rows: list[Row] = []
        self.now = 1_000_000

    def add(self, call: str, layer: Layer, **columns: Any) -> Trace:
        self.now += 1000
        self.rows.append({"start": self.now, "call": self.names.call(call), "layer": int(layer), **columns})
        return self

    def kernel(
        self, event: KernelEvent, tid: int, other: int = 0, text: str = "", prefix: str = COMM, **more: Any
    ) -> Trace:
        file = self.names.file(text_about(prefix, text)[1]) if text else 0
        return self.add(event.name.lower(), Layer.KERNEL, tid=tid, handle=other, file=file, **more)

    def wakes(self, tid: int, other: int, name: str = "") -> Trace:
        """The other thread waits, and then is woken."""
        self.kernel(KernelEvent.SCHED_SWITCH, other, 0, flags=int(Flag.BLOCKING))
        return self.kernel(KernelEvent.SCHED_WAKING, tid, other, name)

    def named(self, **names: int) -> Trace:
        for name, tid in names.items():
            self.kernel(KernelEvent.PROCESS_STATE, tid, text=name)
        return self

    def does(self, kind: Kind, tid: int, path: str, size: int = 10, **more: Any) -> Trace:
        file = self.names.file(FileInfo(path, file_type_of(path)))
        columns = {
            "layer": Layer.POSIX,
            "kind": int(kind),
            "tid": tid,
            "file": file,
            "bytes": size,
            "duration": 500,
        } | more
        return self.add(kind.name.lower(), columns.pop("layer"), **columns)

    def writes(self, tid: int, path: str, **more: Any) -> Trace:
        return self.does(Kind.WRITE, tid, path, **more)

    def reads(self, tid: int, path: str, **more: Any) -> Trace:
        return self.does(Kind.READ, tid, path, **more)

    def batches(self, *edges: int) -> list[EventBatch]:
        places = sorted({0, len(self.rows), *(min(edge, len(self.rows)) for edge in edges)})
        return [batch_of(self.rows[begin:end]) for begin, end in itertools.pairwise(places)]

    def analyzer(self, *edges: int, **settings: Any) -> InteractionAnalyzer:
        analyzer = InteractionAnalyzer(InteractionSettings(**settings))
        for batch in self.batches(*edges):
            analyzer.update(batch, self.names)
        return analyzer

    def ranking(self, *edges: int, **settings: Any) -> Ranking:
        return self.analyzer(*edges, **settings).ranking(self.names, [("job", "node")])


def batch_of(rows: Sequence[Row]) -> EventBatch:
    names = sorted({name for row in rows for name in row})
    defaults = {"rank": -1, "offset": -1}
    return make_batch(len(rows), {n: np.array([row.get(n, defaults.get(n, 0)) for row in rows]) for n in names})


def groups(ranking: Ranking) -> list[list[int]]:
    return [
        sorted(actor.tid for actor in ranking.actors if actor.component == component.number)
        for component in ranking.components
    ]


def leaders(ranking: Ranking) -> list[int]:
    by_id = {actor.id: actor for actor in ranking.actors}
    return [by_id[component.leaders[0]].tid for component in ranking.components]


def actor_of(ranking: Ranking, tid: int) -> Actor:
    return next(actor for actor in ranking.actors if actor.tid == tid)
