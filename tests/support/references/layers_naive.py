"""Trees of nested calls, and their sums by layer, one call at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from hypothesis import strategies as st
from iotide.analyzers.layers.settings import LayersSettings
from iotide.analyzers.layers.state.call_tables import DOWN, PROCESS, WAYS, split
from iotide.analyzers.layers.update import LayerAnalyzer
from iotide.analyzers.pipeline.numbering import JobNames
from iotide.events import EventBatch, FileInfo, Kind, Layer, StreamInfo, make_batch

INFO = StreamInfo(job="job", source="test", host="node", pid=1)
PROGRAM = len(Layer)
_WAY = {Kind.READ: 0, Kind.WRITE: 1}


@dataclass(slots=True)
class Call:
    """A call with its nested calls; times are relative to its own start."""

    layer: Layer = Layer.POSIX
    kind: Kind = Kind.OTHER
    before: int = 0
    """Time before each nested call, and at the end."""
    size: int = 0
    file: int = 0
    call: int = 1
    handle: int = 0
    parent: int = 0
    flags: int = 0
    below: list[Call] = field(default_factory=list)
    start: int = 0
    end: int = 0

    def place(self, at: int) -> int:
        """Set the times of the call and of all nested calls; return the end."""
        self.start = at
        for each in self.below:
            at = each.place(at + self.before)
        self.end = at + self.before
        return self.end

    def by_end(self, depth: int = 0) -> Iterator[tuple[int, Call]]:
        """Yield depth and call, in order of their ends."""
        for each in self.below:
            yield from each.by_end(depth + 1)
        yield depth, self


def trees(layers: Sequence[Layer] = tuple(Layer), most: int = 12) -> st.SearchStrategy[Call]:
    """Draw calls with nested calls."""

    def made(below: st.SearchStrategy[list[Call]]) -> st.SearchStrategy[Call]:
        return st.builds(
            Call,
            layer=st.sampled_from(layers),
            kind=st.sampled_from([Kind.READ, Kind.WRITE, Kind.CREATE, Kind.OTHER]),
            before=st.integers(0, 9),
            size=st.integers(0, 3000),
            file=st.integers(0, 4),
            call=st.integers(1, 3),
            handle=st.integers(0, 3),
            parent=st.integers(0, 3),
            below=below,
        )

    leaf = made(st.just([]))
    return st.recursive(leaf, lambda below: made(st.lists(below, max_size=3)), max_leaves=most)


def batch_of(roots: Sequence[Call], tid: int = 1, begin: int = 1000) -> EventBatch:
    """Make the events of one thread, in order of their ends, with the roots one after another."""
    at = begin
    rows = []
    for root in roots:
        at = root.place(at) + 1
        rows += list(root.by_end())
    columns = {
        "start": [call.start for _, call in rows],
        "duration": [call.end - call.start for _, call in rows],
        "depth": [depth for depth, _ in rows],
        "tid": [tid] * len(rows),
        "requested": [call.size for _, call in rows],
        "bytes": [call.size for _, call in rows],
        **{name: [int(getattr(call, name)) for _, call in rows]
           for name in ("layer", "kind", "file", "call", "handle", "parent", "flags")},
    }  # fmt: skip
    return make_batch(len(rows), {name: np.array(values, np.int64) for name, values in columns.items()})


def names(files: Sequence[str | FileInfo] = ("/a1", "/a2", "/b", "/c")) -> JobNames:
    """Return names of calls and files, numbered from 1."""
    made = JobNames(1000, 200_000)
    for name in ("one", "two", "three", "four"):
        made.call(name)
    for file in files:
        made.file(file if isinstance(file, FileInfo) else FileInfo(file))
    return made


def analyzer(**settings: int) -> LayerAnalyzer:
    """Return an analyzer with the given settings."""
    return LayerAnalyzer(LayersSettings.model_validate(settings))


def layer_sums(roots: Sequence[Call]) -> dict[tuple[Layer, str], int]:
    """Compute the sums by layer and name in ``PROCESS``, call by call."""
    total: Counter[tuple[Layer, str]] = Counter()

    def add(call: Call, around: frozenset[Layer], root: bool) -> None:
        ns = call.end - call.start
        own = ns - sum(each.end - each.start for each in call.below)
        outer = call.layer not in around
        way = "read" if call.kind is Kind.READ else "written" if call.kind is Kind.WRITE else ""
        added = {
            "calls": 1,
            "outer_calls": outer,
            "ns": ns * outer,
            "exclusive_ns": own,
            "root_ns": ns * root,
            f"bytes_{way}": call.size * outer * bool(way),
            "other_ns": own * (not way),
        }
        for name, value in added.items():
            if name in PROCESS:
                total[call.layer, name] += int(value)
        for each in call.below:
            add(each, around | {call.layer}, False)

    for root in roots:
        add(root, frozenset(), True)
    return {key: value for key, value in total.items() if value}


def down_sums(roots: Sequence[Call]) -> dict[tuple[int, str, int, str], tuple[int, int]]:
    """Count calls and sum durations by layer and kind of the caller, and of the call."""
    total: dict[tuple[int, str, int, str], list[int]] = {}

    def add(call: Call, over: Call | None) -> None:
        way = "other" if over is None else WAYS[_WAY.get(over.kind, 2)]
        key = (PROGRAM if over is None else int(over.layer), way, int(call.layer), WAYS[_WAY.get(call.kind, 2)])
        row = total.setdefault(key, [0, 0])
        row[0] += 1
        row[1] += call.end - call.start
        for each in call.below:
            add(each, call)

    for root in roots:
        add(root, None)
    return {key: (row[0], row[1]) for key, row in total.items()}


def layer_sums_of(made: LayerAnalyzer) -> dict[tuple[Layer, str], int]:
    """Return an analyzer's sums in the form of ``layer_sums``."""
    key, sums = made.closed().tables.processes.rows()
    total: Counter[tuple[Layer, str]] = Counter()
    for layer, row in zip((key % len(Layer)).tolist(), sums.tolist(), strict=True):
        for name, value in zip(PROCESS, row, strict=True):
            if name in _TOLD:
                total[Layer(layer), name] += value
    return {key: value for key, value in total.items() if value}


def down_sums_of(made: LayerAnalyzer) -> dict[tuple[int, str, int, str], tuple[int, int]]:
    """Return an analyzer's sums in the form of ``down_sums``."""
    key, sums = made.closed().tables.down.rows()
    columns = (part.tolist() for part in split(key, len(WAYS), len(Layer), len(WAYS)))
    calls, ns = sums[:, DOWN.index("calls")].tolist(), sums[:, DOWN.index("ns")].tolist()
    return {
        (over, WAYS[over_way], layer, WAYS[way]): (count, spent)
        for over, over_way, layer, way, count, spent in zip(*columns, calls, ns, strict=True)
    }


_TOLD = {"calls", "outer_calls", "ns", "exclusive_ns", "root_ns", "bytes_read", "bytes_written", "other_ns"}
