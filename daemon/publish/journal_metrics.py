"""Metrics of the journal and of the snapshots of jobs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

from .metric_family import Family

JOURNAL_FAMILIES: Final[dict[str, Family]] = {
    "iotide_journal_bytes": Family(GaugeMetricFamily, "Size of the files of the journal."),
    "iotide_journal_records_total": Family(
        CounterMetricFamily, "Records written to the journal: messages and time steps."
    ),
    "iotide_journal_syncs_total": Family(
        CounterMetricFamily, "Syncs of the journal to disk since it was last started."
    ),
    "iotide_journal_sync_seconds_total": Family(CounterMetricFamily, "Time of these syncs."),
    "iotide_journal_waiting_bytes": Family(GaugeMetricFamily, "Bytes waiting to be written to the journal."),
    "iotide_journal_unwritten_total": Family(
        CounterMetricFamily,
        "Messages received but not journalled, by reason (quota, disk); acknowledged once a snapshot has them.",
        ("reason",),
    ),
    "iotide_journal_failures_total": Family(CounterMetricFamily, "Failed writes of the journal."),
    "iotide_journal_failing": Family(
        GaugeMetricFamily, "1 while the journal cannot be written, or NATS servers store nothing: no acknowledgements."
    ),
    "iotide_journal_deferred_answers": Family(
        GaugeMetricFamily, "Messages whose acknowledgement waits for a snapshot because the journal failed."
    ),
    "iotide_journal_recovered_records": Family(GaugeMetricFamily, "Records of the journal replayed at start."),
    "iotide_journal_recovery_seconds": Family(GaugeMetricFamily, "Duration of this replay."),
    "iotide_journal_damaged_records_total": Family(
        CounterMetricFamily, "Records of the journal that could not be read."
    ),
    "iotide_job_states_lost_total": Family(
        CounterMetricFamily, "Jobs that started anew because their state could not be read."
    ),
    "iotide_snapshots_total": Family(CounterMetricFamily, "Snapshots of all jobs, after which the journal is shorter."),
    "iotide_snapshot_failures_total": Family(CounterMetricFamily, "Snapshots that could not be made or written."),
    "iotide_snapshots_failing": Family(GaugeMetricFamily, "1 if the last snapshot failed."),
    "iotide_alerts_unwritten": Family(GaugeMetricFamily, "1 if the last write of the alerts file failed."),
    "iotide_snapshot_seconds": Family(GaugeMetricFamily, "Duration of the last snapshot, beside the aggregator."),
    "iotide_snapshot_pause_seconds": Family(GaugeMetricFamily, "Pause of the aggregator for the last snapshot."),
}


def add_journal(counters: Mapping[str, int], add: Callable[..., None]) -> None:
    """Add the samples from an aggregator's counters."""
    add("iotide_journal_bytes", counters["journal_bytes"])
    add("iotide_journal_recovered_records", counters["journal_recovered"])
    add("iotide_journal_recovery_seconds", counters["journal_recovery_us"] / 1e6)
    add("iotide_journal_damaged_records_total", counters["journal_damaged"])
    add("iotide_journal_records_total", counters["journal_records"])
    add("iotide_journal_syncs_total", counters["journal_syncs"])
    add("iotide_journal_sync_seconds_total", counters["journal_sync_us"] / 1e6)
    add("iotide_journal_waiting_bytes", counters["journal_waiting_bytes"])
    add("iotide_journal_failures_total", counters["journal_failures"])
    add("iotide_journal_failing", counters["journal_failing"])
    add("iotide_journal_deferred_answers", counters["answers_deferred"])
    for reason in ("disk", "quota"):
        add("iotide_journal_unwritten_total", counters[f"journal_unwritten:{reason}"], reason)
    add("iotide_job_states_lost_total", counters["job_states_lost"])
    add("iotide_snapshots_total", counters["snapshots"])
    add("iotide_snapshot_failures_total", counters["snapshots_failed"])
    add("iotide_snapshots_failing", counters["snapshots_failing"])
    add("iotide_alerts_unwritten", counters["alerts_unwritten"])
    add("iotide_snapshot_seconds", counters["snapshot_ms"] / 1e3)
    add("iotide_snapshot_pause_seconds", counters["snapshot_pause_us"] / 1e6)
