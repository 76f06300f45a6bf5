"""Metrics equal the values of sessions, for any job id and any number, parsed by Prometheus' own client."""

from __future__ import annotations

import asyncio
import math
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from iotide.daemon.aggregator import Aggregator
from iotide.daemon.ingest.ingest_settings import IngestStats
from iotide.daemon.jobs.job_ids import clean_job
from iotide.daemon.publish import metrics
from iotide.daemon.publish.all_families import FAMILIES
from iotide.daemon.publish.metrics import AggregatorCollector
from iotide.daemon.settings import AggregatorSettings
from iotide.events import Interner, StreamInfo
from iotide.results.base import Estimate
from iotide.results.prediction import Prediction, Window
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families
from support.servers.prometheus import registry_of
from support.servers.running_aggregator import periodic_batch

NOW = 1_700_000_000.0
Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def aggregator_with(*jobs: str, max_jobs: int = 100) -> Aggregator:
    aggregator = Aggregator(AggregatorSettings(max_jobs=max_jobs), lambda: NOW)
    for number, job in enumerate(jobs):
        interner = Interner()
        aggregator.opened(f"s{number}", StreamInfo(job=job, source="test"))
        aggregator.batch(f"s{number}", periodic_batch(interner, until_s=NOW), interner.take_fresh())
    return aggregator


def scrape(aggregator: Aggregator, max_job_series: int = 100, stats: IngestStats | None = None) -> Samples:
    taken = stats or IngestStats()
    registry = registry_of(AggregatorCollector(aggregator, lambda: taken, max_job_series, lambda: NOW))
    samples: Samples = {}
    for family in text_string_to_metric_families(generate_latest(registry).decode()):
        for sample in family.samples:
            key = (sample.name, tuple(sorted(sample.labels.items())))
            assert key not in samples, f"{key} stands twice"
            samples[key] = sample.value
    return samples


async def test_scrape_of_many_jobs_gives_others_their_turn_and_has_series_of_as_many_as_it_asks_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for bound in ("_SLICE_S", "_MAX_SLICE_S"):
        monkeypatch.setattr(metrics, bound, -1.0)  # each step takes longer than this
    aggregator = aggregator_with(*(f"job{number}" for number in range(20)))
    collector = AggregatorCollector(aggregator, IngestStats, 10, lambda: NOW)
    turns = 0

    async def turning() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    other = asyncio.create_task(turning())
    gathered = generate_latest(await collector.gathered()).decode()
    other.cancel()
    assert turns >= 10
    own = r"(?m)^iotide_(cpu_seconds_total|memory_bytes) .*$"  # these continue meanwhile
    assert re.sub(own, "", gathered) == re.sub(own, "", generate_latest(collector).decode())
    for asked, expected in ((None, 10), (3, 3), (0, 0), (50, 10)):
        text = generate_latest(await collector.gathered(asked)).decode()
        assert text.count("\niotide_job_events_total{") == expected
        assert f"iotide_jobs_without_series {20 - expected}.0" in text


def prediction_of_period(period_s: float) -> Prediction:
    estimate = Estimate(value=period_s, low=period_s, high=period_s)
    window = Window(start_s=0, end_s=1, samples=10)
    return Prediction(
        job="job",
        made_at_s=NOW,
        mode="both",
        method="test",
        window=window,
        sampling_frequency_hz=10,
        period_s=estimate,
        confidence=0.5,
        dominant=[],
    )


@pytest.mark.slow
@settings(deadline=None, max_examples=50)
@given(job=st.text(max_size=30))
@example(job=" spaced ")
@example(job='quote " slash \\ brace } comma ,')
def test_any_job_id_comes_back_as_it_was_cleaned(job: str) -> None:
    samples = scrape(aggregator_with(job))
    assert samples["iotide_job_events_total", (("job_id", clean_job(job)),)] == 120


@pytest.mark.parametrize("period_s", [math.nan, math.inf])
def test_period_that_is_no_number_does_not_break_the_scrape(period_s: float) -> None:
    aggregator = aggregator_with("job")
    aggregator.jobs["job"].history.append(prediction_of_period(period_s))
    value = scrape(aggregator)["iotide_job_period_seconds", (("job_id", "job"),)]
    assert value == period_s or (math.isnan(value) and math.isnan(period_s))


