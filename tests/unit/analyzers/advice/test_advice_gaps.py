"""Time between the calls that a change saves: it is part of the saving if it is short and belongs to the calls."""

from __future__ import annotations

import numpy as np
import pytest
from iotide.analyzers.advice.update import make
from iotide.analyzers.pipeline.analysis_queue import QueuedEvents
from iotide.analyzers.pipeline.numbering import JobNames
from iotide.events import FileInfo, Kind, Layer, StreamInfo, make_batch
from iotide.results.advice import AdviceFinding
from support.jobs.analyzer_kinds import context

T0 = 1_700_000_000 * 10**9
CALLS = 100_000


def look_ups(
    gap_ns: int | np.ndarray, *, duration_ns: int | np.ndarray = 3_000, threads: int = 1, batches: int = 1
) -> AdviceFinding:
    """Return the finding on a hundred thousand look-ups of a name, with a gap before each."""
    names = JobNames(100, 100)
    analyzer = make(context(names))
    assert analyzer is not None
    file, call = names.file(FileInfo("/scratch/input")), names.call("stat")
    duration = np.broadcast_to(np.asarray(duration_ns), (CALLS,))
    start = T0 + np.cumsum(np.broadcast_to(np.asarray(gap_ns), (CALLS,)) + duration) - duration
    for rows in np.array_split(np.arange(CALLS), batches):
        tid = 7 + rows % threads
        columns = {"start": start[rows], "duration": duration[rows], "tid": tid, "pid": 7, "file": file, "call": call}
        batch = make_batch(len(rows), {**columns, "kind": int(Kind.OTHER), "layer": int(Layer.POSIX)})
        analyzer.update(QueuedEvents.of(batch, "s", StreamInfo(job="j", source="t", host="n", pid=7)))
    (found,) = analyzer.deferred_result()().findings
    assert found.cause == "metadata"
    assert found.gain_least_s <= found.gain_s <= found.gain_most_s
    return found


@pytest.mark.parametrize("batches", [1, 20])
def test_short_gaps_are_saved_with_the_calls_at_most(batches: int) -> None:
    found = look_ups(6_000, batches=batches)
    assert found.gain_least_s == pytest.approx(0.27, rel=0.01)
    assert found.gain_most_s == pytest.approx(0.27 * 3, rel=0.01)
    assert found.gain_s == pytest.approx(0.27 * 3**0.5, rel=0.01)
    assert found.seconds >= found.gain_s


def test_computing_between_calls_is_not_saved() -> None:
    found = look_ups(30_000)
    assert found.gain_most_s == found.gain_s == found.gain_least_s == pytest.approx(0.27, rel=0.01)


def test_a_pause_for_each_step_is_not_saved() -> None:
    gap_ns = np.full(CALLS, 3_000)
    gap_ns[::1000] = 10**7
    assert look_ups(gap_ns).gain_most_s == pytest.approx(0.54, rel=0.01)


def test_gaps_are_those_of_a_thread() -> None:
    assert look_ups(1_000, threads=2).gain_most_s == pytest.approx(0.135 * (1 + 5 / 3), rel=0.02)


def test_a_thread_that_waits_for_a_processor_waits_between_calls_too() -> None:
    """A twentieth of the calls is preempted: the same part of the gaps is, which look like computing."""
    turn = np.arange(CALLS) % 20
    duration_ns = np.where(turn == 0, 123_000, 3_000)
    found = look_ups(np.where(turn == 10, 126_000, 6_000), duration_ns=duration_ns)
    assert found.gain_least_s == pytest.approx(0.81, rel=0.01)
    spent_s = 0.81 + 0.9 * (0.6 + 0.6)
    assert found.gain_most_s == pytest.approx(spent_s, rel=0.25)
