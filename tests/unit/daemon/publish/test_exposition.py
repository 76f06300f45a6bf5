"""Text of metrics equals that of Prometheus' client library, in all formats, and follows the state of jobs."""

from __future__ import annotations

import asyncio
import math

import pytest
from iotide.daemon.aggregator import Aggregator
from iotide.daemon.ingest.ingest_settings import IngestStats
from iotide.daemon.publish import cached_samples
from iotide.daemon.publish.metrics import AggregatorCollector, Gathered, Row
from iotide.daemon.settings import AggregatorSettings
from iotide.events import Interner, StreamInfo
from prometheus_client.exposition import choose_encoder
from support.servers.running_aggregator import periodic_batch

NOW = 1_700_000_000.0
FORMATS = (
    "",
    "text/plain;version=0.0.4",
    "text/plain;version=1.0.0;escaping=allow-utf-8",
    "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8,text/plain;version=0.0.4;q=0.5",
    "application/openmetrics-text;version=0.0.1",
    "application/openmetrics-text;version=1.0.0;escaping=dots",
    "text/plain;version=1.0.0;escaping=values",
)
VALUES = (0, 1, 12_345_678, 2.5, 1e21, 1e-9, -3.0, 1_700_000_000.25, True, math.nan, math.inf, -math.inf)
LABELS = ("job", 'quote " slash \\ brace } comma ,', "line\nbreak", "percent %s %d", "Jürgen", "")


@pytest.mark.parametrize("accept", FORMATS)
def test_text_is_that_of_the_client_library(accept: str) -> None:
    samples: dict[str, list[Row]] = {
        "iotide_memory_bytes": [(2**40, ())],
        "iotide_job_events_total": [(value, (f"{number}",)) for number, value in enumerate(VALUES)],
        "iotide_job_info": [(1, (label, label, "user", "account", "partition", label)) for label in LABELS],
        "iotide_job_uncounted_bytes_total": [(7, (label, "system", "read")) for label in LABELS],
    }
    gathered = Gathered(samples)
    encode, content_type = choose_encoder(accept)
    assert gathered.encode(accept) == (encode(gathered), content_type)


def events_of_activities(collector: AggregatorCollector) -> list[str]:
    lines = asyncio.run(collector.gathered()).encode("")[0].decode().splitlines()
    return [line for line in lines if line.startswith("iotide_job_activity_events_total{")]


def receive_batch(aggregator: Aggregator, stream: str, job: str) -> None:
    interner = Interner()
    aggregator.opened(stream, StreamInfo(job=job, source="test"))
    aggregator.batch(stream, periodic_batch(interner, until_s=NOW), interner.take_fresh())


def test_samples_of_a_job_follow_its_events_and_its_successor() -> None:
    aggregator = Aggregator(AggregatorSettings(), lambda: NOW)
    collector = AggregatorCollector(aggregator, IngestStats, 10, lambda: NOW)

    def activities() -> list[str]:
        return events_of_activities(collector)

    def receive(stream: str) -> None:
        receive_batch(aggregator, stream, "job")

    receive("s0")
    first = activities()
    assert first
    assert first == activities()
    receive("s1")
    doubled = activities()
    assert [float(line.split()[-1]) for line in doubled] == [2 * float(line.split()[-1]) for line in first]
    aggregator.jobs["job"].failures.add("graph", ValueError("broken"), stopped=True)
    assert activities() == []
    aggregator.end_job("job")
    aggregator.jobs.pop("job")
    receive("s2")
    assert activities() == first


def test_scrape_renews_a_bounded_number_of_jobs_and_the_next_ones_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cached_samples, "MAX_RENEWED", 2)
    aggregator = Aggregator(AggregatorSettings(), lambda: NOW)
    collector = AggregatorCollector(aggregator, IngestStats, 10, lambda: NOW)
    for number in range(3):
        receive_batch(aggregator, f"first{number}", f"job{number}")
    assert len(events_of_activities(collector)) == 2
    before = events_of_activities(collector)
    assert len(before) == 3
    for number in range(3):
        receive_batch(aggregator, f"second{number}", f"job{number}")
    assert len(set(events_of_activities(collector)) - set(before)) == 2
    assert not set(events_of_activities(collector)) & set(before)