def test_job_without_a_prediction_has_no_period_and_no_confidence() -> None:
    samples = scrape(aggregator_with("job"))
    assert ("iotide_job_period_seconds", (("job_id", "job"),)) not in samples
    assert samples["iotide_job_prediction_confidence_ratio", (("job_id", "job"),)] == 0


def test_latest_active_jobs_keep_their_series() -> None:
    aggregator = aggregator_with("old", "new")
    aggregator.jobs["old"].heard_at_s -= 10
    samples = scrape(aggregator, max_job_series=1)
    assert {dict(labels)["job_id"] for name, labels in samples if name == "iotide_job_events_total"} == {"new"}
    assert samples["iotide_jobs_without_series", ()] == 1


def test_states_add_up_to_the_jobs_held() -> None:
    aggregator = aggregator_with("a", "b", "c")
    aggregator.end_job("a")
    samples = scrape(aggregator)
    assert samples["iotide_jobs", (("state", "ended"),)] == 1
    assert samples["iotide_jobs", (("state", "running"),)] == 2


def test_events_of_refused_jobs_show_as_dropped() -> None:
    samples = scrape(aggregator_with("a", "b", max_jobs=1))
    assert samples["iotide_events_dropped_total", (("reason", "no_job"),)] == 120


def test_programs_that_collectors_refused_show_by_bound() -> None:
    aggregator = aggregator_with()
    aggregator.heartbeat("c", "node", {"processes_refused:max_users": 3, "processes_refused:waiting": 2})
    samples = scrape(aggregator)
    assert samples["iotide_processes_refused_total", (("reason", "max_users"),)] == 3
    assert samples["iotide_processes_refused_total", (("reason", "waiting"),)] == 2


def test_calls_left_out_on_purpose_are_no_drops() -> None:
    aggregator = aggregator_with()
    aggregator.heartbeat("c", "node", {"events_left_out": 3, "events_sampled_out": 5, "bytes_sampled_out": 7})
    samples = scrape(aggregator)
    assert samples["iotide_events_left_out_total", (("switch", "path"),)] == 3
    assert samples["iotide_events_left_out_total", (("switch", "sample"),)] == 5
    assert samples["iotide_bytes_sampled_out_total", ()] == 7
    assert not [name for name in samples if name[0] == "iotide_events_dropped_total" and samples[name]]


def test_ingest_is_shown_as_it_counts() -> None:
    stats = IngestStats(batches=2, events=3, bytes=5, duplicates=7, malformed=11, streams=13, collectors=17)
    stats.rejected["gap"] = 19
    samples = scrape(aggregator_with(), stats=stats)
    names = ("batches_total", "events_total", "bytes_total", "duplicates_total", "malformed_total", "streams")
    assert [samples[f"iotide_ingest_{name}", ()] for name in names] == [2, 3, 5, 7, 11, 13]
    assert samples["iotide_collectors", ()] == 17
    assert samples["iotide_ingest_rejected_total", (("code", "gap"),)] == 19


def test_counters_and_no_gauges_end_in_total() -> None:
    for name, family in FAMILIES.items():
        assert name.endswith("_total") is (family.kind.__name__ == "CounterMetricFamily"), name


@pytest.mark.parametrize(("offset_ns", "told"), [(0, True), (None, False)])
def test_next_phase_is_a_time_of_day_or_not_told(offset_ns: int | None, told: bool) -> None:
    aggregator, interner = Aggregator(AggregatorSettings(), lambda: NOW), Interner()
    aggregator.opened("s", StreamInfo(job="job", source="test", clock_offset_ns=offset_ns))
    aggregator.batch("s", periodic_batch(interner, until_s=NOW), interner.take_fresh())
    aggregator.tick()
    samples, job = scrape(aggregator), (("job_id", "job"),)
    assert ("iotide_job_period_seconds", job) in samples
    assert (("iotide_job_next_phase_start_timestamp_seconds", job) in samples) == told
