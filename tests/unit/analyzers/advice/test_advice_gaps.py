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
    gap_ns: int | np.ndarray,
    *,
    duration_ns: int | np.ndarray = 3_000,
    threads: int = 1,
    batches: int = 1,
    files: int = 1,
    command: str = "./app",
) -> AdviceFinding:
    """Return the finding on a hundred thousand look-ups of names, with a gap before each."""
    (found,) = found_on(gap_ns, duration_ns, {"kind": int(Kind.OTHER)}, threads, batches, files, command)
    assert found.cause == "metadata"
    return found


def found_on(
    gap_ns: int | np.ndarray,
    duration_ns: int | np.ndarray,
    columns: dict[str, object],
    threads: int = 1,
    batches: int = 1,
    files: int = 1,
    command: str = "./app",
    calls: int = CALLS,
) -> list[AdviceFinding]:
    """Return the findings on some calls with a gap before each."""
    names = JobNames(10_000, 10_000)
    analyzer = make(context(names))
    assert analyzer is not None
    file = np.array([names.file(FileInfo(f"/scratch/input{number}")) for number in range(files)])
    call = names.call("stat")
    duration = np.broadcast_to(np.asarray(duration_ns), (calls,))
    start = T0 + np.cumsum(np.broadcast_to(np.asarray(gap_ns), (calls,)) + duration) - duration
    info = StreamInfo(job="j", source="t", host="n", pid=7, command=command)
    for rows in np.array_split(np.arange(calls), batches):
        own = {"start": start[rows], "duration": duration[rows], "tid": 7 + rows % threads, "file": file[rows % files]}
        batch = make_batch(len(rows), {"layer": int(Layer.POSIX), **columns, **own, "pid": 7, "call": call})
        analyzer.update(QueuedEvents.of(batch, "s", info))
    found = analyzer.deferred_result()().findings
    assert all(each.gain_least_s <= each.gain_s <= each.gain_most_s for each in found)
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


@pytest.mark.parametrize("files", [1, 1_999])
def test_a_thread_that_waits_for_a_processor_waits_between_calls_too(files: int) -> None:
    """A twentieth of the calls is preempted: the same part of the gaps is, which look like computing."""
    turn = np.arange(CALLS) % 20
    duration_ns = np.where(turn == 0, 123_000, 3_000)
    found = look_ups(np.where(turn == 10, 126_000, 6_000), duration_ns=duration_ns, files=files)
    assert found.gain_least_s == pytest.approx(0.81, rel=0.01)
    spent_s = 0.81 + 0.9 * (0.6 + 0.6)
    assert found.gain_most_s == pytest.approx(spent_s, rel=0.25)


def test_least_time_of_an_interpreter_surely_goes_with_the_calls() -> None:
    """Half a microsecond of each gap is its own; it is uncertain who takes the rest."""
    assert look_ups(500, command="/usr/bin/python3 app.py").gain_s == pytest.approx(0.315, rel=0.01)
    found = look_ups(6_000, command="/usr/bin/python3 app.py")
    assert found.gain_least_s == pytest.approx(0.27, rel=0.01)
    assert found.gain_s == pytest.approx((0.315 * 0.81) ** 0.5, rel=0.01)


@pytest.mark.parametrize(
    ("command", "sure_us", "most_us"),
    [("python3 app.py", 5.0, 17.0), ("./app", 0.0, 0.0)],
    ids=["interpreter", "compiled"],
)
def test_code_of_a_library_takes_longer_than_its_calls_in_an_interpreter(
    command: str, sure_us: float, most_us: float
) -> None:
    """A gap of 17 us before calls of 2 us is computing in a compiled program, and h5py in Python."""
    columns = {"kind": int(Kind.WRITE), "layer": int(Layer.HDF5), "bytes": 8, "requested": 8}
    (found,) = found_on(17_000, 2_000, columns, command=command)
    share = found.gain_least_s / (CALLS * 2e-6)
    least, most = (CALLS * (2.0 + us) * 1e-6 * share for us in (sure_us, most_us))
    assert (found.gain_s, found.gain_most_s) == pytest.approx(((least * most) ** 0.5, most), rel=0.01)


def test_floor_in_seconds_is_one_of_a_machine_without_other_work() -> None:
    """A program with 15 ms of small writes has no finding, also if other processes double the time of each call."""
    columns = {"kind": int(Kind.WRITE), "bytes": 16, "requested": 16}
    alone = np.full(5_000, 3_000)
    assert found_on(0, alone, columns, calls=5_000) == []
    loaded = np.where(np.arange(5_000) % 100 == 50, 303_000, alone)
    assert found_on(0, loaded, columns, calls=5_000) == []
    assert found_on(0, alone * 2, columns, calls=5_000)


def test_few_requests_that_wait_for_a_processor_do_not_wait_for_storage() -> None:
    """Two of 350 writes of a buffer's size are preempted; larger requests would not end that."""
    columns = {"kind": int(Kind.WRITE), "bytes": 8192, "requested": 8192}
    ns = np.full(350, 6_000)
    ns[[100, 200]] = 40_000_000
    assert found_on(100_000, ns, columns, calls=350) == []
    assert found_on(100_000, np.full(350, 200_000), columns, calls=350)


def test_large_reads_among_small_ones_are_not_taken_for_a_busy_machine() -> None:
    """A file is read 16 times: a header in 100 reads, and 4 MiB in one. Only the large read takes long."""
    size = np.tile([64] * 100 + [4 << 20], 16)
    offset = np.tile([64 * at for at in range(100)] + [6400], 16)
    ns = np.where(size > 64, 5_000_000, 1_000)
    columns = {"kind": int(Kind.READ), "bytes": size, "requested": size, "offset": offset}
    assert [each.cause for each in found_on(0, ns, columns, calls=len(size))][:1] == ["read_again"]
