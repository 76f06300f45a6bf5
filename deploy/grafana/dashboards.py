"""Writes the Grafana dashboards: what their panels ask for and show stands here, once and readable.

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
    "Which jobs do I/O, how sure their period is, and when their next phases come.",
    (
        stat("Jobs running", "Jobs that do I/O now or did so lately.", "short", 'sum(iotide_jobs{state="running"})'),
        stat(
            "Periodic jobs",
            "Jobs whose period is right to 5 % with a probability above 80 %.",
            "short",
            "count(iotide_job_prediction_confidence_ratio > 0.8) or vector(0)",
        ),
        stat(
            "Bandwidth",
            "What all jobs with series of their own move, mean over ten seconds.",
            "Bps",
            "sum(iotide_job_bandwidth_bytes_per_second) or vector(0)",
        ),
        stat("Collectors", "Collectors heard of lately.", "short", "iotide_collectors"),
        stat(
            "Alerts",
            "Alerts on contention that are raised.",
            "short",
            "sum(iotide_contention_alert_active) or vector(0)",
        ),
        stat(
            "Events lost in 10 min",
            "What was lost on the way and counted; the ledger of a job says where.",
            "short",
            "sum(increase(iotide_events_dropped_total[10m])) or vector(0)",
        ),
        table(
            "Jobs",
            "The hundred with the highest bandwidth. A period and a next phase are shown of periodic jobs.",
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
            "Seconds until the next I/O phase of jobs that are sure of it to 80 %; where lines meet, phases do.",
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
    "iotide: a job",
    "The period of a job's I/O, what it moves and calls, who slows it down, and how complete the picture is.",
    (
        stat("Period", "Mean distance of its I/O phases.", "s", f"iotide_job_period_seconds{{{_JOB}}}"),
        stat(
            "Confidence in the period",
            "Probability that the period is right to 5 %.",
            "percentunit",
            f"iotide_job_prediction_confidence_ratio{{{_JOB}}}",
        ),
        stat(
            "Next phase in",
            "Negative: it is late.",
            "s",
            f"iotide_job_next_phase_start_timestamp_seconds{{{_JOB}}} - time()",
        ),
        stat(
            "Confidence in its start",
            "Probability that it starts within a fifth of a period of when it is expected.",
            "percentunit",
            f"iotide_job_next_phase_confidence_ratio{{{_JOB}}}",
        ),
        stat("Next phase moves", "As expected.", "bytes", f"iotide_job_next_phase_bytes{{{_JOB}}}"),
        stat(
            "Killed in",
            "Time to the job's limit; absent where nobody has told it.",
            "s",
            f"iotide_job_end_timestamp_seconds{{{_JOB}}} - time()",
        ),
        chart(
            "Bytes moved",
            "Of the job's data; what comes with the machine and pipes are not counted.",
            "Bps",
            (f"rate(iotide_job_read_bytes_total{{{_JOB}}}[$__rate_interval])", "read"),
            (f"rate(iotide_job_written_bytes_total{{{_JOB}}}[$__rate_interval])", "written"),
        ),
        chart(
            "Period and confidence",
            "A new value is a new period.",
            "s",
            (f"iotide_job_period_seconds{{{_JOB}}}", "period"),
            (f"iotide_job_group_period_seconds{{{_JOB}}}", "{{kind}} {{group}}"),
        ),
        chart(
            "Time in calls",
            "Seconds a second, summed over threads and processes, by activity of the directly-follows graph.",
            "s",
            (f"rate(iotide_job_activity_seconds_total{{{_JOB}}}[$__rate_interval])", "{{activity}}"),
        ),
        chart(
            "Calls",
            "Calls a second by activity.",
            "ops",
            (f"rate(iotide_job_activity_events_total{{{_JOB}}}[$__rate_interval])", "{{activity}}"),
        ),
        chart(
            "Slowed down by others",
            "How much longer its calls take in phases that other jobs overlap.",
            "none",
            (f"iotide_job_slowdown_ratio{{{_JOB}}}", "{{file_system}} {{measure}}"),
        ),
        chart(
            "Completeness",
            "Share of the calls of the prediction's window that was not lost, and calls lost, by reason.",
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
    "What file systems bear, which collisions of jobs are to come, and who suffers.",
    (
        chart(
            "Bandwidth and capacity",
            "What jobs move, mean over a minute, and what the file system can move, by how that is known.",
            "Bps",
            (f"iotide_filesystem_bandwidth_bytes_per_second{{{_FILE_SYSTEM}}}", "{{file_system}}"),
            (f"iotide_filesystem_capacity_bytes_per_second{{{_FILE_SYSTEM}}}", "{{file_system}} can ({{known}})"),
        ),
        chart(
            "Busy",
            "Share of a minute in which a job did I/O on it.",
            "percentunit",
            (f"iotide_filesystem_busy_ratio{{{_FILE_SYSTEM}}}", "{{file_system}}"),
        ),
        table(
            "Collisions to come",
            "The next one of each file system.",
            "short",
            (f"iotide_filesystem_collision_start_timestamp_seconds{{{_FILE_SYSTEM}}} - time()", "In, s"),
            (f"iotide_filesystem_collision_probability_ratio{{{_FILE_SYSTEM}}}", "Probability"),
            (f"iotide_filesystem_collision_jobs{{{_FILE_SYSTEM}}}", "Jobs"),
            (f"iotide_filesystem_collision_delay_seconds{{{_FILE_SYSTEM}}}", "Longest delay, s"),
        ),
        chart(
            "Jobs slowed down",
            "How much longer their calls take in phases that other jobs overlap; of jobs slowed down for sure.",
            "none",
            (f"iotide_job_slowdown_ratio{{{_FILE_SYSTEM}}}", "{{job_id}} {{file_system}} {{measure}}"),
        ),
        chart(
            "Alerts",
            "Raised and not resolved, by kind; and jobs of which too little arrived to claim something.",
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
    "Whether the aggregator keeps up, keeps everything, and reaches everybody.",
    (
        stat("Events a second", "Taken in.", "ops", "sum(rate(iotide_ingest_events_total[1m]))"),
        stat("Streams", "Open: one a traced process.", "short", "sum(iotide_ingest_streams)"),
        stat("Behind", "By how much the most overdue job is late.", "s", "max(iotide_behind_seconds)"),
        stat("Archives that wait", "Their disk takes nothing now.", "short", "sum(iotide_archives_waiting)"),
        stat(
            "Not accounted for",
            "Events that neither came nor were told as lost; the ledger says of which stream.",
            "short",
            "sum(iotide_events_unaccounted)",
        ),
        stat("Jobs without series", "Beyond max_job_series.", "short", "sum(iotide_jobs_without_series)"),
        chart(
            "Ingest",
            "Events and batches a second.",
            "ops",
            ("sum(rate(iotide_ingest_events_total[$__rate_interval]))", "events"),
            ("sum(rate(iotide_ingest_batches_total[$__rate_interval]))", "batches"),
        ),
        chart(
            "Lost, by where and why",
            "Calls a second that were lost on the way, or are in no archive.",
            "ops",
            ("sum by (reason) (rate(iotide_events_dropped_total[$__rate_interval]))", "{{reason}}"),
            ("sum by (reason) (rate(iotide_archive_dropped_events_total[$__rate_interval]))", "archive: {{reason}}"),
        ),
        chart(
            "Predictions",
            "Made, late, and put off as they took more than their share, a second.",
            "ops",
            ("sum(rate(iotide_predictions_total[$__rate_interval]))", "made"),
            ("sum(rate(iotide_predictions_late_total[$__rate_interval]))", "late"),
            ("sum(rate(iotide_predictions_put_off_total[$__rate_interval]))", "put off"),
        ),
        chart(
            "Journal",
            "What its files take; it is cut at each snapshot.",
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
    """Writes a file a dashboard."""
    for dashboard in DASHBOARDS:
        text = json.dumps(document(dashboard), indent=2, ensure_ascii=False)
        (folder / f"{dashboard.name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
