"""Metrics of contention between jobs, from the latest detection."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

from ...results.contention import Collision, Contention
from ..contention import ALERTS, ANALYSES, FAILURES, LEFT_OUT, ContentionWatch
from ..notify.outbox import DROPPED
from .metric_family import Family

if TYPE_CHECKING:
    from ..notify.notifier import Notifier

_MAX_SERIES: Final = 100  # file systems, and slowed jobs, with series of their own
_FILE_SYSTEM_LABEL: Final = ("file_system",)
CONTENTION_FAMILIES: Final[dict[str, Family]] = {
    "iotide_filesystem_capacity_bytes_per_second": Family(
        GaugeMetricFamily,
        "Capacity of a file system; known is configured, learnt, or at_least.",
        (*_FILE_SYSTEM_LABEL, "known"),
    ),
    "iotide_filesystem_bandwidth_bytes_per_second": Family(
        GaugeMetricFamily,
        "Bandwidth of jobs on a file system, mean over the minute before the last evaluation.",
        _FILE_SYSTEM_LABEL,
    ),
    "iotide_filesystem_busy_ratio": Family(
        GaugeMetricFamily, "Share of that minute with I/O of a job on it, 0 to 1.", _FILE_SYSTEM_LABEL
    ),
    "iotide_filesystem_collision_start_timestamp_seconds": Family(
        GaugeMetricFamily, "Predicted start of the next collision on a file system, Unix time.", _FILE_SYSTEM_LABEL
    ),
    "iotide_filesystem_collision_probability_ratio": Family(
        GaugeMetricFamily, "Probability of this collision, 0 to 1.", _FILE_SYSTEM_LABEL
    ),
    "iotide_filesystem_collision_jobs": Family(GaugeMetricFamily, "Jobs in this collision.", _FILE_SYSTEM_LABEL),
    "iotide_filesystem_collision_delay_seconds": Family(
        GaugeMetricFamily, "Longest delay of a job in it; absent without a known capacity.", _FILE_SYSTEM_LABEL
    ),
    "iotide_job_slowdown_ratio": Family(
        GaugeMetricFamily,
        "Slowdown of a job's calls in phases that other jobs overlap, only for jobs that are surely slowed down.",
        ("job_id", "file_system", "measure"),
    ),
    "iotide_contention_alert_active": Family(
        GaugeMetricFamily,
        "1 while an alert is active, by kind (slowdown: other jobs slow job_id down; collision: jobs are about to "
        "collide, job_id is empty).",
        ("kind", "file_system", "job_id"),
    ),
    "iotide_contention_alerts_total": Family(
        CounterMetricFamily, "Alerts on contention, by kind and state (raised, resolved).", ("kind", "state")
    ),
    "iotide_contention_jobs_abstained": Family(
        GaugeMetricFamily, "Jobs without a claim, because too little is known of them."
    ),
    "iotide_contention_jobs_left_out": Family(GaugeMetricFamily, "Jobs beyond contention.max_jobs."),
    "iotide_contention_analyzer": Family(
        GaugeMetricFamily, "1: this aggregator analyzes contention; of a cluster, one partition does."
    ),
    "iotide_contention_results_left_out_total": Family(
        CounterMetricFamily, "Results of jobs beyond cluster.results_bytes, counted at each interval."
    ),
    "iotide_contention_looks_total": Family(CounterMetricFamily, "Evaluations of contention between jobs."),
    "iotide_contention_failures_total": Family(CounterMetricFamily, "Evaluations that failed."),
    "iotide_contention_seconds_total": Family(CounterMetricFamily, "CPU time of these evaluations."),
    "iotide_notifications_total": Family(
        CounterMetricFamily,
        "Messages with alerts to a receiver over HTTP, by outcome: sent, refused, or failed (retried).",
        ("receiver", "outcome"),
    ),
    "iotide_notifications_waiting": Family(GaugeMetricFamily, "Alerts waiting for a receiver.", ("receiver",)),
    "iotide_notifications_dropped_total": Family(
        CounterMetricFamily, "Alerts dropped because notify.max_waiting was reached."
    ),
}


def add_contention(watch: ContentionWatch | None, counters: Counter[str], add: Callable[..., None]) -> None:
    """Add the samples of the latest detection, if there was one."""
    if watch is None:
        return
    add("iotide_contention_analyzer", float(watch.is_analyzing))
    add("iotide_contention_results_left_out_total", counters[LEFT_OUT])
    add("iotide_contention_looks_total", counters[ANALYSES])
    add("iotide_contention_failures_total", counters[FAILURES])
    add("iotide_contention_seconds_total", watch.seconds)
    for kind in ("slowdown", "collision"):
        for state in ("raised", "resolved"):
            add("iotide_contention_alerts_total", counters[f"{ALERTS}{state}:{kind}"], kind, state)
    if not watch.is_analyzing:  # another partition exposes the rest, so that sums count each alert once
        return
    if watch.notifier is not None:
        add("iotide_notifications_dropped_total", counters[DROPPED])
        _add_receivers(watch.notifier, add)
    for kind, place, job in sorted({(alert.kind, alert.file_system, alert.job) for alert in watch.raised})[
        :_MAX_SERIES
    ]:
        add("iotide_contention_alert_active", 1, kind, place, job)
    if watch.latest is not None:
        _add_findings(watch.latest, add)


def _add_receivers(notifier: Notifier, add: Callable[..., None]) -> None:
    for receiver in notifier.receivers:
        add("iotide_notifications_waiting", len(receiver.outbox), receiver.name)
        for outcome in ("sent", "refused", "failed"):
            add("iotide_notifications_total", receiver.outcomes[outcome], receiver.name, outcome)


def _add_findings(found: Contention, add: Callable[..., None]) -> None:
    add("iotide_contention_jobs_abstained", len({each.job for each in found.abstained if each.what == "both"}))
    add("iotide_contention_jobs_left_out", found.jobs_left_out)
    following: dict[str, Collision] = {}
    for one in found.collisions:
        following.setdefault(one.file_system, one)
    for state in sorted(found.file_systems, key=lambda each: -each.bandwidth)[:_MAX_SERIES]:
        name, capacity = state.file_system, state.capacity
        if capacity.bytes_per_s is not None:
            add("iotide_filesystem_capacity_bytes_per_second", capacity.bytes_per_s.value, name, capacity.known)
        add("iotide_filesystem_bandwidth_bytes_per_second", state.bandwidth, name)
        add("iotide_filesystem_busy_ratio", state.busy, name)
        if (collision := following.get(name)) is not None:
            _add_collision(collision, add)
    slowed = [each for each in found.slowdowns if each.verdict == "slowed" and each.slowdown is not None]
    for each in slowed[:_MAX_SERIES]:
        if each.slowdown is not None:
            add("iotide_job_slowdown_ratio", each.slowdown.value, each.job, each.file_system, each.measure)


def _add_collision(collision: Collision, add: Callable[..., None]) -> None:
    name = collision.file_system
    add("iotide_filesystem_collision_start_timestamp_seconds", collision.start_s.value, name)
    add("iotide_filesystem_collision_probability_ratio", collision.probability, name)
    add("iotide_filesystem_collision_jobs", len(collision.jobs), name)
    delays = [each.delay_s.value for each in collision.jobs if each.delay_s is not None]
    if delays:
        add("iotide_filesystem_collision_delay_seconds", max(delays), name)
