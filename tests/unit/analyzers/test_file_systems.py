"""A job's I/O per file system: identities, phases, bounds, and the compiled helper against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.analyzers.file_systems import event_sums
from iotide.analyzers.file_systems.file_system_table import file_system_of
from iotide.analyzers.file_systems.phase_table import (
    CALLS,
    END,
    METADATA,
    PIECE_NS,
    READ,
    START,
    WRITTEN,
    bucket_of,
    quantile_s,
)
from iotide.analyzers.file_systems.update import KIND, FileSystemsAnalyzer
from iotide.analyzers.pipeline.analysis_queue import AnalysisQueue, QueuedEvents
from iotide.analyzers.pipeline.numbering import JobNames
from iotide.events import EventBatch, FileInfo, FileType, Flag, Kind, StreamInfo, make_batch
from iotide.results.jobs.file_systems import FileSystemUse, JobFileSystems
from support.jobs.analyzer_kinds import context

S = 10**9
T0 = 1_700_000_000 * S
LUSTRE = {"mount_point": "/scratch", "filesystem": "lustre", "shared": True, "source": "mgs@tcp:/fs"}
DISK = {"mount_point": "/tmp", "filesystem": "xfs", "shared": False, "source": "/dev/sda1"}
FILES = [
    FileInfo("/scratch/a", FileType.REGULAR, **LUSTRE),
    FileInfo("/scratch/b", FileType.REGULAR, **LUSTRE),
    FileInfo("/tmp/c", FileType.REGULAR, **DISK),
    FileInfo("/trace/d", FileType.REGULAR),
    FileInfo("pipe:[1]", FileType.PIPE),
    FileInfo("/usr/lib/libc.so.6", FileType.REGULAR, "/", "xfs", False),
]
KINDS = [Kind.READ, Kind.WRITE, Kind.SYNC, Kind.CREATE, Kind.OTHER, Kind.SEEK, Kind.DESTROY]


def on(host: str, **more: object) -> StreamInfo:
    return StreamInfo(job="j", source="test", host=host, **more)  # type: ignore[arg-type]


def made(files: list[FileInfo] = FILES, **given: object) -> FileSystemsAnalyzer:
    names = JobNames(10, 1000)
    for file in files:
        names.file(file)
    analyzer = KIND.make(context(names, analyzers={"filesystems": given}))
    assert isinstance(analyzer, FileSystemsAnalyzer)
    return analyzer


def calls(rows: list[tuple[float, float, int, int, Kind]], **more: object) -> EventBatch:
    """Make events of (start, duration, file, bytes, kind); times are seconds after T0."""
    start, duration, file, volume, kind = (list(column) for column in zip(*rows, strict=True))
    columns = {
        "start": T0 + (np.array(start) * S).astype(np.int64),
        "duration": (np.array(duration) * S).astype(np.int64),
        "file": file,
        "bytes": volume,
        "kind": [int(each) for each in kind],
    }
    return make_batch(len(rows), columns | more)


def told(analyzer: FileSystemsAnalyzer) -> JobFileSystems:
    return analyzer.deferred_result()()


def by_name(analyzer: FileSystemsAnalyzer) -> dict[str, FileSystemUse]:
    return {use.file_system: use for use in told(analyzer).file_systems}


@pytest.mark.parametrize(
    ("file", "names", "expected"),
    [
        (FILES[0], {}, ("lustre:mgs@tcp:/fs", "shared", "")),
        (FILES[0], {"/scratch": "fast"}, ("fast", "shared", "")),
        (FILES[0], {"/scr": "no", "mgs@tcp:/fs": "by source"}, ("by source", "shared", "")),
        (FILES[0], {"lustre:mgs@tcp:/fs": "by both"}, ("by both", "shared", "")),
        (FILES[0], {"/": "all", "/scratch/": "longest"}, ("longest", "shared", "")),
        (FileInfo("/h/a", mount_point="/h", filesystem="nfs4", shared=True), {}, ("nfs4:/h", "shared", "")),
        (FILES[2], {}, ("", "local", "/dev/sda1")),
        (FileInfo("/m/a", mount_point="/m", filesystem="tmpfs", shared=False, source="tmpfs"), {}, ("", "local", "/m")),
        (FileInfo("/m/a", mount_point="/m", filesystem="fuse.x", source="x"), {}, ("", "unknown", "/m")),
        (FileInfo("/m/a"), {}, ("", "unknown", "")),
    ],
)
def test_file_system_has_one_identity(file: FileInfo, names: dict[str, str], expected: tuple[str, str, str]) -> None:
    node_file_system = file_system_of(file, names)
    assert (node_file_system.name, node_file_system.place, node_file_system.local) == expected


def test_shared_file_system_is_one_of_all_hosts_and_a_disk_is_one_of_each() -> None:
    analyzer = made()
    for host in ("n1", "n2"):
        batch = calls([(0, 0.1, 1, 10, Kind.WRITE), (0, 0.1, 3, 7, Kind.READ)])
        analyzer.update(QueuedEvents.of(batch, host, on(host)))
    uses = by_name(analyzer)
    assert set(uses) == {"lustre:mgs@tcp:/fs", "n1:/dev/sda1", "n2:/dev/sda1"}
    assert uses["lustre:mgs@tcp:/fs"].bytes_written == 20
    assert uses["lustre:mgs@tcp:/fs"].hosts == ["n1", "n2"]
    assert uses["lustre:mgs@tcp:/fs"].mount_points == ["/scratch"]
    assert [(uses[name].bytes_read, uses[name].hosts) for name in ("n1:/dev/sda1", "n2:/dev/sda1")] == [
        (7, ["n1"]), (7, ["n2"]),
    ]  # fmt: skip


def test_phases_have_bytes_calls_times_and_latencies_of_metadata() -> None:
    analyzer = made()
    rows = [(0.0, 0.001, 1, 0, Kind.CREATE), (0.01, 0.05, 1, 100, Kind.WRITE), (0.1, 0.2, 1, 50, Kind.READ)]
    rows += [(0.3, 0.1, 1, 0, Kind.SYNC), (0.41, 0.000_05, 1, 0, Kind.DESTROY)]
    rows += [(5.0, 0.1, 1, 30, Kind.WRITE)]
    analyzer.update(QueuedEvents.of(calls(rows), "s", on("n1")))
    use = by_name(analyzer)["lustre:mgs@tcp:/fs"]
    first, second = use.phases
    assert (first.start_s, first.end_s) == pytest.approx((T0 / S + 0.01, T0 / S + 0.4))
    assert (first.bytes_read, first.bytes_written, first.calls) == (50, 100, 3)
    assert first.seconds == pytest.approx(0.35)
    assert (second.moved, second.continues) == (30, False)
    opening, closing = use.metadata_phases
    assert (opening.calls, closing.calls) == (1, 1)
    assert opening.latency.longest_s == pytest.approx(0.001)
    assert closing.latency.median_s == pytest.approx(0.000_05, rel=0.42)


def test_permanent_metadata_calls_do_not_hide_phases_of_data() -> None:
    """For example fio, which calls stat on its files ten times per second."""
    analyzer = made()
    rows = [(at / 10, 0.000_01, 1, 0, Kind.OTHER) for at in range(300)]
    rows += [(at, 0.5, 1, 10, Kind.WRITE) for at in (0, 10, 20)]
    analyzer.update(QueuedEvents.of(calls(sorted(rows)), "s", on("n1")))
    (use,) = told(analyzer).file_systems
    assert [phase.end_s - phase.start_s for phase in use.phases] == pytest.approx([0.5, 0.5, 0.5])
    assert sum(phase.calls for phase in use.metadata_phases) == 300


def test_calls_outside_the_job_s_data_are_left_out() -> None:
    analyzer = made()
    analyzer.update(
        QueuedEvents.of(
            calls(
                [
                    (0, 0.1, 5, 10, Kind.WRITE),  # a pipe
                    (0, 0.1, 6, 10, Kind.READ),  # a library
                    (0, 0.1, 6, 0, Kind.CREATE),
                    (0, 0.1, 1, 0, Kind.SEEK),
                    (0, 0.1, 0, 0, Kind.OTHER),
                ]
            ),
            "s",
            on("n1"),
        )
    )
    analyzer.update(QueuedEvents.of(calls([(0, 0.1, 1, 10, Kind.WRITE)], depth=1), "s", on("n1")))
    assert told(analyzer).file_systems == []


def test_without_knowledge_of_mounts_the_place_is_unknown() -> None:
    analyzer = made()
    analyzer.update(QueuedEvents.of(calls([(0, 0.1, 4, 10, Kind.WRITE), (0, 0.1, 0, 5, Kind.WRITE)]), "s", on("n1")))
    (use,) = told(analyzer).file_systems
    assert (use.file_system, use.place, use.bytes_written) == ("unknown", "unknown", 15)


def test_phase_without_end_is_told_in_pieces() -> None:
    analyzer = made()
    rows = [(at, 0.9, 1, 10, Kind.WRITE) for at in range(200)]
    analyzer.update(QueuedEvents.of(calls([(at, 0.9, *rest) for at, _, *rest in rows]), "s", on("n1")))
    phases = by_name(analyzer)["lustre:mgs@tcp:/fs"].phases
    assert [phase.continues for phase in phases] == [False, True, True, True]
    assert sum(phase.moved for phase in phases) == 2000
    assert all(phase.end_s - phase.start_s <= PIECE_NS / S for phase in phases)


def test_bounds_hold_and_are_told() -> None:
    analyzer = made(max_phases=8, max_file_systems=1)
    analyzer.update(QueuedEvents.of(calls([(at, 0.1, 1, 10, Kind.WRITE) for at in range(50)]), "s", on("n1")))
    analyzer.update(QueuedEvents.of(calls([(50, 0.1, 3, 7, Kind.WRITE)]), "s", on("n1")))
    uses = by_name(analyzer)
    assert [phase.start_s - T0 / S for phase in uses["lustre:mgs@tcp:/fs"].phases] == pytest.approx(range(43, 50))
    assert uses["lustre:mgs@tcp:/fs"].bytes_written == 500, "the phases have bytes that the sums lack"
    assert uses["unknown"].bytes_written == 7
    assert analyzer.losses() == {"phases": 43, "file_systems": 2}, "files of two others"


def test_phase_of_data_takes_a_hundred_bytes() -> None:
    """A cluster has ten thousand jobs with hundreds of phases each."""
    analyzer = made()
    analyzer.update(QueuedEvents.of(calls([(at, 0.1, 1, 10, Kind.WRITE) for at in range(300)]), "s", on("n1")))
    assert analyzer._phases.rows.nbytes <= 300 * 100


def test_file_system_with_few_phases_keeps_them_beside_one_with_many() -> None:
    analyzer = made(max_phases=10)
    analyzer.update(QueuedEvents.of(calls([(0, 0.1, 1, 10, Kind.WRITE), (1, 0.1, 1, 10, Kind.WRITE)]), "s", on("n1")))
    analyzer.update(QueuedEvents.of(calls([(at, 0.1, 3, 7, Kind.WRITE) for at in range(100, 200)]), "s", on("n1")))
    assert {name: len(use.phases) for name, use in by_name(analyzer).items()} == {
        "lustre:mgs@tcp:/fs": 2,
        "n1:/dev/sda1": 8,
    }


def test_values_beyond_all_measure_are_bounded() -> None:
    analyzer = made()
    rows = make_batch(200, {"start": T0, "duration": 2**55, "file": 1, "bytes": 2**62, "kind": int(Kind.WRITE)})
    for _ in range(3):
        analyzer.update(QueuedEvents.of(rows, "s", on("n1")))
    (use,) = told(analyzer).file_systems
    assert use.bytes_written > 2**50
    assert use.phases[0].moved > 2**50


def test_summary_of_many_calls_counts_as_many() -> None:
    analyzer = made()
    flags = int(Flag.AGGREGATE | Flag.SPREAD)
    batch = calls([(0, 10, 1, 1000, Kind.WRITE)], flags=flags, requested=20, offset=2 * S)
    analyzer.update(QueuedEvents.of(batch, "s", on("n1")))
    (phase,) = by_name(analyzer)["lustre:mgs@tcp:/fs"].phases
    assert (phase.calls, phase.seconds, phase.end_s - phase.start_s) == (20, 2.0, pytest.approx(10))


def test_clock_of_its_own_is_told() -> None:
    analyzer = made()
    analyzer.update(QueuedEvents.of(calls([(0, 1, 1, 1, Kind.WRITE)]), "s", on("n1", clock_offset_ns=None)))
    assert told(analyzer).own_clock


@given(st.lists(st.integers(1, 10**11), min_size=1, max_size=50), st.floats(0.01, 0.99))
def test_quantiles_are_right_to_a_factor(durations: list[int], share: float) -> None:
    counts = np.bincount(bucket_of(np.array(durations)), minlength=28)
    exact = sorted(durations)[min(int(np.ceil(share * len(durations))) - 1, len(durations) - 1)]
    found = quantile_s(counts, share, max(durations)) * 1e9
    assert found <= max(durations) * (1 + 1e-9)
    if exact >= 2**10:
        assert exact / 2 <= found <= 2 * exact


events = st.lists(
    st.tuples(
        st.floats(0, 200), st.floats(0, 3), st.integers(0, 6), st.sampled_from([0, 1, 1000]), st.sampled_from(KINDS)
    ),
    min_size=1,
    max_size=60,
)


def naive(rows: list[tuple[float, float, int, int, Kind]], gap_ns: int) -> list[tuple[int, ...]]:
    """The slow and obvious reference for one host: phases of each file system as (start, end, bytes, calls,
    metadata).
    """
    batch = calls(rows)
    ends, found = batch.end, []
    for place in (FILES[0].source, FILES[2].source, ""):
        own = []
        for row, (_, _, file, volume, kind) in enumerate(rows):
            info = FILES[file - 1] if file else FileInfo("")
            data = kind in (Kind.READ, Kind.WRITE)
            counts = (data and volume > 0) or (file > 0 and not data and kind != Kind.SEEK)
            if counts and info.source == place and file not in (5, 6):
                own.append((int(batch.start[row]), int(ends[row]), volume if data else 0, data or kind == Kind.SYNC))
        for one in sorted({(is_call, start // PIECE_NS) for start, _, _, is_call in own}):
            phase: list[int] = []
            for start, end, volume, is_call in sorted(own):
                if (is_call, start // PIECE_NS) != one:
                    continue
                if phase and start <= phase[1] + gap_ns:
                    phase[1] = max(phase[1], end)
                else:
                    if phase:
                        found.append(tuple(phase))
                    phase = [start, end, 0, 0, 0]
                phase[2] += volume
                phase[3 if is_call else 4] += 1
            found.append(tuple(phase))
    return sorted(found)


@pytest.mark.slow
@settings(max_examples=200)
@given(rows=events, cuts=st.lists(st.integers(0, 60), max_size=3))
def test_phases_are_those_of_the_naive_way_in_whatever_order_and_pieces(
    rows: list[tuple[float, float, int, int, Kind]], cuts: list[int]
) -> None:
    rows = [row for row in rows if row[2] != 6] or [(0, 1, 1, 1, Kind.WRITE)]
    analyzer = made()
    borders = sorted({0, len(rows), *(cut % (len(rows) + 1) for cut in cuts)})
    for first, stop in pairwise(borders):
        analyzer.update(QueuedEvents.of(calls(rows[first:stop]), "s", on("n1")))
    held = analyzer._phases.rows  # results are in seconds, which are not whole nanoseconds
    phases = [(row[START], row[END], row[READ] + row[WRITTEN], row[CALLS], row[METADATA]) for row in held.tolist()]
    assert sorted(phases) == naive(rows, int(0.25 * S))


@pytest.mark.slow
@settings(max_examples=200)
@given(rows=events, hosts=st.lists(st.sampled_from(["n1", "n2", ""]), min_size=1, max_size=4), depth=st.integers(0, 1))
def test_compiled_helper_does_what_numpy_does(
    rows: list[tuple[float, float, int, int, Kind]], hosts: list[str], depth: int
) -> None:
    queue = AnalysisQueue()
    for at, host in enumerate(hosts):
        if part := rows[at :: len(hosts)]:
            queue.put(calls(part, depth=[depth * (row % 2) for row in range(len(part))]), f"s{at}", on(host))
    taken = queue.since(0)
    outcomes = []
    for native in (True, False):
        analyzer = made()
        replaced: Callable[[], object] | None = None
        if not native:
            replaced, event_sums.native = event_sums.native, lambda: None  # type: ignore[assignment]
        try:
            analyzer.update(taken)
        finally:
            if replaced is not None:
                event_sums.native = replaced  # type: ignore[assignment]
        outcomes.append((told(analyzer), analyzer.losses()))
    assert outcomes[0] == outcomes[1]


def test_more_rows_than_fit_at_once_are_all_there() -> None:
    analyzer = made(max_phases=5000)
    analyzer.update(
        QueuedEvents.of(calls([(at, 0.1, 1 + 2 * (at % 2), 1, Kind.WRITE) for at in range(4000)]), "s", on("n1"))
    )
    assert sum(len(use.phases) for use in told(analyzer).file_systems) == 4000


def test_no_events_are_nothing_without_the_compiled_helper(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_sums, "native", lambda: None)
    analyzer = made()
    analyzer.update(QueuedEvents.of(calls([(0, 1, 1, 1, Kind.WRITE)]).select(slice(0, 0)), "s", on("n1")))
    assert told(analyzer).file_systems == []
