"""Turns of jobs on a node, from their activity and a plan."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from iotide.collectors.pacing.constants import CALL_TIMEOUT_S, LEASE_NS, PHASE_GAP_S, QUIET_S, RENEW_NS
from iotide.collectors.pacing.job_turns import JobTurns
from iotide.collectors.pacing.local_jobs import Activity, LocalJobs
from iotide.results.pacing import PacedJob, PacingPlan, PhaseForecast

CAPACITY = 20e6
STEP_S = 0.002
BLOCK = 1 << 19


def planned(job: str, volume: float | None, period_s: float = 10.0, limit: float = CAPACITY) -> PacedJob:
    forecast = None
    if volume is not None:
        forecast = PhaseForecast(
            period_s=period_s, volume_bytes=volume, gap_s=period_s / 2, confidence=0.99, next_confidence=0.9
        )
    return PacedJob(job=job, limit_bytes_per_s=limit, forecast=forecast)


def plan_of(*jobs: PacedJob, policy: str = "volume-first:0", **more: float) -> PacingPlan:
    return PacingPlan(
        file_system="scratch", policy=policy, capacity_bytes_per_s=CAPACITY, jobs=list(jobs), **{"lasts_s": 60.0} | more
    )


class Program:
    """A job that writes a volume by calls of one block, from some time on."""

    def __init__(self, name: str, start_s: float, volume: int) -> None:
        self.name, self.start_s, self.volume = name, start_s, volume
        self.moved = 0.0
        self.in_call_s: float | None = None
        self.ended_s: float | None = None
        self.waited_s = 0.0

    def activity(self) -> Activity:
        """Reported words of its processes: bytes are counted at the ends of calls."""
        return Activity(int(self.moved) // BLOCK * BLOCK, self.in_call_s)


class Disk:
    """Programs on one bandwidth, and a pacer that decides every two milliseconds; a call that has begun is not
    stopped.
    """

    def __init__(self, programs: Sequence[Program], plan: PacingPlan | None) -> None:
        self.programs, self.turns, self.now_s = programs, JobTurns(), 0.0
        self.turns.set_plan(plan, 0.0)
        self.held: frozenset[str] = frozenset()
        self.idle_s = 0.0

    def run(self, until_s: float) -> None:
        while self.now_s < until_s:
            self.now_s += STEP_S
            due = [each for each in self.programs if each.start_s <= self.now_s and each.ended_s is None]
            going = []
            for each in due:
                if each.in_call_s is None:
                    each.in_call_s = self.now_s
                if each.name not in self.held or int(each.moved) % BLOCK:
                    going.append(each)
                else:
                    each.waited_s += STEP_S
            self.idle_s += STEP_S if due and not going else 0.0
            for each in going:
                before = int(each.moved) // BLOCK
                each.moved += CAPACITY * STEP_S / len(going)
                if int(each.moved) // BLOCK > before:  # the call has ended, and the next one begins
                    each.moved = float((before + 1) * BLOCK)
                    each.in_call_s = self.now_s
                if each.moved >= each.volume:
                    each.ended_s, each.in_call_s = self.now_s, None
            self.held = self.turns.update(self.now_s, {each.name: each.activity() for each in self.programs})


def test_phase_with_little_left_goes_before_one_with_much() -> None:
    long, short = Program("long", 0.1, 40 * BLOCK), Program("short", 0.3, 4 * BLOCK)
    disk = Disk([long, short], plan_of(planned("long", 40 * BLOCK), planned("short", 4 * BLOCK, 2.0)))
    disk.run(3.0)
    assert short.ended_s is not None
    assert long.ended_s is not None
    assert short.ended_s < 0.3 + 1.5 * 4 * BLOCK / CAPACITY
    assert long.ended_s < 0.1 + 1.1 * 44 * BLOCK / CAPACITY + 2 * QUIET_S
    assert disk.turns.waits >= 1


def test_without_a_plan_or_with_an_old_one_no_call_waits() -> None:
    for plan in (None, plan_of(planned("a", 9 * BLOCK), planned("b", 9 * BLOCK), lasts_s=0.05)):
        first, second = Program("a", 0.1, 9 * BLOCK), Program("b", 0.1, 9 * BLOCK)
        Disk([first, second], plan).run(2.0)
        assert first.waited_s == second.waited_s == 0


@pytest.mark.parametrize("policy", ["volume-first", "set-10", "lowest-yield"])
def test_without_any_forecast_no_call_waits(policy: str) -> None:
    first, second = Program("a", 0.1, 9 * BLOCK), Program("b", 0.1, 9 * BLOCK)
    Disk([first, second], plan_of(planned("a", None), planned("b", None), policy=policy)).run(2.0)
    assert first.waited_s == second.waited_s == 0


def test_equal_shares_are_left_to_the_file_system() -> None:
    first, second = Program("a", 0.1, 9 * BLOCK), Program("b", 0.1, 9 * BLOCK)
    plan = plan_of(planned("a", 9 * BLOCK), planned("b", 9 * BLOCK), policy="fair-share")
    Disk([first, second], plan).run(2.0)
    assert first.waited_s + second.waited_s < 3 * STEP_S  # the first decision about new calls


def test_job_that_no_plan_names_never_waits() -> None:
    known, other = Program("known", 0.1, 40 * BLOCK), Program("other", 0.2, 40 * BLOCK)
    Disk([known, other], plan_of(planned("known", 40 * BLOCK))).run(4.0)
    assert other.waited_s == 0


def test_shares_of_set10_are_kept_by_turns() -> None:
    """Periods of 3 and 10 s are in adjacent classes: shares of ten to one."""
    short, long = Program("short", 0.1, 400 * BLOCK), Program("long", 0.1, 400 * BLOCK)
    plan = plan_of(planned("short", 400 * BLOCK, 3.0), planned("long", 400 * BLOCK, 10.0), policy="set-10")
    disk = Disk([short, long], plan)
    disk.run(6.0)
    share = short.moved / (short.moved + long.moved)
    assert share == pytest.approx(10 / 11, abs=0.05)


def test_jobs_that_leave_room_go_together() -> None:
    slow = [planned(name, 9 * BLOCK, limit=CAPACITY / 4) for name in "ab"]
    first, second = Program("a", 0.1, 9 * BLOCK), Program("b", 0.1, 9 * BLOCK)
    Disk([first, second], plan_of(*slow)).run(2.0)
    assert first.waited_s == second.waited_s == 0


def test_phase_that_waited_for_long_goes_on() -> None:
    long, stream = Program("long", 0.1, 40 * BLOCK), Program("stream", 0.2, 4000 * BLOCK)
    plan = plan_of(planned("long", 40 * BLOCK), planned("stream", BLOCK, 2.0), longest_wait_s=0.5)
    disk = Disk([long, stream], plan)
    disk.run(4.0)
    assert long.waited_s < 0.5 + 0.02
    assert disk.turns.overdue >= 1


def test_call_abandoned_by_a_signal_handler_delays_others_only_briefly() -> None:
    turns = JobTurns()
    plan = plan_of(planned("left", 9 * BLOCK, 2.0), planned("b", 90 * BLOCK), longest_wait_s=3600)
    looks = round((CALL_TIMEOUT_S + 2) / 0.1)
    held = []
    for at in range(looks):
        now_s = at * 0.1
        turns.set_plan(plan, now_s)
        calls = (None, None) if at == 0 else (0.05, 0.06)
        held.append(turns.update(now_s, {"left": Activity(0, calls[0]), "b": Activity(0, calls[1])}))
    assert held[2] == {"b"}
    assert held[-1] == {"left"}
    turns.set_plan(plan, now_s)
    held.append(turns.update(now_s + 0.1, {"left": Activity(0, now_s), "b": Activity(0, 0.06)}))
    assert held[-1] == {"b"}  # it is back


def test_counts_that_go_back_or_leap_are_no_bytes() -> None:
    """A process may write arbitrary words, or end and remove its bytes."""
    turns = JobTurns()
    turns.set_plan(plan_of(planned("a", 9 * BLOCK), planned("b", 9 * BLOCK)), 0.0)
    for at, moved in enumerate([100, 0, 1 << 63, 5, 0]):
        held = turns.update(at * STEP_S, {"a": Activity(moved, None), "b": Activity(0, None)})
    assert held <= {"a", "b"}


def test_lease_is_renewed_before_it_ends() -> None:
    assert 0 < RENEW_NS < LEASE_NS
    assert QUIET_S < PHASE_GAP_S


@given(
    policy=st.sampled_from(["fcfs", "set-10", "lowest-yield", "volume-first", "volume-first:4", "fair-share"]),
    programs=st.lists(
        st.tuples(st.floats(0.0, 1.0), st.integers(1, 30), st.booleans(), st.floats(0.05, 1.0)), min_size=1, max_size=5
    ),
)
def test_some_program_always_runs_and_all_finish(policy: str, programs: list[tuple[float, int, bool, float]]) -> None:
    """Work-conserving except while the end of a phase is being detected."""
    made = [Program(f"job{at}", start_s, blocks * BLOCK) for at, (start_s, blocks, _, _) in enumerate(programs)]
    jobs = [
        planned(each.name, each.volume * 1.3 if known else None, 1.0 + at, limit * CAPACITY)
        for at, (each, (_, _, known, limit)) in enumerate(zip(made, programs, strict=True))
    ]
    disk = Disk(made, plan_of(*jobs, policy=policy))
    whole_s = sum(each.volume for each in made) / CAPACITY
    switches = sum(each.volume // BLOCK for each in made) + 2 * len(made)
    disk.run(1.2 + whole_s + switches * STEP_S + len(made) * (QUIET_S + 4 * STEP_S) + 0.1)
    assert all(each.ended_s is not None for each in made)
    assert disk.idle_s <= len(made) * (QUIET_S + 4 * STEP_S)


def test_jobs_of_other_nodes_count_as_the_plan_tells() -> None:
    """Two collectors of one job compute the same order: a job with little left goes, the other waits."""
    long = planned("long", 40 * BLOCK).model_copy(update={"in_io": True, "moved_bytes": 2.0 * BLOCK, "since_s": 0.5})
    short = planned("short", 4 * BLOCK, 2.0).model_copy(update={"in_io": True, "moved_bytes": 0.0, "since_s": 0.1})
    held = {}
    for here in ("long", "short"):
        turns = JobTurns()
        turns.set_plan(plan_of(long, short), 0.0)
        turns.update(0.002, {here: Activity(0, None)})
        held[here] = turns.update(0.004, {here: Activity(0, 0.003)})
    assert held == {"long": {"long"}, "short": frozenset()}


@given(
    st.lists(
        st.tuples(st.integers(1, 50), st.floats(0.5, 100), st.floats(0, 5), st.floats(0, 1)), min_size=2, max_size=5
    ),
    st.sampled_from(["fcfs", "set-10", "lowest-yield", "volume-first"]),
)
def test_of_jobs_that_each_have_a_collector_of_their_own_one_goes(
    jobs: list[tuple[int, float, float, float]], policy: str
) -> None:
    made = [
        planned(f"job{at}", blocks * BLOCK, period_s).model_copy(
            update={"in_io": True, "since_s": since_s, "age_s": since_s + 10, "done_s": 10 * done}
        )
        for at, (blocks, period_s, since_s, done) in enumerate(jobs)
    ]
    waiting = 0
    for each in made:
        turns = JobTurns()
        turns.set_plan(plan_of(*made, policy=policy), 0.0)
        turns.update(0.002, {each.job: Activity(0, None)})
        waiting += each.job in turns.update(0.004, {each.job: Activity(0, 0.003)})
    assert waiting < len(made)


def test_short_phase_with_the_large_share_waits_for_no_quantum_of_a_long_one() -> None:
    long, short = Program("long", 0.1, 40 * BLOCK), Program("short", 0.5, 8 * BLOCK)
    plan = plan_of(planned("long", 40 * BLOCK, 10.0), planned("short", 8 * BLOCK, 2.0), policy="set-10")
    Disk([long, short], plan).run(1.0)
    assert short.waited_s < 0.01
    assert short.ended_s is not None
    assert short.ended_s < 0.5 + 8 * BLOCK / CAPACITY + 0.04


def _quiet_after_s(pause_s: float) -> float:
    """Return the silence after which a job with 4 ms calls and such pauses counts as quiet."""
    jobs, now_s, moved = LocalJobs(), 0.0, 0
    for _phase in range(3):
        for _call in range(20):
            for in_call, lasting_s in ((now_s, 0.004), (None, pause_s)):
                until_s = now_s + lasting_s
                while now_s < until_s - 1e-9:
                    now_s += STEP_S
                    jobs.update(now_s, {"a": Activity(moved, in_call)})
            moved += BLOCK
        until_s = now_s + 2 * PHASE_GAP_S
        while now_s < until_s:
            now_s += STEP_S
            jobs.update(now_s, {"a": Activity(moved, None)})
    jobs.update(begun_s := now_s + STEP_S, {"a": Activity(moved, begun_s)})
    now_s = begun_s
    while not jobs.jobs["a"].is_quiet(now_s):
        now_s += STEP_S
        jobs.update(now_s, {"a": Activity(moved, None)})
    return now_s - begun_s


def test_others_go_the_sooner_the_closer_the_calls_of_a_phase_follow_one_another() -> None:
    assert _quiet_after_s(0.0) < 0.007
    assert 0.008 < _quiet_after_s(0.006) <= QUIET_S + STEP_S
    assert _quiet_after_s(0.05) == pytest.approx(QUIET_S, abs=1.5 * STEP_S)


def test_one_late_look_between_two_calls_makes_no_job_quiet() -> None:
    jobs = LocalJobs()
    jobs.update(0.0, {"a": Activity(0, 0.0)})
    jobs.update(1.0, {"a": Activity(0, 1.0)})
    jobs.update(1.2, {"a": Activity(BLOCK, None)})  # 0.2 s late
    assert not jobs.jobs["a"].is_quiet(1.2)
