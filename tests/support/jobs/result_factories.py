"""Factories for public results."""

from __future__ import annotations

from collections.abc import Sequence

from iotide.results.base import Estimate
from iotide.results.jobs.job import CallTotal, FileTotal, JobDetail, SignalSeries
from iotide.results.jobs.run import RunSummary
from iotide.results.prediction import NextPhase, Prediction, Window


def around(value: float, spread: float = 0.1) -> Estimate:
    return Estimate(value=value, low=value - spread, high=value + spread)


def make_prediction(
    job: str = "job",
    *,
    period_s: float | None = 10.0,
    made_at_s: float = 100.0,
    confidence: float = 0.9,
) -> Prediction:
    upcoming = None
    if period_s is not None:
        upcoming = NextPhase(start_s=around(made_at_s + period_s / 2), duration_s=around(2.0), volume_bytes=around(8e6))
    return Prediction(
        job=job,
        made_at_s=made_at_s,
        mode="both",
        method="tide",
        window=Window(start_s=made_at_s - 50, end_s=made_at_s, samples=500),
        sampling_frequency_hz=10.0,
        period_s=None if period_s is None else around(period_s),
        confidence=confidence if period_s is not None else 0.0,
        dominant=[],
        next_phase=upcoming,
    )


def make_detail(job: str = "job") -> JobDetail:
    return JobDetail(
        job=job,
        state="ended",
        hosts=["node1"],
        streams=0,
        ranks=1,
        first_event_at_s=50.0,
        last_event_at_s=100.0,
        events=1234,
        bytes_read=10_000,
        bytes_written=80_000_000,
        bandwidth=0.0,
        events_dropped=0,
        predictions=1,
        files=[FileTotal(path="/scratch/out", calls=10, bytes_read=0, bytes_written=80_000_000, seconds=1.5)],
        calls=[CallTotal(call="write", layer="POSIX", calls=10, failed=0, bytes=80_000_000, seconds=1.5)],
    )


def make_signal(values: Sequence[float] = (0.0, 5e6, 0.0, 5e6)) -> SignalSeries:
    return SignalSeries(job="job", start_s=50.0, bin_s=0.1, read=[0.0] * len(values), written=list(values))


def make_summary(command: list[str], prediction: Prediction | None = None) -> RunSummary:
    return RunSummary(
        command=command,
        started_at_s=50.0,
        ended_at_s=101.0,
        exit_status=3,
        job=make_detail(),
        prediction=prediction,
        predictions=1,
        report=None,
    )
