"""The contract of every analyzer in the registry, whatever it reports."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from iotide.analyzers.pipeline.analysis_queue import AnalysisQueue, QueuedEvents
from iotide.analyzers.pipeline.contract import Analyzer, AnalyzerKind, JobContext
from iotide.analyzers.pipeline.numbering import JobNames
from iotide.analyzers.pipeline.snapshots import restore, snapshot
from iotide.analyzers.registry import ANALYZERS
from iotide.events import EventBatch, FileInfo, FileType, Kind, Layer, StreamInfo, make_batch
from msgspec.structs import replace
from support.jobs.analyzer_kinds import context, results_of

STREAMS = {
    name: StreamInfo(job="j", source="test", host=host, pid=pid, rank=rank, command=f"./{name}", user="ann")
    for name, host, pid, rank in (("a", "n1", 7, 0), ("b", "n1", 8, 1), ("c", "n2", 7, -1))
}
CALLS = ("open", "write", "read", "close", "stat")
PATHS = ("/scratch/x", "/scratch/y.7", "/scratch/deep/z", "pipe:[3]", "/usr/lib/libc.so.6", "/home/ann/in.txt")
KINDS = [Kind.CREATE, Kind.WRITE, Kind.READ, Kind.DESTROY, Kind.OTHER]
Step = tuple[str, EventBatch] | str
every = pytest.mark.parametrize("kind", ANALYZERS.values(), ids=list(ANALYZERS))


def fresh(kind: AnalyzerKind) -> tuple[Analyzer, JobContext]:
    names = JobNames(10, 10)
    for call in CALLS:
        names.call(call)
    for path in PATHS:
        names.file(FileInfo(path, FileType.PIPE if path.startswith("pipe") else FileType.REGULAR))
    made_of = context(names)
    made = kind.make(made_of)
    assert made is not None, f"{kind.name} is switched off by default"
    return made, made_of


def events(seed: int, counts: list[int]) -> list[tuple[str, EventBatch]]:
    """Return events of the streams in order of their ends, with phases of writes ten seconds apart."""
    random = np.random.default_rng(seed)
    at = 1_700_000_000 * 10**9
    made = []
    for number, count in enumerate(counts):
        stream = "abc"[int(random.integers(3))]
        start = at + number * 10**10 + np.sort(random.integers(0, 10**9, count))
        kind = random.integers(0, len(CALLS), count)
        batch = make_batch(
            count,
            {
                "start": start,
                "duration": random.integers(1, 1000, count),
                "call": kind + 1,
                "kind": np.array([int(each) for each in KINDS])[kind],
                "layer": int(Layer.POSIX),
                "tid": STREAMS[stream].pid,
                "pid": STREAMS[stream].pid,
                "rank": STREAMS[stream].rank,
                "file": random.integers(1, len(PATHS) + 1, count),
                "handle": random.integers(3, 6, count),
                "bytes": np.where((kind == 1) | (kind == 2), random.integers(0, 10**6, count), 0),
            },
        )
        made.append((stream, batch))
    return made


def give(analyzer: Analyzer, steps: list[tuple[str, EventBatch]]) -> None:
    for stream, batch in steps:
        analyzer.update(QueuedEvents.of(batch, stream, STREAMS[stream]))


def cut(batch: EventBatch, at: list[int]) -> Iterator[EventBatch]:
    borders = sorted({0, len(batch), *(each % (len(batch) + 1) for each in at)})
    for first, stop in pairwise(borders):
        yield batch.select(slice(first, stop))


seeds = st.integers(0, 2**32 - 1)
lengths = st.lists(st.integers(1, 40), min_size=1, max_size=8)


@pytest.mark.slow
@every
@settings(max_examples=25)
@given(seed=seeds, counts=lengths, at=st.lists(st.integers(0, 40), max_size=3))
def test_however_events_are_cut_the_same_is_told(
    kind: AnalyzerKind, seed: int, counts: list[int], at: list[int]
) -> None:
    whole, _ = fresh(kind)
    pieces, _ = fresh(kind)
    steps = events(seed, counts)
    give(whole, steps)
    give(pieces, [(stream, piece) for stream, batch in steps for piece in cut(batch, at)])
    assert results_of(pieces) == results_of(whole)
    assert pieces.losses() == whole.losses()


@pytest.mark.slow
@every
@settings(max_examples=25)
@given(seed=seeds, counts=lengths)
@example(seed=586455, counts=[33, 19, 36, 1, 33, 1])
def test_many_streams_at_once_are_as_one_after_another(kind: AnalyzerKind, seed: int, counts: list[int]) -> None:
    apart, _ = fresh(kind)
    together, _ = fresh(kind)
    steps = events(seed, counts)
    give(apart, steps)
    queue = AnalysisQueue()
    for stream, batch in steps:
        queue.put(batch, stream, STREAMS[stream])
    together.update(queue.since(0))
    assert results_of(together) == results_of(apart)


@pytest.mark.slow
@every
@settings(max_examples=25)
@given(
    seed=seeds,
    counts=lengths,
    stop=st.integers(0, 8),
    closed=st.sets(st.sampled_from("abc")),
    settles=st.booleans(),
)
def test_restored_state_continues_as_if_never_stopped(
    kind: AnalyzerKind, seed: int, counts: list[int], stop: int, closed: set[str], settles: bool
) -> None:
    never, _ = fresh(kind)
    steps = events(seed, counts)
    give(never, steps[:stop])
    for stream in sorted(closed):
        never.close_stream(stream)
    if settles:
        never.compact()
    restored: Analyzer = restore(snapshot(never))
    assert results_of(restored) == results_of(never)
    for analyzer in (never, restored):
        give(analyzer, steps[stop:])
        for stream in STREAMS:
            analyzer.close_stream(stream)
    assert results_of(restored) == results_of(never)
    assert restored.losses() == never.losses()


@every
def test_a_snapshot_is_a_copy(kind: AnalyzerKind) -> None:
    analyzer, _ = fresh(kind)
    steps = events(1, [20, 20, 20])
    give(analyzer, steps[:2])
    document = snapshot(analyzer)
    before = results_of(restore(document))
    give(restore(document), steps[2:])
    give(analyzer, steps[2:])
    assert results_of(restore(document)) == before


@every
def test_asking_changes_nothing(kind: AnalyzerKind) -> None:
    asked, silent = fresh(kind)[0], fresh(kind)[0]
    for step in events(2, [30] * 6):
        give(asked, [step])
        give(silent, [step])
        results_of(asked)
        asked.losses()
    assert results_of(asked) == results_of(silent)


@every
def test_no_events_are_nothing(kind: AnalyzerKind) -> None:
    analyzer, other = fresh(kind)[0], fresh(kind)[0]
    steps = events(3, [10, 10])
    give(analyzer, [steps[0], ("b", steps[0][1].select(slice(0, 0))), steps[1]])
    give(other, steps)
    assert results_of(analyzer) == results_of(other)


@every
def test_losses_are_counts_by_reason(kind: AnalyzerKind) -> None:
    analyzer, _ = fresh(kind)
    give(analyzer, events(4, [40] * 8))
    for stream in (*STREAMS, "never opened"):
        analyzer.close_stream(stream)
    analyzer.compact()
    assert all(isinstance(count, int) and count >= 0 for count in analyzer.losses().values())


@every
def test_result_is_of_the_model_that_the_registry_names(kind: AnalyzerKind) -> None:
    analyzer, _ = fresh(kind)
    give(analyzer, events(5, [40] * 3))
    told = results_of(analyzer)
    assert kind.result is None or isinstance(told, kind.result)


@every
@pytest.mark.parametrize("name", ["pid", "parent_pid", "rank"])
@pytest.mark.parametrize("value", [2**32 - 1, -(2**40), 2**63])
def test_ids_of_a_description_may_be_any_numbers(kind: AnalyzerKind, name: str, value: int) -> None:
    """Those beyond the columns of events count as unknown."""
    analyzer, _ = fresh(kind)
    queue = AnalysisQueue()
    for stream in ("a", "b"):
        info = replace(STREAMS[stream], **{name: value})
        plain = make_batch(3, {"start": 1_700_000_000 * 10**9, "duration": 10, "call": 2, "kind": int(Kind.WRITE)})
        analyzer.update(QueuedEvents.of(plain, stream, info))
        queue.put(plain, stream, info)
    analyzer.update(queue.since(0))
    analyzer.compact()
    analyzer.losses()
