"""Metrics of single jobs, and of groups of a job's members with periods of their own."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Final

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

from ...events.losses import BYTES, EVENTS
from ...results.prediction import Prediction
from ..jobs.job_summary import known_losses, not_counted_of
from ..jobs.losses.failures import AnalysisFailedError
from ..jobs.session import SIGNAL, JobSession
from .cached_samples import KeptRows, Sample
from .metric_family import Family

_MAX_LABEL: Final = 128
_LABELS: Final = ("job_id", "kind", "group")

GROUP_FAMILIES: Final[dict[str, Family]] = {
    "iotide_job_group_period_seconds": Family(
        GaugeMetricFamily,
        "Period of a group of the job's members (ranks, commands, files ...).",
        _LABELS,
    ),
    "iotide_job_group_confidence_ratio": Family(GaugeMetricFamily, "Confidence of that period, 0 to 1.", _LABELS),
    "iotide_job_group_next_phase_start_timestamp_seconds": Family(
        GaugeMetricFamily,
        "Predicted start of the group's next phase, Unix time; absent for traces with a clock of their own.",
        _LABELS,
    ),
}
_JOB: Final = ("job_id",)  # "job" is Prometheus' label for its targets
_ACTIVITY: Final = (*_JOB, "activity")
_MAX_REASONS: Final = 50
_MAX_ACTIVITY: Final = 128

JOB_FAMILIES: Final[dict[str, Family]] = {
    "iotide_job_period_seconds": Family(GaugeMetricFamily, "Period of the job's I/O; absent without a period.", _JOB),
    "iotide_job_prediction_confidence_ratio": Family(
        GaugeMetricFamily, "Confidence of the period, 0 to 1; 0 without a period.", _JOB
    ),
    "iotide_job_next_phase_confidence_ratio": Family(
        GaugeMetricFamily,
        "Probability that the next I/O phase starts within a fifth of a period of its predicted start, 0 to 1.",
        _JOB,
    ),
    "iotide_job_next_phase_start_timestamp_seconds": Family(
        GaugeMetricFamily,
        "Predicted start of the next I/O phase, Unix time; absent for traces with a clock of their own.",
        _JOB,
    ),
    "iotide_job_next_phase_duration_seconds": Family(
        GaugeMetricFamily, "Predicted duration of the next I/O phase.", _JOB
    ),
    "iotide_job_next_phase_bytes": Family(GaugeMetricFamily, "Predicted volume of the next I/O phase.", _JOB),
    "iotide_job_info": Family(
        GaugeMetricFamily,
        "Facts of the batch system about the job, in labels; always 1; absent if the batch system provides nothing.",
        (*_JOB, "name", "user", "account", "partition", "nodes"),
    ),
    "iotide_job_end_timestamp_seconds": Family(
        GaugeMetricFamily, "Time limit of the job, Unix time; absent if unknown.", _JOB
    ),
    "iotide_job_end_lost_seconds": Family(
        GaugeMetricFamily,
        "Expected loss of work at the time limit: the work since the last complete checkpoint; absent if no "
        "checkpoints are known.",
        _JOB,
    ),
    "iotide_job_clock_offset_seconds": Family(
        GaugeMetricFamily,
        "Largest offset of the clocks of the job's nodes from the aggregator's clock, positive if ahead; the "
        "job's calls were corrected by it; absent if no clock was off.",
        _JOB,
    ),
    "iotide_job_read_bytes_total": Family(CounterMetricFamily, "Bytes of its data that the job read.", _JOB),
    "iotide_job_written_bytes_total": Family(CounterMetricFamily, "Bytes of its data that the job wrote.", _JOB),
    "iotide_job_uncounted_bytes_total": Family(
        CounterMetricFamily,
        "Bytes that do not count as data, by group (system: shared libraries, imports and files of the machine; "
        "channel: pipes, sockets and devices) and direction.",
        (*_JOB, "group", "direction"),
    ),
    "iotide_job_bandwidth_bytes_per_second": Family(
        GaugeMetricFamily, "Bandwidth of the job on its data, mean over ten seconds.", _JOB
    ),
    "iotide_job_events_total": Family(CounterMetricFamily, "I/O calls received from the job.", _JOB),
    "iotide_job_complete": Family(GaugeMetricFamily, "1 while nothing of the job was lost, else 0.", _JOB),
    "iotide_job_events_dropped_total": Family(
        CounterMetricFamily, "Lost I/O calls of the job, by reason.", (*_JOB, "reason")
    ),
    "iotide_job_bytes_dropped_total": Family(
        CounterMetricFamily, "Bytes that these calls moved, at least.", (*_JOB, "reason")
    ),
    "iotide_job_prediction_completeness_ratio": Family(
        GaugeMetricFamily,
        "Share of calls in the prediction's window that arrived; below 0.99 there is no period.",
        _JOB,
    ),
    "iotide_job_lag_seconds": Family(
        GaugeMetricFamily, "Time from the end of the newest event to its arrival, last batch.", _JOB
    ),
    "iotide_job_activity_events_total": Family(
        CounterMetricFamily, "Events of the job's most frequent activities.", _ACTIVITY
    ),
    "iotide_job_activity_seconds_total": Family(
        CounterMetricFamily, "Time of these events, summed over threads and processes.", _ACTIVITY
    ),
    "iotide_job_activity_bytes_total": Family(CounterMetricFamily, "Bytes that these events moved.", _ACTIVITY),
}


def add_groups(job: str, prediction: Prediction, add: Callable[..., None], *, wall_clock: bool) -> None:
    """Add the samples of a job's groups. One has the main period; the others follow."""
    main = (prediction.who, prediction.period_s, prediction.confidence, prediction.next_phase)
    beside = [(each.who, each.period_s, each.confidence, each.next_phase) for each in prediction.others]
    shown: set[tuple[str, str]] = set()
    for who, period, confidence, phase in (main, *beside):
        if who is None or period is None:
            continue
        name = ", ".join(who.members)
        label = name if len(name) <= _MAX_LABEL else f"{name[: _MAX_LABEL - 3]}..."
        if (who.kind, label) in shown:  # truncated names may be equal
            continue
        shown.add((who.kind, label))
        add("iotide_job_group_period_seconds", period.value, job, who.kind, label)
        add("iotide_job_group_confidence_ratio", confidence, job, who.kind, label)
        if phase is not None and wall_clock:
            start_s = phase.start_s.value
            add("iotide_job_group_next_phase_start_timestamp_seconds", start_s, job, who.kind, label)


