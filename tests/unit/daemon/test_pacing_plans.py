"""Plans for collectors: stored by the scheduler, kept while valid, and delivered by answers to heartbeats."""

from __future__ import annotations

import httpx
import pytest
from iotide.clients.schedulers.backends.preload import PreloadPacing
from iotide.clients.schedulers.live_jobs import LiveState
from iotide.daemon.ingest.ingest_core import IngestCore
from iotide.daemon.ingest.ingest_settings import IngestSettings
from iotide.daemon.pacing_plans import PacingPlans
from iotide.daemon.publish.http.routes.fleet_routes import pacing_routes
from iotide.events import FileInfo, InputError
from iotide.events.network.wire import Heartbeat, decode, encode
from iotide.results.pacing import PacedJob, PacingPlan
from iotide.scheduling.protocol import Forecast, JobState
from support.servers.sinks import RememberingSink

SHARED = FileInfo("/scratch/x", mount_point="/scratch", filesystem="lustre", shared=True, source="mgs@tcp:/fs")
LOCAL = FileInfo("/data", mount_point="/data", filesystem="ext4", shared=False, source="/dev/sdb1")


class Clock:
    """A clock that is set."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def plan_for(file_system: str, **more: object) -> PacingPlan:
    told = {"file_system": file_system, "policy": "set-10", "capacity_bytes_per_s": 1e9, "jobs": []} | more
    return PacingPlan.model_validate(told)


def test_plan_is_for_the_file_system_as_the_aggregator_names_it() -> None:
    plans = PacingPlans({"/data": "fast"})
    for name in ("lustre:mgs@tcp:/fs", "fast", "n7:/dev/sdc1"):
        assert plans.put(plan_for(name))
    assert b'"lustre:mgs@tcp:/fs"' in plans.answer("n7", SHARED)
    assert b'"fast"' in plans.answer("n7", LOCAL)
    other = FileInfo("/other", mount_point="/other", filesystem="ext4", shared=False, source="/dev/sdc1")
    assert b'"n7:/dev/sdc1"' in plans.answer("n7", other)
    assert plans.answer("n8", other) == b""
    plans.remove("fast")
    assert plans.answer("n7", LOCAL) == b""


def test_plan_ends_without_renewal() -> None:
    clock = Clock()
    plans = PacingPlans({}, clock=clock)
    plans.put(plan_for("lustre:mgs@tcp:/fs", lasts_s=2.0))
    clock.now_s += 1.9
    assert plans.answer("n7", SHARED)
    clock.now_s += 0.2
    assert plans.answer("n7", SHARED) == b""


def test_plans_are_bounded_and_old_ones_make_room() -> None:
    clock = Clock()
    plans = PacingPlans({}, most=2, clock=clock)
    assert plans.put(plan_for("a"))
    assert plans.put(plan_for("b"))
    assert not plans.put(plan_for("c"))
    assert plans.put(plan_for("b"))
    clock.now_s += 3
    assert plans.put(plan_for("c"))


def test_heartbeat_of_a_collector_that_paces_is_answered_with_the_plan_and_of_others_without() -> None:
    plans = PacingPlans({})
    plans.put(plan_for("lustre:mgs@tcp:/fs"))
    core = IngestCore(RememberingSink(), IngestSettings())
    core.plan_for = plans.answer
    told = []
    for paces in (SHARED, None):
        beat = Heartbeat(collector="c", host="n7", paces=paces)
        ((_, frames),) = core.receive(b"c", encode(beat), 0.0)
        message, _ = decode(frames)
        assert isinstance(message, Heartbeat)
        told.append(message.plan)
    assert PacingPlan.model_validate_json(told[0]).policy == "set-10"
    assert told[1] == b""


async def test_invalid_plan_is_rejected() -> None:
    from fastapi import FastAPI

    app = FastAPI()
    plans = PacingPlans({})
    app.include_router(pacing_routes(plans))
    good = plan_for("lustre:mgs@tcp:/fs").model_dump(mode="json")
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as http:
        assert (await http.put("/api/v1/pacing", json=good)).status_code == 204
        assert plans.answer("n7", SHARED)
        for wrong in (
            {"capacity_bytes_per_s": 0},
            {"lasts_s": 1e9},
            {"longest_wait_s": 1e9},
            {"file_system": ""},
            {"jobs": [{"job": "", "limit_bytes_per_s": 1}]},
            {"further": 1},
        ):
            assert (await http.put("/api/v1/pacing", json=good | wrong)).status_code == 422, wrong
        deleted = await http.delete("/api/v1/pacing", params={"file_system": "lustre:mgs@tcp:/fs"})
        assert deleted.status_code == 204
        assert plans.answer("n7", SHARED) == b""


def pacing(sent: list[PacingPlan], withdrawn: list[bool]) -> PreloadPacing:
    return PreloadPacing(
        sent.append,
        lambda: withdrawn.append(True),
        file_system="scratch",
        policy="set-10",
        longest_wait_s=9.0,
        lasts_s=2.0,
    )


def test_scheduler_leaves_what_is_predicted_and_guesses_are_none() -> None:
    sent: list[PacingPlan] = []
    withdrawn: list[bool] = []
    backend = pacing(sent, withdrawn)
    sure, guess = (Forecast(10.0, 1e6, 5.0, confidence=confidence) for confidence in (0.9, 0.4))
    states = [
        JobState(1, 2e6, start_s=900.0, forecast=sure, since_s=990.0, moved=5e5, done_s=60.0),
        JobState(2, 1e6, start_s=950.0, forecast=guess, since_s=998.0),
    ]
    assert backend.plan(LiveState(states[:1], states[1:], {1: "a", 2: "b"}, ["lossy"]), 2e6, 1000.0) == []
    first, second = sent[0].jobs
    assert first == PacedJob(
        job="a",
        limit_bytes_per_s=2e6,
        forecast=first.forecast,
        in_io=True,
        since_s=10.0,
        moved_bytes=5e5,
        age_s=100.0,
        done_s=60.0,
    )
    assert first.forecast is not None
    assert (first.forecast.period_s, first.forecast.volume_bytes) == (10.0, 1e6)
    assert (second.job, second.forecast, second.in_io) == ("b", None, False)
    assert backend.clear() == []
    assert backend.clear() == []
    assert withdrawn == [True]


def test_plan_that_is_not_taken_is_told() -> None:
    def refuse(_: object = None) -> None:
        raise InputError("http://x", None, "no answer", "an aggregator")

    backend = PreloadPacing(refuse, refuse, file_system="scratch", policy="fcfs", longest_wait_s=9.0, lasts_s=2.0)
    (told,) = backend.plan(LiveState([], [], {}, []), 1e6, 0.0)
    assert "no answer" in told
    (told,) = backend.clear()
    assert "ends in 2 s" in told


@pytest.mark.parametrize("policy", ["luck", "volume-first:x"])
def test_pacer_follows_no_policy_that_it_does_not_know(policy: str, caplog: pytest.LogCaptureFixture) -> None:
    from iotide.collectors.pacing.pacer import Pacer

    pacer = Pacer(FileInfo("/"), dict)
    pacer.receive_plan(plan_for("x", policy=policy).model_dump_json().encode())
    assert "is invalid and is ignored" in caplog.text
    pacer.receive_plan(b"{")
    pacer.close()
