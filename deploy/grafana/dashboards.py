"""Write the Grafana dashboards: queries and texts of all panels.

Usage: python deploy/grafana/dashboards.py [FOLDER]        # default: the folder of this file
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Final

from panels import Dashboard, chart, document, stat, table

_JOB: Final = 'job_id=~"$job"'
_FILE_SYSTEM: Final = 'file_system=~"$file_system"'


FLEET = Dashboard(
    "fleet",
    "iotide: all jobs",
    "Jobs with I/O, the confidence of their periods, and their next phases.",
    (
        stat("Jobs running", "Jobs with I/O now or recently.", "short", 'sum(iotide_jobs{state="running"})'),
        stat(
            "Periodic jobs",
            "Jobs whose period is right to 5 % with a probability above 80 %.",
            "short",
            "count(iotide_job_prediction_confidence_ratio > 0.8) or vector(0)",
        ),
        stat(
            "Bandwidth",
            "Total bandwidth of the jobs with own series, mean over ten seconds.",
            "Bps",
            "sum(iotide_job_bandwidth_bytes_per_second) or vector(0)",
        ),
        stat("Collectors", "Collectors that sent a heartbeat recently.", "short", "iotide_collectors"),
        stat(
            "Alerts",
            "Active contention alerts.",
            "short",
            "sum(iotide_contention_alert_active) or vector(0)",
        ),
        stat(
            "Events lost in 10 min",
            "Events lost and counted; the losses of each job list where.",
            "short",
            "sum(increase(iotide_events_dropped_total[10m])) or vector(0)",
        ),
        table(
            "Jobs",
            "The hundred jobs with the highest bandwidth. Period and next phase are shown for periodic jobs only.",
            "short",
            ("topk(100, iotide_job_bandwidth_bytes_per_second)", "Bandwidth, B/s"),
            ("iotide_job_period_seconds", "Period, s"),
            ("iotide_job_prediction_confidence_ratio", "Confidence"),
            ("iotide_job_next_phase_start_timestamp_seconds - time()", "Next phase in, s"),
            ("iotide_job_next_phase_bytes", "Next phase, B"),
            ("iotide_job_complete", "Complete"),
        ),
        chart(
            "Bandwidth of the ten largest jobs",
            "Mean over ten seconds.",
            "Bps",
            ("topk(10, iotide_job_bandwidth_bytes_per_second)", "{{job_id}}"),
        ),
        chart(
            "Next phases",
            "Seconds until the next I/O phase, for jobs with a confidence above 80 %. Phases overlap where lines meet.",
            "s",
            (
                "(iotide_job_next_phase_start_timestamp_seconds - time()) and on (job_id) "
                "(iotide_job_next_phase_confidence_ratio > 0.8)",
                "{{job_id}}",
            ),
        ),
    ),
)

JOB = Dashboard(
    "job",
    "iotide: job",
    "I/O period, bytes, calls, slowdown by other jobs, and completeness of one job.",
    (
        stat("Period", "Mean distance of the job's I/O phases.", "s", f"iotide_job_period_seconds{{{_JOB}}}"),
        stat(
            "Confidence of the period",
            "Probability that the period is right to 5 %.",
            "percentunit",
            f"iotide_job_prediction_confidence_ratio{{{_JOB}}}",
        ),
        stat(
            "Next phase in",
            "Negative: the phase is late.",
            "s",
            f"iotide_job_next_phase_start_timestamp_seconds{{{_JOB}}} - time()",
        ),
        stat(
            "Confidence of its start",
            "Probability that the phase starts within a fifth of a period of its expected start.",
            "percentunit",
            f"iotide_job_next_phase_confidence_ratio{{{_JOB}}}",
        ),
        stat("Next phase moves", "Expected bytes.", "bytes", f"iotide_job_next_phase_bytes{{{_JOB}}}"),
        stat(
            "Killed in",
            "Time to the job's time limit; absent if the limit is unknown.",
            "s",
            f"iotide_job_end_timestamp_seconds{{{_JOB}}} - time()",
        ),
        chart(
            "Bytes moved",
            "Bytes of the job's data. Pipes and files of the operating system are not counted.",
            "Bps",
            (f"rate(iotide_job_read_bytes_total{{{_JOB}}}[$__rate_interval])", "read"),
            (f"rate(iotide_job_written_bytes_total{{{_JOB}}}[$__rate_interval])", "written"),
        ),
        chart(
            "Period and confidence",
            "A new value is a newly detected period.",
            "s",
            (f"iotide_job_period_seconds{{{_JOB}}}", "period"),
            (f"iotide_job_group_period_seconds{{{_JOB}}}", "{{kind}} {{group}}"),
        ),
        chart(
            "Time in calls",
            "Seconds per second, summed over threads and processes, by activity of the directly-follows graph.",
            "s",
            (f"rate(iotide_job_activity_seconds_total{{{_JOB}}}[$__rate_interval])", "{{activity}}"),
        ),
        chart(
            "Calls",
            "Calls per second by activity.",
            "ops",
            (f"rate(iotide_job_activity_events_total{{{_JOB}}}[$__rate_interval])", "{{activity}}"),
        ),
        chart(
            "Slowed down by others",
            "Factor by which calls take longer in phases that overlap other jobs.",
            "none",
            (f"iotide_job_slowdown_ratio{{{_JOB}}}", "{{file_system}} {{measure}}"),
        ),
        chart(
            "Completeness",
            "Share of calls in the prediction window that were not lost, and lost calls by reason.",
            "none",
            (f"iotide_job_prediction_completeness_ratio{{{_JOB}}}", "complete"),
            (f"rate(iotide_job_events_dropped_total{{{_JOB}}}[$__rate_interval])", "lost: {{reason}}"),
        ),
    ),
    (("job", "Job", "iotide_job_events_total"),),
)

CONTENTION = Dashboard(
    "contention",
    "iotide: contention",
    "Load of file systems, predicted collisions of jobs, and slowed-down jobs.",
    (
        chart(
            "Bandwidth and capacity",
            "Bandwidth of all jobs, mean over a minute, and the capacity by its source.",
            "Bps",
            (f"iotide_filesystem_bandwidth_bytes_per_second{{{_FILE_SYSTEM}}}", "{{file_system}}"),
            (f"iotide_filesystem_capacity_bytes_per_second{{{_FILE_SYSTEM}}}", "{{file_system}} capacity ({{known}})"),
        ),
        chart(
            "Busy",
            "Share of a minute with I/O of any job.",
            "percentunit",
            (f"iotide_filesystem_busy_ratio{{{_FILE_SYSTEM}}}", "{{file_system}}"),
        ),
        table(
            "Predicted collisions",
            "The next collision of each file system.",
            "short",
            (f"iotide_filesystem_collision_start_timestamp_seconds{{{_FILE_SYSTEM}}} - time()", "In, s"),
            (f"iotide_filesystem_collision_probability_ratio{{{_FILE_SYSTEM}}}", "Probability"),
            (f"iotide_filesystem_collision_jobs{{{_FILE_SYSTEM}}}", "Jobs"),
            (f"iotide_filesystem_collision_delay_seconds{{{_FILE_SYSTEM}}}", "Longest delay, s"),
        ),
        chart(
            "Jobs slowed down",
            "Factor by which calls take longer in phases that overlap other jobs. Only jobs with significant slowdown.",
            "none",
            (f"iotide_job_slowdown_ratio{{{_FILE_SYSTEM}}}", "{{job_id}} {{file_system}} {{measure}}"),
        ),
        chart(
            "Alerts",
            "Active alerts by kind, and jobs with too little data for a judgement.",
            "short",
            (
                f"sum by (kind, file_system) (iotide_contention_alert_active{{{_FILE_SYSTEM}}})",
                "{{kind}} {{file_system}}",
            ),
            ("iotide_contention_jobs_abstained", "jobs not judged"),
        ),
    ),
    (("file_system", "File system", "iotide_filesystem_busy_ratio"),),
)

ITSELF = Dashboard(
    "iotide",
    "iotide: the aggregator itself",
    "Load, losses and deliveries of the aggregator.",
    (
        stat("Events per second", "Received events.", "ops", "sum(rate(iotide_ingest_events_total[1m]))"),
        stat("Streams", "Open streams, one per traced process.", "short", "sum(iotide_ingest_streams)"),
        stat("Behind", "Delay of the most overdue prediction.", "s", "max(iotide_behind_seconds)"),
        stat(
            "Waiting archives", "Archives that cannot be written to disk now.", "short", "sum(iotide_archives_waiting)"
        ),
        stat(
            "Unaccounted events",
            "Events that neither arrived nor were reported as lost. The losses of each job list the stream.",
            "short",
            "sum(iotide_events_unaccounted)",
        ),
        stat("Jobs without series", "Jobs beyond max_job_series.", "short", "sum(iotide_jobs_without_series)"),
        chart(
            "Ingest",
            "Events and batches per second.",
            "ops",
            ("sum(rate(iotide_ingest_events_total[$__rate_interval]))", "events"),
            ("sum(rate(iotide_ingest_batches_total[$__rate_interval]))", "batches"),
        ),
        chart(
            "Losses by reason",
            "Calls per second that were lost before the aggregator or are in no archive.",
            "ops",
            ("sum by (reason) (rate(iotide_events_dropped_total[$__rate_interval]))", "{{reason}}"),
            ("sum by (reason) (rate(iotide_archive_dropped_events_total[$__rate_interval]))", "archive: {{reason}}"),
        ),
        chart(
            "Predictions",
            "Predictions per second: made, late, and postponed because they exceeded their share of CPU time.",
            "ops",
            ("sum(rate(iotide_predictions_total[$__rate_interval]))", "made"),
            ("sum(rate(iotide_predictions_late_total[$__rate_interval]))", "late"),
            ("sum(rate(iotide_predictions_put_off_total[$__rate_interval]))", "postponed"),
        ),
        chart(
            "Journal",
            "Size of the journal files. Each snapshot truncates the journal.",
            "bytes",
            ("sum(iotide_journal_bytes)", "journal"),
            ("sum(rate(iotide_archive_bytes_total[$__rate_interval]))", "archives, a second"),
        ),
        chart(
            "Snapshots",
            "How long the last one took, and for how long it held the aggregator up.",
            "s",
            ("max(iotide_snapshot_seconds)", "took"),
            ("max(iotide_snapshot_pause_seconds)", "held up"),
        ),
        chart(
            "Failures",
            "Analyses, tasks, publishers, archives and peers that failed or were refused, a second.",
            "ops",
            ("sum by (analysis) (rate(iotide_analysis_failures_total[$__rate_interval]))", "analysis {{analysis}}"),
            ("sum by (task) (rate(iotide_task_failures_total[$__rate_interval]))", "task {{task}}"),
            ("sum by (publisher) (rate(iotide_publisher_errors_total[$__rate_interval]))", "publisher {{publisher}}"),
            ("sum(rate(iotide_archive_failed_writes_total[$__rate_interval]))", "archive writes"),
            ("sum by (where) (rate(iotide_access_refused_total[$__rate_interval]))", "refused: {{where}}"),
        ),
    ),
)

DASHBOARDS: Final = (FLEET, JOB, CONTENTION, ITSELF)


def main(folder: Path) -> None:
    """Write one file per dashboard."""
    for dashboard in DASHBOARDS:
        text = json.dumps(document(dashboard), indent=2, ensure_ascii=False)
        (folder / f"{dashboard.name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