def add_job(session: JobSession, now: float, kept: KeptRows, add: Callable[..., None]) -> None:
    """Add the samples of a job as of ``now``, s.

    Args:
        session: state of the job.
        now: time of day, s.
        kept: samples of ``event_samples``.
        add: receives family, value and labels.
    """
    job = session.job
    add("iotide_job_read_bytes_total", session.bytes_read, job)
    add("iotide_job_written_bytes_total", session.bytes_written, job)
    if not session.failures.stopped(SIGNAL):
        add("iotide_job_bandwidth_bytes_per_second", session.bandwidth(now), job)
    add("iotide_job_events_total", session.analyzers.events, job)
    add("iotide_job_lag_seconds", session.lag_s, job)
    _add_job_losses(session, now, add)
    for name, value, labels in kept.of(session):
        add(name, value, *labels)
    if (batch := session.batch) is not None:
        batch_labels = (batch.name, session.user, batch.account, batch.partition, batch.nodes)
        add("iotide_job_info", 1, job, *(text[:_MAX_ACTIVITY] for text in batch_labels))
    if session.clocks_off:
        add("iotide_job_clock_offset_seconds", max(session.clocks_off.values(), key=abs) / 1e9, job)
    if session.ends_at_s:
        add("iotide_job_end_timestamp_seconds", session.ends_at_s, job)
    _add_prediction(session, add)


def _add_prediction(session: JobSession, add: Callable[..., None]) -> None:
    job, prediction = session.job, session.prediction
    add("iotide_job_prediction_completeness_ratio", prediction.completeness if prediction else 1.0, job)
    add("iotide_job_prediction_confidence_ratio", prediction.confidence if prediction else 0.0, job)
    if prediction is None or prediction.period_s is None:
        return
    add_groups(job, prediction, add, wall_clock=not session.own_clock)
    if prediction.time_limit is not None and prediction.time_limit.lost_s is not None:
        add("iotide_job_end_lost_seconds", prediction.time_limit.lost_s.value, job)
    add("iotide_job_period_seconds", prediction.period_s.value, job)
    if phase := prediction.next_phase:
        if not session.own_clock:
            add("iotide_job_next_phase_start_timestamp_seconds", phase.start_s.value, job)
        add("iotide_job_next_phase_confidence_ratio", phase.confidence, job)
        add("iotide_job_next_phase_duration_seconds", phase.duration_s.value, job)
        add("iotide_job_next_phase_bytes", phase.volume_bytes.value, job)


def _add_job_losses(session: JobSession, now: float, add: Callable[..., None]) -> None:
    add("iotide_job_complete", not known_losses(session, now), session.job)
    for name, count in sorted(session.losses.total.items())[:_MAX_REASONS]:
        if name.startswith(EVENTS):
            add("iotide_job_events_dropped_total", count, session.job, name.removeprefix(EVENTS))
        elif name.startswith(BYTES):
            add("iotide_job_bytes_dropped_total", count, session.job, name.removeprefix(BYTES))


def event_samples(session: JobSession) -> list[Sample]:
    """Return the samples that only change with the job's events: uncounted bytes and activities."""
    samples: list[Sample] = []
    with contextlib.suppress(AnalysisFailedError):
        samples += _uncounted(session)
    with contextlib.suppress(AnalysisFailedError):
        samples += _activities(session)
    return samples


def _uncounted(session: JobSession) -> list[Sample]:
    samples: list[Sample] = []
    for name, moved in not_counted_of(session).model_dump().items():
        group, _, direction = name.partition("_")
        if direction in ("read", "written"):  # mapped has lengths, not moved bytes
            samples.append(("iotide_job_uncounted_bytes_total", moved, (session.job, group, direction)))
    return samples


def _activities(session: JobSession) -> list[Sample]:
    if (graph := session.graph) is None:
        return []
    with session.failures.guard_query("graph"):
        top = graph.top(session.settings.max_activity_series)
    shown: dict[str, list[float]] = {}
    for name, row in top:
        label = name if len(name) <= _MAX_ACTIVITY else f"{name[: _MAX_ACTIVITY - 3]}..."
        sums = shown.setdefault(label, [0, 0.0, 0])  # truncated names may be equal
        sums[0] += row.events
        sums[1] += row.seconds
        sums[2] += row.bytes
    samples: list[Sample] = []
    for label, (events, seconds, moved) in shown.items():
        labels = (session.job, label)
        samples.append(("iotide_job_activity_events_total", events, labels))
        samples.append(("iotide_job_activity_seconds_total", seconds, labels))
        samples.append(("iotide_job_activity_bytes_total", moved, labels))
    return samples
