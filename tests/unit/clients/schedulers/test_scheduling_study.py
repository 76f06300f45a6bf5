"""Simulation of scheduling policies: descriptions of mixes, observed jobs, results, text and picture."""

from __future__ import annotations

import io
import json
import math
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from iotide.clients.schedulers.bandwidth_chart import BINS, Groups, Shares, draw
from iotide.clients.schedulers.fluid import Job, simulate
from iotide.clients.schedulers.mix_file import jobs_of, read_mix
from iotide.clients.schedulers.observed import job_from_phases, job_from_prediction, predictions_by_period
from iotide.clients.schedulers.predictions import true_forecasts
from iotide.clients.schedulers.study import load_of, run
from iotide.clients.schedulers.text import print_simulation
from iotide.events import InputError
from iotide.results.base import Estimate
from iotide.results.prediction import Drift, NextPhase, OtherPeriod, Prediction, Who, Window
from iotide.results.schedule import PredictionErrors, Simulation
from iotide.results.traces.plot_data import PhaseColumns
from iotide.scheduling.named_policies import POLICY_NAMES, policy_named
from iotide.scheduling.policies import fair_share, fcfs

MIX = """
bandwidth = 1e8
load = 0.5
duration_s = 500

[[class]]
name = "checkpoints"
count = 3
period_s = 50
spread = 0.1

[[job]]
name = "one"
period_s = 20
volume = 4e8
phases = 5
start_s = 3
"""


def estimate(value: float) -> Estimate:
    return Estimate(value=value, low=value, high=value)


def prediction(period: float | None = 10.0, *, drift: float = 0.0, volume: float = 200.0) -> Prediction:
    coming = NextPhase(
        confidence=0.7, start_s=estimate(1004.0), duration_s=estimate(2.0), volume_bytes=estimate(volume)
    )
    return Prediction(
        job="j",
        made_at_s=1000.0,
        mode="both",
        method="tide",
        window=Window(start_s=900.0, end_s=1000.0, samples=100),
        sampling_frequency_hz=1.0,
        period_s=None if period is None else estimate(period),
        confidence=0.9,
        dominant=[],
        next_phase=None if period is None else coming,
        drift=Drift(period_s=estimate(10.0), per_phase=drift) if drift else None,
    )


def two_jobs() -> list[Job]:
    return [
        Job(name, (gap,) * 4, (100.0,) * 4, 100.0, true_forecasts((gap,) * 4, (100.0,) * 4, 100.0))
        for name, gap in (("<a>", 3.0), ("b", 3.0))
    ]


def simulation(jobs: list[Job]) -> Simulation:
    return Simulation(
        sources=["x.iotide"],
        seed=0,
        bandwidth=100.0,
        duration_s=None,
        load=load_of(jobs, 100.0),
        errors=PredictionErrors(late=2, wrong=0.5, missing=0.0),
        notes=["something"],
        policies=[run(*policy_named(name), jobs, 100.0) for name in POLICY_NAMES],
    )


