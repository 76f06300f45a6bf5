"""Scheduling of running jobs: jobs in I/O, limits, and output of the back ends."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from iotide.clients.schedulers.backends.cgroup import ControlGroups, ControlGroupWeights, device_of, weights_of
from iotide.clients.schedulers.backends.lustre_tbf import PARAMETER, LustreTbf, lctl_runner
from iotide.clients.schedulers.limits import Limit, decide
from iotide.clients.schedulers.live_jobs import Interval, LiveJobs, OwnRates, forecast_of
from iotide.clients.schedulers.steering import Steering, Step
from iotide.daemon.publish.http.routes.live_io_routes import join_latest
from iotide.events import ConfigError, InputError
from iotide.results.base import Estimate
from iotide.results.contention import Capacity
from iotide.results.jobs.file_systems import IoPhase
from iotide.results.live import LiveIo, LiveJob
from iotide.results.prediction import NextPhase, OtherPeriod, Prediction, Window
from iotide.scheduling.named_policies import POLICIES
from iotide.scheduling.policies import fair_share, fcfs, set10
from iotide.scheduling.volume_first import volume_first

CAPACITY = 100e6
NOW = 1_700_000_000.0


def exactly(value: float) -> Estimate:
    return Estimate(value=value, low=value, high=value)


def predicted(
    job: str, period_s: float, volume: float, *, confidence: float = 0.99, complete: float = 1.0
) -> Prediction:
    return Prediction(
        job=job,
        made_at_s=NOW,
        mode="both",
        method="test",
        window=Window(start_s=0, end_s=1, samples=10),
        sampling_frequency_hz=10,
        period_s=exactly(period_s),
        confidence=confidence,
        dominant=[],
        next_phase=NextPhase(
            start_s=exactly(NOW), duration_s=exactly(volume / CAPACITY), volume_bytes=exactly(volume), confidence=0.9
        ),
        completeness=complete,
    )


def job(
    name: str, begin_s: float, end_s: float, moved: int, prediction: Prediction | None = None, calls: int = 10
) -> LiveJob:
    phase = IoPhase(
        start_s=begin_s, end_s=end_s, bytes_read=0, bytes_written=moved, calls=calls, seconds=end_s - begin_s
    )
    return LiveJob(job=name, completeness=1, phase=phase, bytes_moved=moved, prediction=prediction)


def live(*jobs: LiveJob, at_s: float = NOW, capacity: float | None = CAPACITY) -> LiveIo:
    known = Capacity(known="unknown") if capacity is None else Capacity(known="learnt", bytes_per_s=exactly(capacity))
    return LiveIo(made_at_s=at_s, file_system="scratch", gap_s=0.25, capacity=known, jobs=list(jobs))


def test_phase_goes_on_while_calls_end_and_is_over_when_none_does() -> None:
    jobs = LiveJobs(CAPACITY)
    seen = jobs.update(live(job("a", NOW - 2, NOW - 0.1, 10**8)), {})
    assert [state.moved for state in seen.waiting] == [1e8]
    seen = jobs.update(live(job("a", NOW - 2, NOW - 0.1, 10**8), at_s=NOW + 1), {})
    assert (seen.waiting, len(seen.coming)) == ([], 1)
    assert seen.coming[0].since_s == pytest.approx(NOW - 0.1)
    seen = jobs.update(live(job("a", NOW + 1.9, NOW + 2.0, 10**7), at_s=NOW + 2), {})
    assert [state.since_s for state in seen.waiting] == [pytest.approx(NOW + 1.9)]


def test_limited_job_is_in_its_phase_as_long_as_one_of_its_calls_may_take() -> None:
    """Call are reported at their end; otherwise each call would lift the limit and set it again."""
    slow = job("a", NOW - 5, NOW - 2, 10 * 2**20)
    assert not LiveJobs(CAPACITY).update(live(slow), {}).waiting
    assert LiveJobs(CAPACITY).update(live(slow), {"a": 2.0**19}).waiting
    assert not LiveJobs(CAPACITY).update(live(slow), {"a": 100e6}).waiting


def test_yield_counts_what_others_cost() -> None:
    jobs = LiveJobs(CAPACITY)
    forecast = predicted("a", 3.0, 1e8)  # a second alone
    jobs.update(live(job("a", NOW, NOW + 0.1, 10**7, forecast), at_s=NOW + 0.1), {})
    jobs.update(live(job("a", NOW, NOW + 2, 10**8, forecast), at_s=NOW + 2), {})  # which took two
    seen = jobs.update(live(job("a", NOW, NOW + 2, 10**8, forecast), at_s=NOW + 4), {})
    (state,) = seen.coming
    assert state.done_s == pytest.approx(1.0)
    assert state.since_s == pytest.approx(NOW + 2)
    seen = jobs.update(live(job("a", NOW + 4, NOW + 4.1, 10**7, forecast), at_s=NOW + 4.1), {})
    assert seen.waiting[0].done_s == pytest.approx(3.0)  # a second of I/O, two of computing


@given(
    st.lists(st.tuples(st.floats(0.2, 3), st.floats(0.05, 3), st.integers(10_000, 10**8)), min_size=1, max_size=6),
    st.floats(0.05, 0.25),
)
def test_followed_jobs_have_sound_states(phases: list[tuple[float, float, int]], step_s: float) -> None:
    jobs, begin, rows = LiveJobs(CAPACITY), NOW, []
    for gap, lasting, moved in phases:
        rows.append((begin + gap, begin + gap + lasting, moved))
        begin = rows[-1][1]
    at = rows[0][0] + step_s
    while at < begin + 1:
        now = [row for row in rows if row[0] <= at][-1]
        share = min(1.0, (at - now[0]) / (now[1] - now[0]))
        one = job("a", now[0], min(at, now[1]), max(1, int(now[2] * share)))
        seen = jobs.update(live(one, at_s=at), {})
        (state,) = [*seen.waiting, *seen.coming]
        assert 0 < state.limit <= CAPACITY
        assert state.moved >= 0
        assert state.done_s >= 0
        assert state.since_s <= at + 1e-6
        assert 0 <= state.waiting_yield(at) <= 1
        at += step_s


@pytest.mark.parametrize("policy", [*POLICIES.values(), volume_first()])
def test_no_job_is_limited_without_need(policy: object) -> None:
    jobs = LiveJobs(CAPACITY)
    alone = jobs.update(live(job("a", NOW - 1, NOW, 10**8, predicted("a", 10, 1e9))), {})
    assert decide(alone, policy, CAPACITY, NOW, 0.02).limits == ()  # type: ignore[arg-type]
    unknown = LiveJobs(CAPACITY).update(live(job("a", NOW - 1, NOW, 10**8), job("b", NOW - 1, NOW, 10**8)), {})
    decision = decide(unknown, policy, CAPACITY, NOW, 0.02)  # type: ignore[arg-type]
    assert (decision.limits, decision.why) == ((), "no job in I/O has a period yet")
    guesses = [job(name, NOW - 1, NOW, 10**8, predicted(name, 10, 1e9, confidence=0.4)) for name in "ab"]
    assert decide(LiveJobs(CAPACITY).update(live(*guesses), {}), policy, CAPACITY, NOW, 0.02).limits == ()  # type: ignore[arg-type]


def test_set10_leaves_the_job_with_the_short_period_nearly_all() -> None:
    both = live(
        job("long", NOW - 2, NOW, 2 * 10**8, predicted("long", 100, 1e10)),
        job("short", NOW - 1, NOW, 10**8, predicted("short", 10, 1e9)),
    )
    decision = decide(LiveJobs(CAPACITY).update(both, {}), set10, CAPACITY, NOW, 0.02)
    told = {limit.job: limit.bytes_per_s for limit in decision.limits}
    assert told["long"] == pytest.approx(CAPACITY / 11)
    assert told["short"] == pytest.approx(CAPACITY * 10 / 11)


def test_job_that_waits_its_turn_keeps_the_floor() -> None:
    both = live(
        job("first", NOW - 2, NOW, 2 * 10**8, predicted("first", 10, 1e9)),
        job("second", NOW - 1, NOW, 10**8, predicted("second", 10, 1e9)),
    )
    decision = decide(LiveJobs(CAPACITY).update(both, {}), fcfs, CAPACITY, NOW, 0.02)
    assert [(limit.job, limit.bytes_per_s) for limit in decision.limits] == [("second", 0.02 * CAPACITY)]


def test_job_of_which_calls_were_lost_is_left_alone() -> None:
    lossy = job("lossy", NOW - 2, NOW, 2 * 10**8, predicted("lossy", 10, 1e9, complete=0.5))
    other = job("other", NOW - 2, NOW, 2 * 10**8, predicted("other", 10, 1e9))
    seen = LiveJobs(CAPACITY).update(live(lossy, other), {})
    assert (seen.incomplete, [seen.names[state.number] for state in seen.waiting]) == (["lossy"], ["other"])


def test_pieces_of_a_long_phase_are_one() -> None:
    def piece(begin: float, goes_on: bool) -> IoPhase:
        return IoPhase(
            start_s=begin, end_s=begin + 60, bytes_read=1, bytes_written=2, calls=3, seconds=4.0, continues=goes_on
        )

    whole = join_latest([piece(0, False), piece(100, False), piece(160, True), piece(220, True)])
    assert (whole.start_s, whole.end_s, whole.moved, whole.calls, whole.seconds) == (100, 280, 9, 9, 12.0)


class Kept:
    """A back end that stores its input."""

    def __init__(self) -> None:
        self.held: list[Limit] = []

    def apply(self, limits: Sequence[Limit]) -> list[str]:
        self.held = list(limits)
        return []

    def clear(self) -> list[str]:
        self.held = []
        return []


def steered(answers: list[LiveIo | None], capacity: float | None = None, now_s: float = NOW) -> tuple[list[Step], Kept]:
    backend, told = Kept(), iter(answers)

    def ask() -> LiveIo:
        answer = next(told)
        if answer is None:
            raise InputError("http://x", None, "no answer", "an aggregator")
        return answer

    steering = Steering(ask, fair_share, backend, capacity=capacity, floor=0.02, newest_s=5, clock=lambda: now_s)
    return [steering.step() for _ in answers], backend


BUSY = [job(name, NOW - 2, NOW, 2 * 10**8, predicted(name, 10, 1e9)) for name in "ab"]


def test_limits_hold_until_there_is_no_news() -> None:
    steps, backend = steered([live(*BUSY)])
    assert [limit.bytes_per_s for limit in backend.held] == [CAPACITY / 2] * 2
    assert steps[0].capacity == CAPACITY
    steps, backend = steered([live(*BUSY), None])
    assert backend.held == []
    assert math.isnan(steps[1].at_s)
    assert "no answer" in steps[1].decision.why


def test_old_data_and_unknown_capacity_limit_no_job() -> None:
    steps, backend = steered([live(*BUSY)], now_s=NOW + 60)
    assert (backend.held, "60.0 s off" in steps[0].decision.why) == ([], True)
    steps, backend = steered([live(*BUSY, capacity=None)])
    assert (backend.held, "--capacity" in steps[0].decision.why) == ([], True)
    _, backend = steered([live(*BUSY, capacity=None)], capacity=CAPACITY)
    assert len(backend.held) == 2


def test_unused_file_system_is_named_as_the_reason() -> None:
    steps, backend = steered([live(), live(capacity=None)])
    assert [step.decision.why.split(":")[0] for step in steps] == ["no job uses a file system of that name"] * 2
    assert backend.held == []


def limit(name: str, rate: float) -> Limit:
    return Limit(name, rate, rate / CAPACITY)


@pytest.mark.parametrize("is_v2", [True, False])
def test_group_gets_its_limit_and_loses_it(tmp_path: Path, is_v2: bool) -> None:
    files = ["io.max"] if is_v2 else ["blkio.throttle.read_bps_device", "blkio.throttle.write_bps_device"]
    for name in "ab":
        (tmp_path / f"job_{name}").mkdir()
        for file in files:
            (tmp_path / f"job_{name}" / file).touch()

    def held(name: str) -> set[str]:
        return {(tmp_path / f"job_{name}" / file).read_text() for file in files}

    backend = ControlGroups(f"{tmp_path}/job_{{job}}", "254:0")
    limited = {"254:0 rbps=1000000 wbps=1000000\n"} if is_v2 else {"254:0 1000000\n"}
    lifted = {"254:0 rbps=max wbps=max\n"} if is_v2 else {"254:0 0\n"}
    assert backend.apply([limit("a", 1e6), limit("elsewhere", 1e6)]) == []
    assert (held("a"), held("b")) == (limited, {""})
    assert backend.apply([limit("b", 1e6)]) == []
    assert (held("a"), held("b")) == (lifted, limited)
    assert backend.clear() == []
    assert held("b") == lifted


@pytest.mark.parametrize("file", ["io.bfq.weight", "io.weight", "blkio.bfq.weight_device"])
def test_group_gets_its_weight_and_loses_it(tmp_path: Path, file: str) -> None:
    for name in "ab":
        (tmp_path / name).mkdir()
        (tmp_path / name / file).touch()

    def held() -> list[str]:
        return [(tmp_path / name / file).read_text() for name in "ab"]

    backend = ControlGroupWeights(f"{tmp_path}/{{job}}", "254:0")
    assert backend.apply([limit("a", CAPACITY / 10), limit("elsewhere", CAPACITY / 10)]) == []
    assert held() == ["254:0 12\n", ""]
    assert backend.apply([limit("b", CAPACITY / 5)]) == []
    assert held() == ["254:0 default\n", "254:0 25\n"]
    (tmp_path / "elsewhere").mkdir()
    (problem,) = backend.apply([limit("elsewhere", 1e6)])
    assert "bfq" in problem
    assert backend.clear() == []
    assert held() == ["254:0 default\n"] * 2


def test_weight_goes_to_the_next_file_and_a_failed_removal_is_repeated(tmp_path: Path) -> None:
    (tmp_path / "a" / "io.bfq.weight").mkdir(parents=True)  # refuses each write
    (tmp_path / "a" / "io.weight").touch()
    backend = ControlGroupWeights(f"{tmp_path}/{{job}}", "254:0")
    assert backend.apply([limit("a", CAPACITY / 10)]) == []
    assert (tmp_path / "a" / "io.weight").read_text() == "254:0 11\n"
    (tmp_path / "a" / "io.weight").rename(tmp_path / "elsewhere")
    (problem,) = backend.apply([])
    assert "Is a directory" in problem
    (tmp_path / "elsewhere").rename(tmp_path / "a" / "io.weight")
    assert backend.apply([]) == []
    assert (tmp_path / "a" / "io.weight").read_text() == "254:0 default\n"


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_weights_have_the_ratios_of_the_shares(parts: list[float]) -> None:
    whole = max(1.0, sum(parts))
    limits = [Limit(str(number), 1.0, part / whole) for number, part in enumerate(parts)]
    weights = weights_of(limits)
    rest = 1 - sum(each.weight for each in limits)
    most = max(rest, *(each.weight for each in limits), 0)
    assert weights == pytest.approx({each.job: max(1, 100 * each.weight / most) for each in limits}, abs=0.51)


def test_job_s_name_leads_to_no_other_folder(tmp_path: Path) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "groups"
    for folder in (outside, inside):
        folder.mkdir()
        (folder / "io.max").touch()
    backend = ControlGroups(f"{inside}/{{job}}", "254:0")
    backend.apply([limit("../outside", 1e6), limit("..", 1e6), limit(".", 1e6), limit("/", 1e6)])
    assert (outside / "io.max").read_text() == (inside / "io.max").read_text() == ""


def test_group_that_cannot_be_written_is_told_and_costs_no_other(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).mkdir()
    (tmp_path / "a" / "io.max").mkdir()
    (tmp_path / "b" / "io.max").touch()
    (problem,) = ControlGroups(f"{tmp_path}/{{job}}", "254:0").apply([limit("a", 1e6), limit("b", 2e6)])
    assert "Is a directory" in problem
    assert "2000000" in (tmp_path / "b" / "io.max").read_text()


def test_groups_and_devices_that_would_not_do_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"\{job\}"):
        ControlGroups("/sys/fs/cgroup/x", "254:0")
    with pytest.raises(ConfigError, match="No such file"):
        device_of(tmp_path / "none")
    with pytest.raises(ConfigError, match="no block device"):
        device_of(Path("/proc"))


def test_rules_of_lustre_are_started_changed_and_stopped() -> None:
    said: list[str] = []

    def run(words: list[str]) -> str:
        assert words[0] == "set_param"
        said.append(words[1].removeprefix(f"{PARAMETER}="))
        return ""

    backend = LustreTbf(run, "{job}.batch", rpc_bytes=1e6)
    assert backend.apply([limit("4711", 50e6), limit("4712", 0.1e6)]) == []
    assert backend.apply([limit("4711", 50.1e6), limit("4712", 7e6)]) == []  # a change of a hundredth is not applied
    assert backend.apply([limit("4711", 50e6)]) == []
    assert backend.clear() == []
    assert said == [
        "start iotide1 jobid={4711.batch} rate=50",
        "start iotide2 jobid={4712.batch} rate=1",
        "change iotide2 rate=7",
        "stop iotide2",
        "stop iotide1",
    ]


@pytest.mark.parametrize("name", ["a b", "a}", "{x", "a,b", "ü", "x" * 40, "a;reboot", "a\nb"])
def test_job_that_lustre_cannot_name_is_told_and_skipped(name: str) -> None:
    said: list[list[str]] = []
    backend = LustreTbf(lambda words: said.append(words) or "")  # type: ignore[func-returns-value]
    (problem,) = backend.apply([limit(name, 1e9), limit("good", 1e9)])
    assert "is no job id of Lustre" in problem
    assert len(said) == 1


def test_rule_that_is_refused_is_tried_again() -> None:
    answers = iter(["no such parameter", "", ""])
    backend = LustreTbf(lambda _: next(answers))
    assert backend.apply([limit("a", 1e9)]) == ["a: no such parameter"]
    assert backend.apply([limit("a", 1e9)]) == []
    assert backend.clear() == []


def test_lctl_is_run_without_a_shell_and_its_failure_is_told(tmp_path: Path) -> None:
    program = tmp_path / "lctl"
    program.write_text('#!/bin/sh\necho "$@" >> "$0.log"\ncase "$2" in *bad*) echo refused >&2; exit 3;; esac\n')
    program.chmod(0o755)
    run = lctl_runner(program)
    assert run(["set_param", "a=$(reboot) b"]) == ""
    assert run(["set_param", "bad"]) == "refused"
    assert (tmp_path / "lctl.log").read_text() == "set_param a=$(reboot) b\nset_param bad\n"
    with pytest.raises(ConfigError, match="is no program"):
        lctl_runner(tmp_path / "none")
    program.write_bytes(b"#!/bin/sh\necho 'no \xff' >&2; exit 3\n")
    assert run(["set_param", "a"]) == "no \ufffd"


def test_job_that_always_shares_a_full_file_system_may_take_all_of_it() -> None:
    """Half of the capacity is its bandwidth beside the other job, not its maximum."""
    jobs = LiveJobs(CAPACITY)
    for look in range(20):
        rows = [job(name, NOW + look, NOW + look + 1, int(CAPACITY / 2)) for name in "ab"]
        seen = jobs.update(live(*rows, at_s=NOW + look + 1), {})
    assert [state.limit for state in seen.waiting] == [CAPACITY] * 2
    seen = jobs.update(live(job("a", NOW + 30, NOW + 31, 60_000_000), at_s=NOW + 31), {})
    assert [state.limit for state in seen.waiting] == [60e6]


def test_maximum_rate_of_a_job_is_measured_without_contention() -> None:
    """Alone, and beside others while the file system has spare bandwidth."""
    slow = OwnRates()
    for number in range(8):
        mine, other = Interval(number, number + 1, 10_000_000), Interval(number + 0.5, number + 1.5, 20_000_000)
        slow.add(mine, [other], CAPACITY)
    assert slow.limit(CAPACITY) == pytest.approx(10e6)
    fast = OwnRates()
    for number in range(8):
        full = [Interval(number, number + 1, 70_000_000)]
        fast.add(Interval(number, number + 1, 30_000_000), full, CAPACITY)
    assert fast.limit(CAPACITY) == CAPACITY
    fast.add(Interval(9, 10, 60_000_000), [], CAPACITY)
    assert fast.limit(CAPACITY) == pytest.approx(60e6)


def test_single_cached_interval_does_not_raise_the_maximum_rate() -> None:
    rates = OwnRates()
    for number in range(31):
        rates.add(Interval(number, number + 1, 90_000_000 if number == 9 else 10_000_000), [], CAPACITY)
    assert rates.limit(CAPACITY) == pytest.approx(10e6)


def test_job_with_two_periods_is_told_of_by_the_one_whose_phase_it_is() -> None:
    """A phase of 10 MB every 3 s, one of 500 MB every 60 s."""
    long = OtherPeriod(
        relation="beside", start_s=NOW - 300, end_s=NOW, phases=5, period_s=exactly(60.0), confidence=0.9,
        next_phase=NextPhase(
            start_s=exactly(NOW + 40), duration_s=exactly(5.0), volume_bytes=exactly(5e8), confidence=0.9
        ),
    )  # fmt: skip
    prediction = predicted("a", 3.0, 1e7).model_copy(update={"others": [long]})
    for since, in_io, volume in ((NOW + 3, True, 1e7), (NOW + 40.1, True, 5e8), (NOW + 30.5, False, 1e7)):
        told = forecast_of(prediction, since, in_io=in_io)
        assert told is not None
        assert told.volume == volume
    told = forecast_of(prediction, NOW + 39.1, in_io=False)
    assert told is not None
    assert (told.volume, told.gap_s) == (5e8, pytest.approx(0.9))  # the short one came at 39, and comes at 42


def test_phases_that_were_seen_are_kept_for_the_policy() -> None:
    jobs = LiveJobs(CAPACITY)
    for number in range(4):
        begun = NOW + 10 * number
        jobs.update(live(job("a", begun, begun + 1, 10**7), at_s=begun + 1), {})
        seen = jobs.update(live(job("a", begun, begun + 1, 10**7), at_s=begun + 5), {})
    (state,) = seen.coming
    assert (state.seen.volume, state.seen.gap_s) == (pytest.approx(1e7), pytest.approx(9.0))
