"""All metric families: names, kinds, help texts and labels. Tests compare ``docs/metrics.md`` with this table."""

from __future__ import annotations

from typing import Final

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

from .contention_metrics import CONTENTION_FAMILIES
from .job_metrics import GROUP_FAMILIES, JOB_FAMILIES
from .journal_metrics import JOURNAL_FAMILIES
from .metric_family import Family

FAMILIES: Final[dict[str, Family]] = {
    "iotide_build_info": Family(GaugeMetricFamily, "Version of iotide; always 1.", ("version",)),
    **JOB_FAMILIES,
    **GROUP_FAMILIES,
    **JOURNAL_FAMILIES,
    **CONTENTION_FAMILIES,
    "iotide_graph_dropped_total": Family(
        CounterMetricFamily,
        "Losses of directly-follows graphs, by reason: events too late for an edge or of activities beyond the "
        "bound, occurrences of rare edges, cases closed by the bound.",
        ("reason",),
    ),
    "iotide_layers_dropped_total": Family(
        CounterMetricFamily,
        "Losses of the layers of jobs, by bound or gap in the trace: calls, processes or handles.",
        ("reason",),
    ),
    "iotide_interactions_dropped_total": Family(
        CounterMetricFamily,
        "Losses of the interaction graphs of jobs, by bound: events of threads (actors), of pairs of thread and "
        "file (uses), and of pairs of threads (links); files, pipes and sockets that join no two threads (files).",
        ("reason",),
    ),
    "iotide_analyzer_dropped_total": Family(
        CounterMetricFamily,
        "Losses of analyzers without a metric of their own, by analyzer and bound.",
        ("analyzer", "reason"),
    ),
    "iotide_names_beyond_total": Family(
        CounterMetricFamily, "Files and calls beyond max_files and max_calls, once per stream, by kind.", ("kind",)
    ),
    "iotide_streams_refused_total": Family(
        CounterMetricFamily, "Streams refused, by bound: max_jobs, max_streams or max_collectors.", ("reason",)
    ),
    "iotide_groups_dropped_total": Family(
        CounterMetricFamily,
        "Losses in the groups of jobs: merges of members for detect.group_members (members), events ahead of all "
        "others (ahead).",
        ("reason",),
    ),
    "iotide_jobs": Family(GaugeMetricFamily, "Jobs in memory, by state.", ("state",)),
    "iotide_jobs_without_series": Family(GaugeMetricFamily, "Jobs without series because of max_job_series."),
    "iotide_predictions_total": Family(CounterMetricFamily, "Predictions made."),
    "iotide_prediction_errors_total": Family(CounterMetricFamily, "Predictions that failed in an analyzer."),
    "iotide_predictions_late_total": Family(CounterMetricFamily, "Predictions more than one interval late."),
    "iotide_predictions_put_off_total": Family(
        CounterMetricFamily,
        "Predictions that exceeded prediction_share, which delays the next one.",
    ),
    "iotide_behind_seconds": Family(
        GaugeMetricFamily, "Delay of the most overdue job; above one second collectors get less credit."
    ),
    "iotide_jobs_removed_early_total": Family(
        CounterMetricFamily, "Ended jobs removed before retain_s, for max_ended_jobs or max_jobs."
    ),
    "iotide_last_words_skipped_total": Family(
        CounterMetricFamily,
        "Jobs of less than a second without a search for a period: beyond short_jobs_share, or while messages waited.",
    ),
    "iotide_signal_dropped_bytes_total": Family(
        CounterMetricFamily,
        "Bytes left out of the signals, by reason: too late for the stored bins, or ahead of all clocks.",
        ("reason",),
    ),
    "iotide_ingest_events_total": Family(CounterMetricFamily, "Events received."),
    "iotide_ingest_batches_total": Family(CounterMetricFamily, "Batches received."),
    "iotide_ingest_bytes_total": Family(CounterMetricFamily, "Bytes of batches received."),
    "iotide_ingest_duplicates_total": Family(CounterMetricFamily, "Batches received again and dropped."),
    "iotide_ingest_malformed_total": Family(CounterMetricFamily, "Messages that violated the protocol."),
    "iotide_ingest_foreign_total": Family(
        CounterMetricFamily, "Messages about streams of other collectors, and a few of each collector that reconnected."
    ),
    "iotide_ingest_rejected_total": Family(CounterMetricFamily, "Messages rejected, by code.", ("code",)),
    "iotide_ingest_streams": Family(GaugeMetricFamily, "Open streams."),
    "iotide_ingest_streams_silent": Family(GaugeMetricFamily, "Open streams with a silent collector."),
    "iotide_collectors": Family(GaugeMetricFamily, "Connected collectors."),
    "iotide_collectors_lost_total": Family(CounterMetricFamily, "Collectors that became silent or ended."),
    "iotide_processes_refused_total": Family(
        CounterMetricFamily, "Programs that collectors of all users of a node refused, by bound.", ("reason",)
    ),
    "iotide_paced_calls_total": Family(CounterMetricFamily, "Calls that waited for their turn."),
    "iotide_paced_wait_seconds_total": Family(CounterMetricFamily, "Total time of these waits."),
    "iotide_paced_phases_overdue_total": Family(CounterMetricFamily, "Phases that reached the longest wait."),
    "iotide_events_dropped_total": Family(CounterMetricFamily, "Events lost and counted, by reason.", ("reason",)),
    "iotide_events_left_out_total": Family(
        CounterMetricFamily, "Calls excluded from recording, by switch.", ("switch",)
    ),
    "iotide_bytes_sampled_out_total": Family(CounterMetricFamily, "Bytes of calls left out by sampling."),
    "iotide_input_malformed_total": Family(
        CounterMetricFamily, "Malformed input skipped by collectors, by kind.", ("kind",)
    ),
    "iotide_access_refused_total": Family(
        CounterMetricFamily,
        "Refused peers and messages, by place: ingest and publish (connections by their key), http (without a "
        "token), http_permission (not permitted), revoked (messages of a key that is no longer listed), "
        "job_of_another (streams that named a job of another user), internal (requests to a path for members of a "
        "cluster).",
        ("where",),
    ),
    "iotide_http_malformed_total": Family(CounterMetricFamily, "Malformed HTTP requests that were refused."),
    "iotide_ingest_peers_refused_total": Family(CounterMetricFamily, "Connections beyond bounds.connections_per_peer."),
    "iotide_http_peer_refused_total": Family(
        CounterMetricFamily, "Connections refused because http_limits.connections_per_peer was reached."
    ),
    "iotide_subscribers_cut_off_total": Family(CounterMetricFamily, "Subscribers cut off at publish_behind."),
    "iotide_published_missed_total": Family(
        CounterMetricFamily, "Messages dropped because publish_behind of them waited for a slow subscriber."
    ),
    "iotide_http_refused_total": Family(
        CounterMetricFamily, "Connections refused because http_limits.connections was reached."
    ),
    "iotide_http_bodies_refused_total": Family(
        CounterMetricFamily, "Requests refused because http_limits.body_bytes was reached."
    ),
    "iotide_http_timeouts_total": Family(CounterMetricFamily, "Connections ended because their client was too slow."),
    "iotide_listener_pauses_total": Family(
        CounterMetricFamily, "Times that no connections were accepted for lack of descriptors."
    ),
    "iotide_archives_total": Family(CounterMetricFamily, "Archives of jobs started."),
    "iotide_archive_bytes_total": Family(CounterMetricFamily, "Bytes written to archives."),
    "iotide_events_misplaced_total": Family(
        CounterMetricFamily,
        "Events placed at their arrival time because their stamps were more than clock_skew_s ahead of the "
        "aggregator's clock.",
    ),
    "iotide_events_unaccounted": Family(
        GaugeMetricFamily,
        "Events of ended streams of the jobs in memory that neither arrived nor were counted as lost.",
    ),
    "iotide_archives_failed_total": Family(CounterMetricFamily, "Archives that could not be created or continued."),
    "iotide_archives_waiting": Family(
        GaugeMetricFamily,
        "Archives that cannot be written now, for example because the disk is full; they are retried.",
    ),
    "iotide_archive_failed_writes_total": Family(CounterMetricFamily, "Attempts to write archives that failed."),
    "iotide_archives_removed_total": Family(CounterMetricFamily, "Archives removed because of their age or the quota."),
    "iotide_archive_early_sections_total": Family(
        CounterMetricFamily, "Streams written early because archive.memory_bytes was reached."
    ),
    "iotide_archive_late_checkpoints_total": Family(
        CounterMetricFamily, "Checkpoints of archives not finished when the next was due."
    ),
    "iotide_archive_dropped_events_total": Family(
        CounterMetricFamily, "Events missing in archives, by reason.", ("reason",)
    ),
    "iotide_listener_errors_total": Family(CounterMetricFamily, "Publishers that raised an exception."),
    "iotide_publisher_errors_total": Family(
        CounterMetricFamily, "Exceptions of publishers, by publisher.", ("publisher",)
    ),
    "iotide_analysis_failures_total": Family(
        CounterMetricFamily, "Failures of an analysis for a job, by analysis.", ("analysis",)
    ),
    "iotide_task_failures_total": Family(
        CounterMetricFamily, "Failures and restarts of a task of the aggregator, by task.", ("task",)
    ),
    "iotide_cpu_seconds_total": Family(CounterMetricFamily, "CPU time of the aggregator, all threads."),
    "iotide_memory_bytes": Family(GaugeMetricFamily, "Memory of the aggregator."),
    "iotide_loop_held_seconds": Family(
        GaugeMetricFamily, "Longest blocking of the aggregator's loop in the last minute or two."
    ),
    "iotide_stage_seconds_total": Family(
        CounterMetricFamily,
        "CPU time of the loop's thread, by stage: ingest (received messages), jobs (states and predictions), "
        "journal (start and end of snapshots) and archives.",
        ("stage",),
    ),
    "iotide_ftio_replies_total": Family(
        CounterMetricFamily,
        "Replies to users of FTIO, by outcome: sent, or dropped because nobody received them.",
        ("outcome",),
    ),
}
