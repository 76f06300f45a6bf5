"""Waiting time for the last rank of a collective call, against a reference per round."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.analyzers.layers.report.report import make_report
from iotide.analyzers.layers.update import LayerAnalyzer
from iotide.events import EventBatch, Flag, Kind, Layer, make_batch
from iotide.results.layers import Collective
from support.references.layers_naive import INFO, Call, analyzer, batch_of, names

FILES = names().files
CALLS = ["", "MPI_File_write_all", "MPI_File_sync"]
Rounds = list[list[tuple[int, int]]]
"""By round and rank: its arrival after the round's start, and the duration of its call."""
LENGTH = 10_000_000


def calls_of(rank: int, rounds: Rounds, call: int = 1) -> EventBatch:
    """Make the calls of one rank; rounds are far enough apart not to overlap."""
    start = np.array([at * LENGTH + each[rank][0] for at, each in enumerate(rounds)])
    return make_batch(
        len(rounds),
        {"start": start, "duration": np.array([each[rank][1] for each in rounds]), "layer": int(Layer.MPIIO), "file": 1,
         "flags": int(Flag.COLLECTIVE), "call": call, "rank": rank, "pid": rank + 1, "tid": rank + 1},
    )  # fmt: skip


def told(made: LayerAnalyzer) -> Collective:
    (row,) = make_report(made, CALLS).collectives
    return row


def expected(rounds: Rounds) -> tuple[int, Counter[int]]:
    """Sum the waiting time of each rank and count the last ranks, round by round."""
    ns, last = 0, Counter[int]()
    for each in rounds:
        latest = max(start for start, _ in each)
        if min(start + stays for start, stays in each) >= latest:
            ns += sum(latest - start for start, _ in each)
            last[max(range(len(each)), key=lambda rank: each[rank][0])] += 1
    return ns, last


@pytest.mark.slow
@settings(deadline=None, max_examples=25)
@given(st.data(), st.integers(2, 4), st.integers(1, 6))
def test_waits_are_those_of_the_rounds_one_by_one_in_any_pieces(data: st.DataObject, ranks: int, count: int) -> None:
    moment = st.tuples(st.integers(0, 500_000), st.integers(1, 4_000_000))
    drawn = data.draw(st.lists(st.lists(moment, min_size=ranks, max_size=ranks), min_size=count, max_size=count))
    rounds = [
        [(8 * start + rank, stays) for rank, (start, stays) in enumerate(each)] for each in drawn
    ]  # no two ranks at the same time
    made, other = analyzer(), analyzer()
    for rank in range(ranks):
        cut = data.draw(st.integers(0, count))
        batch = calls_of(rank, rounds)
        for part in (batch.select(slice(0, cut)), batch.select(slice(cut, count))):
            if len(part):
                (other if rank % 2 else made).update(part, f"s{rank}", INFO, FILES)
                made._process_buffered()
    made.merge(other)
    row = told(LayerAnalyzer.restore(made.settings, made.snapshot()))
    ns, last = expected(rounds)
    assert (row.rounds, row.late_seconds) == (count, pytest.approx(ns / 1e9))
    assert row.last_rounds == max(last.values(), default=0)


def test_process_that_is_last_most_often_is_named_in_a_finding() -> None:
    rounds: Rounds = [[(0, 4_000_000), (0, 4_000_000), (3_000_000, 1_000_000)]] * 5
    made = analyzer()
    for rank in range(3):
        made.update(calls_of(rank, rounds), f"s{rank}", INFO, FILES)
    row = told(made)
    assert (row.last_process, row.last_rounds, row.rounds) == ("rank 2", 5, 5)
    assert row.late_seconds == pytest.approx(5 * 2 * 0.003)
    (finding,) = [each for each in make_report(made, CALLS).findings if each.rule == "late"]
    assert finding.text == (
        "MPI_File_write_all on /a1: 67% of its 45 ms passes before the last of 3 processes has come, most often rank 2 "
        "(5 of 5 times)"
    )


def test_process_with_io_until_the_last_arrival_does_not_wait() -> None:
    def one(rank: int, begin: int, moving: int) -> EventBatch:
        below = [Call(Layer.POSIX, Kind.OTHER, moving, file=1)] if moving else []
        call = Call(Layer.MPIIO, Kind.OTHER, 100, file=1, call=2, flags=int(Flag.COLLECTIVE), below=below)
        return batch_of([call], begin=begin).replace(rank=rank, pid=rank + 1)

    made = analyzer()
    made.update(one(0, 0, 5000), "s0", INFO, FILES)
    made.update(one(1, 4000, 1000), "s1", INFO, FILES)
    (row,) = make_report(made, CALLS).collectives
    assert row.late_seconds == pytest.approx(4 * 100e-9)


def test_process_that_leaves_before_the_last_arrival_did_not_wait() -> None:
    made = analyzer()
    for rank in range(2):
        made.update(calls_of(rank, [[(0, 1000), (5000, 1000)]]), f"s{rank}", INFO, FILES)
    row = told(made)
    assert (row.rounds, row.late_seconds, row.last_process) == (1, 0, "")


def test_rounds_beyond_the_bound_are_summed_up_and_memory_stays() -> None:
    count = 200
    rounds: Rounds = [[(0, 2000), (1000, 1000)]] * count
    made = analyzer(max_rounds=16)
    for begin in range(0, count, 4):
        for rank in range(2):
            made.update(calls_of(rank, rounds).select(slice(begin, begin + 4)), f"s{rank}", INFO, FILES)
        made._process_buffered()
    row = told(made)
    assert (row.rounds, row.late_seconds) == (count, pytest.approx(count * 1e-6))
    assert len(made.arrivals._rows) <= 16


@pytest.mark.slow
def test_job_that_goes_from_file_to_file_forgets_the_old_ones_and_tells_of_all() -> None:
    count = 200
    files = names([f"/out/step{step}.h5" for step in range(count)]).files
    made = analyzer(max_rounds=16)
    for step in range(count):
        for rank in range(2):
            batch = calls_of(rank, [[(0, 2000), (1000, 1000)]])
            made.update(batch.replace(file=step + 1, start=batch.start + step * LENGTH), f"s{rank}", INFO, files)
        made._process_buffered()
    row = told(made)
    assert (row.file, row.rounds, row.late_seconds) == ("/out/step#.h5", count, pytest.approx(count * 1e-6))
    kept = made.arrivals
    assert max(len(kept._series), len(kept._sites), len(kept._rows), len(kept._next) // 4) <= 16


def test_processes_beyond_the_bound_break_nothing() -> None:
    made = analyzer(max_rounds=16)
    for rank in range(400):
        made.update(calls_of(rank, [[(0, 1000)] * 400]), f"s{rank}", INFO, FILES)
    row = told(made)
    assert (row.calls, row.rounds, len(made.arrivals._next)) == (400, 1, pytest.approx(48, abs=17))


def test_more_files_at_once_than_there_is_room_for_are_counted() -> None:
    count = 100
    made = analyzer(max_rounds=16)
    batch = calls_of(0, [[(0, 1000)]] * count).replace(file=np.arange(count, dtype=np.uint32) + 1)
    made.update(batch, "s", INFO, names([f"/out/step{step}.h5" for step in range(count)]).files)
    report = make_report(made, CALLS)
    assert 0 < report.losses["rounds"] <= count
    assert report.collectives[0].calls == count
