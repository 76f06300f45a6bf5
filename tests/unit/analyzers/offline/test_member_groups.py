"""Groups of a job's members: separation of members, common I/O, and the report on them."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.analyzers.groups.member_signals import BINS, MemberSignals
from iotide.analyzers.groups.update import GroupAnalyzer
from iotide.analyzers.offline.detection import AnalysisOptions, analyse
from iotide.analyzers.offline.member_groups import MemberEvents, with_groups
from iotide.analyzers.offline.plot_data import panels_of
from iotide.analyzers.offline.trace import examine
from iotide.analyzers.online.predictor import Predictor
from iotide.analyzers.settings import DetectSettings
from iotide.cli.detect.command import command as detect
from iotide.clients.detection.page import period_rows
from iotide.clients.text.headline import further_period_text, headline_text, members_text
from iotide.events import EventBatch, FileInfo, FileType, Kind, StreamInfo, concatenate, make_batch
from iotide.results.prediction import Prediction
from msgspec.structs import replace

COUNTS = np.zeros(64, np.uint8)
FILES = [FileInfo(""), *(FileInfo(f"/s/{name}.dat", FileType.REGULAR) for name in ("one7", "one8", "two"))]
SECOND = 10**9


def phases(
    period_s: float, count: int, ranks: list[int], file: int, *, first_s: float = 1.0, size: int = 10**6, seed: int = 1
) -> EventBatch:
    """Make phases of a twentieth of the period in which each rank writes four times."""
    random = np.random.default_rng(seed)
    begins = (first_s + period_s * (np.arange(count) + random.normal(0, 0.005, count)))[:, None, None]
    start = begins + period_s / 20 * np.arange(4)[None, None, :] / 4 + np.zeros((1, len(ranks), 1))
    columns = {
        "start": np.rint(start.ravel() * SECOND).astype(np.int64),
        "duration": round(period_s / 90 * SECOND),
        "rank": np.broadcast_to(np.array(ranks)[None, :, None], start.shape).ravel(),
        "kind": int(Kind.WRITE), "file": file, "bytes": size,
    }  # fmt: skip
    return make_batch(start.size, columns)


def stream(command: str = "", host: str = "n1", pid: int = 0) -> StreamInfo:
    return StreamInfo(job="j", source="test", host=host, command=command, pid=pid)


def finished(batches: list[tuple[EventBatch, StreamInfo]], wanted: DetectSettings | None = None) -> Prediction:
    wanted = wanted or DetectSettings()
    found, view = examine([(batch, COUNTS) for batch, _ in batches], wanted, "j")
    return with_groups(found, view, MemberEvents(batches, FILES, COUNTS), wanted)[0]


def running(batches: list[tuple[EventBatch, StreamInfo]], until_s: float) -> Prediction:
    """Predict after each tenth of the time from the events so far; return the last prediction."""
    predictor, groups = Predictor("j"), GroupAnalyzer(DetectSettings())
    done = 0
    for now_ns in (round(until_s * SECOND * tenth / 10) for tenth in range(1, 11)):
        for batch, info in batches:
            fresh = batch.select((batch.end > done) & (batch.end <= now_ns))
            predictor.update(fresh, COUNTS)
            groups.update(fresh, info, FILES, COUNTS)
        told = groups.answer(predictor.predict(now_ns), now_ns)
        done = now_ns
    return told


def assert_both(told: Prediction, kind: str, members: list[list[str]], periods_s: list[float]) -> None:
    assert told.period_s is not None
    assert told.who is not None
    (other,) = (each for each in told.others if each.relation == "beside")
    assert other.who is not None
    rows = [(told.who, told.period_s), (other.who, other.period_s)]
    rows.sort(key=lambda row: row[1].value)
    assert [who.kind for who, _ in rows] == [kind, kind]
    assert [who.members for who, _ in rows] == members
    assert [period.value for _, period in rows] == [pytest.approx(period, rel=0.02) for period in periods_s]
    assert min(told.confidence, other.confidence) > 0.7


@pytest.mark.slow
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("small", [1, 300])
def test_two_programs_in_one_job_are_each_told_by_their_ranks(shared: bool, small: int) -> None:
    one = phases(20.0, 40, [0, 1, 2, 3], 1)
    other = phases(33.0, 24, [4, 5, 6, 7], 1 if shared else 3, first_s=7.0, size=10**6 // small, seed=2)
    batches = [(one, stream()), (other, stream())]
    told = finished(batches)
    assert_both(told, "ranks", [["0-3"], ["4-7"]], [20.0, 33.0])
    assert told.next_phase is not None
    assert told.others[-1].next_phase is not None
    live = running(batches, 790.0)
    assert_both(live, "ranks", [["0-3"], ["4-7"]], [20.0, 33.0])
    phase = live.others[-1].next_phase
    assert phase is not None
    assert (phase.start_s.value - 7.0) / 33.0 == pytest.approx(24, abs=0.1)
    assert "of ranks 0-3" in headline_text(told)
    assert "beside: ranks 4-7 every 33" in further_period_text(told.others[-1], 0.0)


def test_commands_and_kinds_of_files_are_told_where_there_are_no_ranks() -> None:
    one, other = phases(20.0, 40, [-1], 1), phases(33.0, 24, [-1], 3, first_s=7.0)
    told = finished([(one, stream("lmp -in a", pid=1)), (other, stream("python w.py", pid=2))])
    assert_both(told, "commands", [["lmp -in a"], ["python w.py"]], [20.0, 33.0])
    told = finished([(one, stream(pid=1)), (phases(20.0, 40, [-1], 2), stream(pid=1)), (other, stream(pid=1))])
    assert_both(told, "files", [["/s/one*.dat"], ["/s/two.dat"]], [20.0, 33.0])


def loop(
    name: str, period_s: float, count: int, file: int, first_s: float, first_pid: int
) -> list[tuple[EventBatch, StreamInfo]]:
    """Make a shell loop: each phase is a new process with a new argument."""
    each = phases(period_s, count, [-1], file, first_s=first_s, seed=first_pid)
    return [
        (each.select(slice(4 * at, 4 * at + 4)), stream(f"{name} of=ck.{at % 7} bs=64k", pid=first_pid + 3 * at))
        for at in range(count)
    ]


@pytest.mark.parametrize("count", [20, 70])
def test_loops_that_make_a_process_a_phase_are_told_by_their_commands(count: int) -> None:
    both = [*loop("dd", 2.0, count, 1, 0.5, 100), *loop("cp", 3.3, round(count / 1.65), 3, 1.3, 101)]
    told = finished(both)
    assert_both(told, "commands", [["dd of=ck.* bs=64k"], ["cp of=ck.* bs=64k"]], [2.0, 3.3])


@pytest.mark.slow
def test_running_loop_keeps_its_period_while_processes_come() -> None:
    program = phases(3.3, 30, [-1], 3, first_s=1.3)
    batches = [*loop("dd", 2.0, 49, 1, 0.5, 100), (program, stream("python w.py", pid=7))]
    predictor, groups = Predictor("j"), GroupAnalyzer(DetectSettings())
    done, missed = 0, []
    for second in range(1, 97):
        now_ns = second * SECOND
        for batch, info in batches:
            fresh = batch.select((batch.end > done) & (batch.end <= now_ns))
            if len(fresh):
                predictor.update(fresh, COUNTS)
                groups.update(fresh, info, FILES, COUNTS)
        told = groups.answer(predictor.predict(now_ns), now_ns)
        done = now_ns
        periods = {round(each.value, 1) for each in (told.period_s, *(one.period_s for one in told.others)) if each}
        if second > 20 and not {2.0, 3.3} <= periods:
            missed.append((second, periods))
    assert not missed


def test_ranks_that_write_in_turn_have_one_period() -> None:
    each = [phases(20.0, 15, [rank], 1, first_s=1.0 + 4.0 * rank, seed=rank) for rank in range(5)]
    told = finished([(batch, stream()) for batch in each])
    assert (told.period_s.value if told.period_s else 0) == pytest.approx(4.0, rel=0.02)
    assert told.who is None
    assert all(other.relation != "beside" for other in told.others)


@pytest.mark.parametrize("seed", [10, 21, 27, 78])
def test_rank_that_skips_phases_at_random_is_no_group(seed: int) -> None:
    random = np.random.default_rng(seed)
    every = phases(12.0, 36, [0, 1, 2], 1)
    some = phases(12.0, 36, [3], 1)
    taken = np.repeat(random.random(36) < 0.5, 4)
    told = finished([(every, stream()), (some.select(np.flatnonzero(taken)), stream())])
    assert (told.period_s.value if told.period_s else 0) == pytest.approx(12.0, rel=0.02)
    assert told.who is None
    assert all(other.relation != "beside" for other in told.others)


@pytest.mark.slow
def test_inside_of_one_phase_is_no_period_of_a_group() -> None:
    slow = phases(60.0, 20, [0, 1], 1)
    start = np.rint((305.0 + 0.25 * np.arange(24)) * SECOND).astype(np.int64)
    burst = make_batch(
        24, {"start": start, "duration": 10**7, "rank": 2, "file": 3, "kind": int(Kind.WRITE), "bytes": 10**6}
    )
    told = finished([(slow, stream()), (burst, stream())])
    assert (told.period_s.value if told.period_s else 0) == pytest.approx(60.0, rel=0.02)
    assert [other for other in told.others if other.relation == "beside"] == []


@pytest.mark.slow
def test_a_period_that_something_else_hides_is_told_with_whose_it_is() -> None:
    random = np.random.default_rng(3)
    start = np.sort(random.uniform(0, 800, 60))
    noise = make_batch(
        60,
        {
            "start": np.rint(start * SECOND).astype(np.int64), "duration": 3 * SECOND, "rank": 9, "file": 3,
            "kind": int(Kind.WRITE), "bytes": random.integers(10**6, 10**8, 60),
        },
    )  # fmt: skip
    told = finished([(phases(20.0, 40, [0, 1], 1), stream()), (noise, stream())])
    assert told.period_s is not None
    assert told.period_s.value == pytest.approx(20.0, rel=0.02)
    assert told.who is not None
    assert told.who.members == ["0-1"]
    assert told.others == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_thousands_of_ranks_of_one_period_are_not_split(seed: int) -> None:
    """Each rank has its own delay, up to a whole phase."""
    random = np.random.default_rng(seed)
    ranks, count, period_s = 10_000, 12, float(random.uniform(5, 50))
    begins = period_s * (np.arange(count)[:, None] + random.exponential(0.05, (count, ranks)))
    job = make_batch(
        begins.size,
        {
            "start": np.rint(begins.ravel() * SECOND).astype(np.int64), "duration": SECOND // 10, "file": 1,
            "rank": np.tile(np.arange(ranks), count), "kind": int(Kind.WRITE), "bytes": 10**6,
        },
    )  # fmt: skip
    told = finished([(job, stream())])
    assert told.who is None
    assert all(each.who is None for each in told.others)
    assert told.period_s is not None
    assert told.period_s.value == pytest.approx(period_s, rel=0.05)


def test_groups_are_not_looked_for_where_they_are_switched_off() -> None:
    batches = [(phases(20.0, 40, [0], 1), stream()), (phases(33.0, 24, [1], 3), stream())]
    plain = examine([(batch, COUNTS) for batch, _ in batches], DetectSettings(), "j")[0]
    assert plain.who is None
    analyzer = GroupAnalyzer(DetectSettings())
    for batch, info in batches[:1]:
        analyzer.update(batch, info, FILES, COUNTS)
    assert analyzer.answer(plain, 10**12) is plain  # a single member


@settings(deadline=None, max_examples=15)
@given(cuts=st.lists(st.integers(1, 1599), max_size=12, unique=True), ranks=st.integers(2, 200))
def test_members_and_their_signals_do_not_depend_on_how_events_are_cut(cuts: list[int], ranks: int) -> None:
    random = np.random.default_rng(ranks)
    length = 1600
    batch = make_batch(
        length,
        {
            "start": np.sort(random.integers(0, 200 * SECOND, length)), "duration": random.integers(0, SECOND, length),
            "rank": random.integers(0, ranks, length), "file": random.integers(1, 4, length),
            "kind": int(Kind.WRITE), "bytes": random.integers(1, 1000, length),
        },
    )  # fmt: skip
    whole, pieces = GroupAnalyzer(DetectSettings()), GroupAnalyzer(DetectSettings())
    whole.update(batch, stream(), FILES, COUNTS)
    edges = [0, *sorted(cuts), length]
    for first, last in pairwise(edges):
        pieces.update(batch.select(slice(first, last)), stream(), FILES, COUNTS)
    assert len(whole.members) <= 32
    assert [each.key for each in pieces.members.all] == [each.key for each in whole.members.all]
    assert [each.ranks for each in pieces.members.all] == [each.ranks for each in whole.members.all]
    for level in range(whole.signals.levels):
        np.testing.assert_allclose(
            pieces.signals.bins_of_members(level), whole.signals.bins_of_members(level), rtol=1e-3, atol=0.1
        )


@pytest.mark.slow
@settings(deadline=None, max_examples=30)
@given(
    pids=st.integers(1, 300), commands=st.integers(1, 60), kinds=st.integers(1, 60), hosts=st.integers(1, 40),
    most=st.sampled_from([8, 16, 32]), ranked=st.booleans(),
)  # fmt: skip
def test_members_are_bounded_whatever_a_job_is_made_of(
    pids: int, commands: int, kinds: int, hosts: int, most: int, ranked: bool
) -> None:
    files = [
        FileInfo(""),
        *(FileInfo(f"/d/{'abcdefghij'[n % 10] * (n // 10 + 1)}.x", FileType.REGULAR) for n in range(60)),
    ]
    analyzer = GroupAnalyzer(DetectSettings(group_members=most))
    for number in range(max(pids, commands, hosts)):
        columns = {
            "start": np.arange(3) * SECOND, "duration": SECOND // 2, "file": 1 + (number + np.arange(3)) % kinds,
            "kind": int(Kind.WRITE), "bytes": 10, "rank": number % pids if ranked else -1,
        }  # fmt: skip
        info = stream(f"program{'x' * (number % commands)} -n", f"host{number % hosts}", 1 + number % pids)
        analyzer.update(make_batch(3, columns), info, files, COUNTS)
    assert len(analyzer.members) <= most
    moved = analyzer.signals.bins_of_members(analyzer.signals.levels - 1).sum()
    assert moved == pytest.approx(30 * max(pids, commands, hosts), rel=1e-5)
    if max(pids, 1) * commands > 4 * most and pids > 4 * most:
        assert analyzer.losses()["members"] > 0


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 2**32), most=st.sampled_from([8, 16, 32]), ranked=st.sampled_from([0.0, 0.5, 1.0]),
    sizes=st.tuples(st.integers(1, 40), st.integers(1, 40), st.integers(1, 40), st.integers(1, 20)),
    cuts=st.lists(st.integers(1, 40), max_size=4),
)  # fmt: skip
def test_streams_added_at_once_are_numbered_as_one_after_the_other(
    seed: int, most: int, ranked: float, sizes: tuple[int, int, int, int], cuts: list[int]
) -> None:
    random = np.random.default_rng(seed)
    commands, pids, kinds, hosts = sizes
    files = [FileInfo(""), *(FileInfo(f"/d{n % 3}/{'x' * (1 + n % 7)}.{n}", FileType.REGULAR) for n in range(40))]
    streams = []
    for _ in range(40):
        length = int(random.integers(1, 9))
        number = int(random.integers(commands))
        rank = int(random.integers(pids)) if random.random() < ranked else -1
        info = stream(f"cc{'x' * (number % 5)} -c f{number}", f"h{random.integers(hosts)}", int(random.integers(pids)))
        told = random.random() < 0.5  # else the rank and the pid are those of the introduction
        columns = {
            "start": random.integers(0, 200 * SECOND, length), "duration": random.integers(0, SECOND, length),
            "rank": random.choice([-1, rank], length) if told else -1, "file": random.integers(1, kinds + 1, length),
            "pid": random.integers(0, pids, length) if told else 0,
            "kind": int(Kind.WRITE), "bytes": random.integers(0, 1000, length),
        }  # fmt: skip
        streams.append((make_batch(length, columns), replace(info, rank=rank)))
    together, apart = (GroupAnalyzer(DetectSettings(group_members=most)) for _ in range(2))
    edges = sorted({0, *cuts, len(streams)})
    for first, last in pairwise(edges):
        part = streams[first:last]
        batch = concatenate(each for each, _ in part)
        infos, lengths = [info for _, info in part], [len(each) for each, _ in part]
        together.update_streams(batch, infos, lengths, files, COUNTS)
    for each, info in streams:
        apart.update(each, info, files, COUNTS)
    assert together.members.all == apart.members.all
    assert together.losses() == apart.losses()
    assert together.signals.levels == apart.signals.levels
    for level in range(apart.signals.levels):
        shape = len(apart.members)  # more memory may have been allocated
        both = (each.signals.bins_of_members(level)[:shape] for each in (together, apart))
        np.testing.assert_allclose(*both, rtol=1e-3, atol=0.1)


@settings(deadline=None, max_examples=25)
@given(data=st.data(), spans=st.lists(st.integers(1, 40 * 86_400), min_size=1, max_size=5))
def test_a_sketch_holds_the_newest_bins_of_each_level(data: st.DataObject, spans: list[int]) -> None:
    signals = MemberSignals(10_000_000)
    now = 0
    starts: list[npt.NDArray[np.int64]] = []
    for span in spans:
        start = np.sort(np.array(data.draw(st.lists(st.integers(0, span * SECOND), min_size=1, max_size=9)), np.int64))
        starts.append(now + start)
        signals.add(np.zeros(len(start), np.int64), now + start, now + start, np.ones(len(start), np.int64), 1)
        now += span * SECOND
    everything = np.concatenate(starts)
    for level in range(signals.levels):
        bin_ns = 10_000_000 * 4**level
        newest = int(everything.max()) // bin_ns
        assert signals.bins_of_members(level).sum() == np.count_nonzero(everything // bin_ns > newest - BINS)


def test_stamps_of_a_clock_that_jumped_are_left_out() -> None:
    signals = MemberSignals(10_000_000)
    start = np.array([1, 2, 3, 86_400], np.int64) * SECOND
    signals.add(np.zeros(4, np.int64), start, start, np.ones(4, np.int64), 1, until_ns=4 * SECOND)
    assert (signals.ahead, signals.bins_of_members(0).sum()) == (1, 3)


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 2 * 10**7), st.integers(0, 10**7), st.integers(0, 1000)), min_size=1
    ),
    st.integers(0, 10**8),
)
def test_batch_that_spans_two_bins_is_as_its_events_one_by_one(
    rows: list[tuple[int, int, int, int]], zero: int
) -> None:
    member, start, length, volume = (np.array(column, np.int64) for column in zip(*rows, strict=True))
    start += zero
    whole, single = MemberSignals(10**7), MemberSignals(10**7)
    whole.add(member, start, start + length, volume, 4)
    for row in np.argsort(start + length, kind="stable"):
        at = slice(row, row + 1)
        single.add(member[at], start[at], start[at] + length[at], volume[at], 4)
    assert whole.bins_of_members(0).sum() == pytest.approx(volume.sum(), rel=1e-5)
    low, high = int(start.min()) // 10**7, int((start + length).max()) // 10**7 + 1
    bytes_in = np.zeros((4, high - low))
    for mine, begin, lasting, moved in zip(member, start, length, volume, strict=True):
        for each in range(low, high):
            inside = min(int(begin + lasting), (each + 1) * 10**7) - max(int(begin), each * 10**7)
            at_once = not lasting and int(begin) // 10**7 == each
            bytes_in[mine, each - low] += moved if at_once else moved * max(inside, 0) / max(int(lasting), 1)
    for each in range(4):
        alone = np.array([each])
        assert whole.read(0, low, high, alone) == pytest.approx(single.read(0, low, high, alone), rel=1e-4, abs=1e-2)
        assert whole.read(0, low, high, alone) == pytest.approx(bytes_in[each], rel=1e-4, abs=1e-2)


@pytest.mark.slow
@pytest.mark.parametrize(
    "programs",
    [
        [(20.0, 31, 10**6), (33.0, 19, 2 * 10**6)],
        [(47.0, 25, 10**6), (110.0, 11, 10**7)],
        [(20.0, 60, 3 * 10**6), (33.0, 36, 10**6), (52.0, 23, 10**6)],
    ],
)
def test_shown_facts_of_the_main_period_belong_to_its_members(
    programs: list[tuple[float, int, int]],
) -> None:
    """The phases of the whole job were reported, and replayed, with the period of a group."""
    batches = [
        (phases(period, count, [4 * at + rank for rank in range(4)], at + 1, size=size, seed=at), stream(f"p{at}"))
        for at, (period, count, size) in enumerate(programs)
    ]
    whole = [(batch, COUNTS) for batch, _ in batches]
    wanted = DetectSettings()
    told, _, own, *_ = analyse(whole, wanted, "j", AnalysisOptions(), lambda: MemberEvents(batches, FILES, COUNTS))
    assert told.period_s is not None
    assert told.who is not None
    assert own is not None
    period_s, count, size = min(programs, key=lambda each: abs(each[0] - told.period_s.value))
    assert told.period_s.value == pytest.approx(period_s, rel=0.02)
    panels = panels_of(whole, wanted, told, own=own)
    assert len(panels.phases) == count
    assert np.diff(panels.phases.start_s) == pytest.approx(period_s, rel=0.05)
    assert panels.phases.volume_bytes == pytest.approx(16 * size, rel=0.02)
    assert told.scores is not None
    assert told.scores.bytes_per_phase == pytest.approx(16 * size, rel=0.05)
    assert panels.whole is not None
    assert (panels.whole.total[: len(panels.signal.total)] + 1e-6 >= panels.signal.total).all()
    assert panels.replay is not None
    assert panels.replay.phases == count
    assert panels.replay.median_error is not None
    assert panels.replay.median_error < 0.05


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_each_period_of_a_job_is_told_with_its_own_phases(seed: int) -> None:
    """Phases of a secondary period were guessed from the window, and neither drawn nor replayed."""
    random = np.random.default_rng(seed)
    periods = 20.0 * np.cumprod([1.0, *random.uniform(1.3, 1.9, random.integers(1, 3))])
    programs = [
        (
            float(period),
            round(float(900 / period)),
            int(random.integers(10**6, 10**7)),
            float(random.uniform(1, period)),
        )
        for period in random.permutation(periods)
    ]
    batches = [
        (
            phases(period, count, [4 * at + rank for rank in range(4)], at + 1, size=size, seed=at, first_s=first),
            stream(f"p{at}"),
        )
        for at, (period, count, size, first) in enumerate(programs)
    ]
    whole, wanted = [(batch, COUNTS) for batch, _ in batches], DetectSettings()
    found = analyse(whole, wanted, "j", AnalysisOptions(), lambda: MemberEvents(batches, FILES, COUNTS))
    told = found.prediction
    panels = panels_of(whole, wanted, told, own=found.own, beside=found.beside)
    assert [each.other for each in panels.beside] == [each for each in told.others if each.relation == "beside"]
    rows = [(told.who, told.period_s, told.next_phase, panels.phases, panels.replay)]
    rows += [
        (each.other.who, each.other.period_s, each.other.next_phase, each.phases, each.replay) for each in panels.beside
    ]
    assert len(rows) == len(programs)
    assert [each.other.phases for each in panels.beside] == [len(each.phases) for each in panels.beside]
    words = period_rows(panels, 0.0)
    for (who, period_s, upcoming, shown, replayed), row in zip(rows, words, strict=True):
        assert who is not None
        assert period_s is not None
        assert row.members == members_text(who)
        (name,) = who.commands
        period, count, size, first = programs[int(name[1:])]
        assert period_s.value == pytest.approx(period, rel=0.03)
        assert len(shown) == count
        assert row.phases == str(count)
        assert shown.start_s[0] == pytest.approx(first, abs=period / 10)
        assert shown.volume_bytes.sum() == pytest.approx(16 * size * count, rel=0.01)
        assert upcoming is None or upcoming.start_s.value > shown.end_s[-1]
        assert replayed is not None
        assert replayed.phases == count
    for each in panels.beside:
        assert each.other.bytes_per_phase == pytest.approx(float(each.phases.volume_bytes.mean()), rel=0.1)


@pytest.mark.slow
def test_page_and_pictures_tell_each_period_with_whose_it_is(tmp_path: Path) -> None:
    pytest.importorskip("bokeh")
    trace = tmp_path / "two.jsonl"
    with trace.open("w") as out:
        for program, (period, count) in enumerate([(20.0, 33), (33.0, 20)]):
            for start in (at * period + piece / 4 for at in range(count) for piece in range(8)):
                call = {"call": "write", "path": f"/s/p{program}.dat", "rank": program, "start": start, "dur": 0.2}
                out.write(json.dumps(call | {"command": f"p{program}", "size": 10**7}) + "\n")
    page = tmp_path / "two.html"
    done = CliRunner().invoke(detect, ["--plot", str(page), str(trace)])
    assert done.exit_code == 0, done.output
    assert "20 phases of" in " ".join(done.output.split())
    text = page.read_text()
    table = text[text.index('<table class="periods">') :]
    cells = [re.findall("<td>(.*?)</td>", row) for row in table[: table.index("</table>")].split("<tr>")[2:]]
    assert sorted((row[2], row[4]) for row in cells) == [("20 s", "33"), ("33 s", "20")]
    for row in cells:
        assert f"phase, {row[0]}" in text
    picture = tmp_path / "two.svg"
    assert CliRunner().invoke(detect, ["--plot", str(picture), str(trace)]).exit_code == 0


def test_period_of_all_has_no_events_of_its_own() -> None:
    batches = [(phases(20.0, 30, [0, 1, 2, 3], 1), stream())]
    told, _, own, *_ = analyse(
        [(batches[0][0], COUNTS)],
        DetectSettings(),
        "j",
        AnalysisOptions(),
        lambda: MemberEvents(batches, FILES, COUNTS),
    )
    assert told.period_s is not None
    assert own is None