def test_a_mix_is_the_same_in_toml_and_json(tmp_path: Path) -> None:
    import tomllib

    first, second = tmp_path / "mix.toml", tmp_path / "mix.json"
    first.write_text(MIX)
    second.write_text(json.dumps(tomllib.loads(MIX)))
    assert read_mix(first) == read_mix(second)
    made = jobs_of(read_mix(first), load=0.5, bandwidth=1e8, duration_s=500, seed=1)
    assert [job.name for job in made] == ["one", "checkpoints-1", "checkpoints-2", "checkpoints-3"]
    assert made[0].gaps_s == (16.0,) * 5
    assert made[0].start_s == 3
    assert load_of(made[1:], 1e8) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[[class]]\ncount = 3\n", "class.0.period_s: field required"),
        ("[[class]]\ncount = 0\nperiod_s = 1\n", "class.0.count"),
        ("[[class]]\ncount = 1\nperiod_s = nan\n", "class.0.period_s"),
        ("[[clas]]\ncount = 1\n", "clas: extra inputs"),
        ("load = 1\n", "names no jobs"),
        ("load = ", "no TOML"),
        ("\udcff", "no TOML"),
    ],
)
def test_errors_of_a_mix_are_reported(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "mix.toml"
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(InputError, match=told):
        read_mix(path)


def test_a_job_that_needs_longer_than_its_period_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mix.toml"
    path.write_text(MIX)
    with pytest.raises(ValueError, match="longer than its period"):
        jobs_of(read_mix(path), load=0.5, bandwidth=1e6, duration_s=500, seed=1)


def test_phases_of_a_trace_become_a_job_that_takes_as_long_alone() -> None:
    phases = PhaseColumns(np.array([5.0, 15.0, 25.0]), np.array([6.0, 17.0, 26.0]), np.array([10.0, 20.0, 10.0]))
    made = job_from_phases("t", (0.0, 30.0), phases, prediction())
    assert made.gaps_s == (5, 9, 8)
    assert (made.limit, made.tail_s, made.start_s) == (10, 4, 0)
    assert {one.period_s for one in made.forecasts if one is not None} == {10.0}
    (outcome,) = simulate([made], fair_share, 100.0)
    assert outcome.elapsed_s == pytest.approx(30)
    assert job_from_phases("t", (0.0, 30.0), phases, prediction(None)).forecasts == (None,) * 3
    nothing = PhaseColumns(np.zeros(0), np.zeros(0), np.zeros(0))
    with pytest.raises(ValueError, match="no bytes"):
        job_from_phases("t", (0.0, 30.0), nothing, prediction())


def test_a_running_job_goes_on_as_predicted() -> None:
    made = job_from_prediction(prediction(), 50.0)
    assert made.gaps_s == (4, 8, 8, 8, 8, 8)
    assert (made.limit, made.volumes[0]) == (100, 200)
    assert made.forecasts[0] is not None
    assert (made.forecasts[0].confidence, made.forecasts[0].next_confidence) == (0.9, 0.7)
    growing = job_from_prediction(prediction(drift=0.1), 50.0)
    assert growing.gaps_s[:4] == pytest.approx((4, 9, 10, 11))
    for unfit in (prediction(None), prediction(volume=0.0)):
        with pytest.raises(ValueError, match="has"):
            job_from_prediction(unfit, 50.0)


def test_each_period_of_a_running_job_goes_on() -> None:
    whole = prediction()
    assert predictions_by_period(whole) == [whole]
    assert whole.next_phase is not None
    assert whole.period_s is not None
    whose = Who(kind="ranks", members=["4-7"], share=0.5)
    start = Estimate(value=whole.made_at_s + 1, low=0.0, high=2 * whole.made_at_s)
    beside = OtherPeriod(
        relation="beside",
        period_s=Estimate(value=25.0, low=24.0, high=26.0),
        confidence=0.8,
        start_s=0.0,
        end_s=100.0,
        phases=4,
        who=whose,
        next_phase=whole.next_phase.model_copy(update={"start_s": start}),
    )
    around = beside.model_copy(update={"relation": "around", "next_phase": None, "who": None})
    made = predictions_by_period(whole.model_copy(update={"others": [around, beside]}))
    assert [each.job for each in made] == [whole.job, f"{whole.job}, ranks 4-7"]
    one, other = (job_from_prediction(each, 100.0) for each in made)
    assert one == job_from_prediction(whole, 100.0)
    assert other.gaps_s[:2] == (1.0, 23.0)
    assert other.forecasts[0] is not None
    assert other.forecasts[0].period_s == 25.0


def test_results_are_means_over_the_jobs() -> None:
    jobs = two_jobs()
    result = run("fcfs", fcfs, jobs, 100.0)
    slowdowns = [job.io_slowdown for job in result.jobs]
    assert slowdowns == pytest.approx([1.0, 5 / 4])
    assert result.io_slowdown == pytest.approx(9 / 8)
    assert result.yield_lowest == pytest.approx(16 / 17)
    assert result.elapsed_s == pytest.approx(17)


def test_unknown_policies_are_refused() -> None:
    for text in ("set-11", "volume-first:x", "volume-first:-1", "volume-first:nan", "volume-first:inf", ""):
        with pytest.raises(ValueError, match="expected"):
            policy_named(text)


def test_the_text_has_each_policy_and_what_it_would_change() -> None:
    out = io.StringIO()
    print_simulation(simulation(two_jobs()), out)
    text = out.getvalue()
    assert all(f"\n{name} " in text for name in POLICY_NAMES)
    assert "late by 2 phases, wrong by 50 %" in text
    assert "note: something" in text
    assert "set-10 instead of fair share: I/O slowdown " in text


def test_the_picture_holds_all_bytes_and_names_jobs_safely() -> None:
    jobs = two_jobs()
    groups = Groups(jobs)
    shares = Shares(groups, 0.0, 17.0)
    simulate(jobs, fcfs, 100.0, record=shares)
    assert [math.fsum(row) for row in shares.moved] == pytest.approx([400, 400])
    assert max(map(math.fsum, zip(*shares.rates(), strict=True))) <= 100 * (1 + 1e-9)
    root = ET.fromstring(draw({"fcfs": shares, "again": shares}, groups, 100.0, (0.0, 17.0)))
    assert "<a>" in {each.text for each in root.iter() if each.text}
    assert len(shares.rates()[0]) == BINS


def test_a_picture_of_a_part_holds_what_happened_then() -> None:
    jobs = two_jobs()
    shares = Shares(Groups(jobs), 3.0, 4.0)
    simulate(jobs, fcfs, 100.0, 4.0, record=shares)
    assert [math.fsum(row) for row in shares.moved] == pytest.approx([100, 0])


def test_many_jobs_are_drawn_by_class() -> None:
    gaps, volumes = (1.0,), (1.0,)
    jobs = [Job(f"j{i}", gaps, volumes, 1.0, (None,), kind=f"k{i % 2}") for i in range(30)]
    assert Groups(jobs).names == ["k0", "k1"]
    alone = [Job(f"j{i}", gaps, volumes, 1.0, (None,)) for i in range(30)]
    assert Groups(alone).names[-1] == "others"
    assert max(Groups(alone).of_job) == len(Groups(alone).names) - 1
