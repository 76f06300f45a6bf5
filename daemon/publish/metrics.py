"""Prometheus metrics, computed at each scrape; the hot path has no metrics code.

Names and meanings are only in ``FAMILIES``; tests compare ``docs/metrics.md`` with it.
"""

from __future__ import annotations

import asyncio
import heapq
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeAlias

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from ... import __version__
from ...analyzers.pipeline.registry import ANALYZERS
from ...events.losses import MISPLACED
from .. import background_tasks, listeners, stages
from ..access import access
from ..aggregator import Aggregator
from ..contention import ContentionWatch
from ..ingest.ingest_core import IngestStats
from ..jobs.lifecycle.job_state import State
from ..jobs.losses import failures
from ..stages import LoopWatch, cpu_s, memory_bytes
from .contention_metrics import CONTENTION_FAMILIES, add_contention
from .families import Family
from .group_metrics import GROUP_FAMILIES
from .job_metrics import JOB_FAMILIES, add_job
from .journal_metrics import JOURNAL_FAMILIES, add_journal

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
_BY_NAME: Final = {
    "iotide_analysis_failures_total": failures.FAILURES_PREFIX,
    "iotide_publisher_errors_total": listeners.ERRORS_PREFIX,
    "iotide_task_failures_total": background_tasks.FAILURES_PREFIX,
    "iotide_access_refused_total": access.REFUSED,
}
_DROPPED: Final = "events_dropped:"
_MAX_REASONS: Final = 50
_SLICE_S: Final = 0.005
_Family: TypeAlias = GaugeMetricFamily | CounterMetricFamily
_MALFORMED: Final = (
    "lines_malformed",
    "intervals_malformed",
    "definitions_malformed",
    "definitions_dropped",
    "rings_malformed",
    "signatures_malformed",
    "signatures_dropped",
    "processes_refused",
    "processes_failed",
)

_COUNTED: Final = (
    *("http_bodies_refused", "http_malformed", "http_peer_refused", "http_refused", "http_timeouts", "listener_pauses"),
    *("ingest_peers_refused", "published_missed", "subscribers_cut_off"),
)
"""Counters that are families by their own names."""


class AggregatorCollector(Collector):
    """Computes all metric families from an aggregator's state."""

    def __init__(
        self,
        aggregator: Aggregator,
        stats: Callable[[], IngestStats],
        max_job_series: int,
        clock: Callable[[], float],
        contention: ContentionWatch | None = None,
        loop_watch: LoopWatch | None = None,
    ) -> None:
        self._aggregator = aggregator
        self._stats = stats
        self._max_job_series = max_job_series
        self._clock = clock
        self._contention = contention
        self._loop_watch = loop_watch

    def collect(self) -> Iterator[Metric]:
        """Yield every family that has a sample."""
        made: dict[str, _Family] = {}
        for _ in self._steps(made, self._max_job_series):
            pass
        yield from made.values()

    async def gathered(self, jobs: int | None = None) -> Gathered:
        """Return all families, computed with pauses for other tasks.

        Args:
            jobs: maximum number of jobs with series of their own, if less than ``max_job_series``.
        """
        most = self._max_job_series if jobs is None else min(jobs, self._max_job_series)
        made: dict[str, _Family] = {}
        paused_s = time.monotonic()
        for _ in self._steps(made, most):
            if time.monotonic() - paused_s > _SLICE_S:
                await asyncio.sleep(0)
                paused_s = time.monotonic()
        return Gathered(list(made.values()))

    def _steps(self, made: dict[str, _Family], max_job_series: int) -> Iterator[None]:
        """Compute all families; yield where other tasks may run."""

        def add(name: str, value: float, *labels: str) -> None:
            if (known := made.get(name)) is None:
                family = FAMILIES[name]
                known = made[name] = family.kind(name, family.help, labels=family.labels)
            known.add_metric(labels, value)

        add("iotide_build_info", 1, __version__)
        yield from self._add_jobs(add, max_job_series)
        self._add_ingest(add)
        yield
        self._add_collector_counters(add)
        add("iotide_cpu_seconds_total", cpu_s())
        add("iotide_memory_bytes", memory_bytes())
        if self._loop_watch is not None:
            add("iotide_loop_held_seconds", self._loop_watch.longest_s)
        for stage in ("ingest", "jobs", "journal", "archives"):
            add("iotide_stage_seconds_total", self._aggregator.counters[stages.TIME_PREFIX + stage] / 1e6, stage)
        add_contention(self._contention, self._aggregator.counters, add)

    def _add_jobs(self, add: Callable[..., None], max_job_series: int) -> Iterator[None]:
        jobs = self._aggregator.jobs
        states = Counter(session.state.value for session in jobs.awake)
        states.update(card.state for card in jobs.asleep.values())
        for state in (State.RUNNING, State.IDLE, State.ENDED):
            add("iotide_jobs", states[state.value], state.value)
        shown = heapq.nlargest(max_job_series, jobs.awake, key=lambda session: session.heard_at_s)
        add("iotide_jobs_without_series", len(jobs) - len(shown))
        now = self._clock()
        yield
        for session in shown:
            add_job(session, now, add)
            yield

    def _add_ingest(self, add: Callable[..., None]) -> None:
        stats = self._stats()
        add("iotide_predictions_total", self._aggregator.counters["predictions"])
        add("iotide_prediction_errors_total", self._aggregator.counters["prediction_errors"])
        add("iotide_predictions_late_total", self._aggregator.counters["predictions_late"])
        add("iotide_predictions_put_off_total", self._aggregator.counters["predictions_put_off"])
        add("iotide_behind_seconds", self._aggregator.pressure.behind_s)
        add("iotide_jobs_removed_early_total", self._aggregator.counters["jobs_removed_early"])
        add("iotide_last_words_skipped_total", self._aggregator.counters["last_words_skipped"])
        sums = self._aggregator.sums()
        for reason, volume in sums.signal_bytes().items():
            add("iotide_signal_dropped_bytes_total", volume, reason)
        for analyzer in ANALYZERS:
            family = f"iotide_{analyzer}_dropped_total"
            for reason, number in sorted(sums.dropped(analyzer).items()):
                if family in FAMILIES:
                    add(family, number, reason)
                else:
                    add("iotide_analyzer_dropped_total", number, analyzer, reason)
        for kind, number in sorted(sums.names_beyond().items()):
            add("iotide_names_beyond_total", number, kind)
        for reason in ("max_collectors", "max_jobs", "max_streams"):
            add("iotide_streams_refused_total", self._aggregator.counters[f"streams_refused:{reason}"], reason)
        add("iotide_ingest_events_total", stats.events)
        add("iotide_ingest_batches_total", stats.batches)
        add("iotide_ingest_bytes_total", stats.bytes)
        add("iotide_ingest_duplicates_total", stats.duplicates)
        add("iotide_ingest_malformed_total", stats.malformed)
        add("iotide_ingest_foreign_total", stats.foreign)
        for code, count in sorted(stats.rejected.items()):
            add("iotide_ingest_rejected_total", count, code)
        add("iotide_ingest_streams", stats.streams)
        add("iotide_ingest_streams_silent", stats.streams_silent)
        add("iotide_collectors", stats.collectors)
        add("iotide_collectors_lost_total", self._aggregator.counters["collectors_lost"])
        for name in _COUNTED:
            add(f"iotide_{name}_total", self._aggregator.counters[name])
        self._add_archives(add)
        add_journal(self._aggregator.counters, add)
        add("iotide_listener_errors_total", self._aggregator.counters["listener_errors"])
        for family, counted in _BY_NAME.items():
            for name, count in sorted(self._aggregator.counters.items()):
                if name.startswith(counted):
                    add(family, count, name.removeprefix(counted))
        for outcome, counter in (("sent", "replies"), ("dropped", "replies_dropped")):
            add("iotide_ftio_replies_total", self._aggregator.counters[counter], outcome)

    def _add_archives(self, add: Callable[..., None]) -> None:
        counters = self._aggregator.counters
        add("iotide_events_unaccounted", self._aggregator.sums().current.get("unaccounted", 0))
        add("iotide_archives_total", counters["archives"])
        add("iotide_archive_bytes_total", counters["archive_bytes"])
        add("iotide_archives_failed_total", counters["archives_failed"])
        add("iotide_archives_waiting", counters["archives_waiting"])
        add("iotide_archive_failed_writes_total", counters["archive_writes_failed"])
        add("iotide_archives_removed_total", counters["archives_removed"])
        add("iotide_archive_early_sections_total", counters["archive_sections_early"])
        add("iotide_archive_late_checkpoints_total", counters["archive_checkpoints_late"])
        for reason in ("job_bytes", "failed", "disk", "no_room", "lost"):
            add("iotide_archive_dropped_events_total", counters[f"events_not_archived:{reason}"], reason)

    def _add_collector_counters(self, add: Callable[..., None]) -> None:
        counters = self._aggregator.collector_counters() + self._aggregator.counters
        add("iotide_events_misplaced_total", counters[MISPLACED] + self._aggregator.sums().current.get(MISPLACED, 0))
        dropped = {name.removeprefix(_DROPPED): n for name, n in counters.items() if name.startswith(_DROPPED)}
        # Reasons come from collectors; a faulty one must not create an unbounded number of series.
        shown = sorted(dropped, key=lambda reason: (-dropped[reason], reason))[:_MAX_REASONS]
        for reason in sorted(shown):
            add("iotide_events_dropped_total", dropped.pop(reason), reason)
        if dropped:
            add("iotide_events_dropped_total", sum(dropped.values()), "(other)")
        for switch, counter in (("path", "events_left_out"), ("sample", "events_sampled_out")):
            add("iotide_events_left_out_total", counters[counter], switch)
        add("iotide_bytes_sampled_out_total", counters["bytes_sampled_out"])
        add("iotide_paced_calls_total", counters["paced_calls"])
        add("iotide_paced_wait_seconds_total", counters["paced_wait_ms"] / 1e3)
        add("iotide_paced_phases_overdue_total", counters["paced_phases_overdue"])
        for name in _MALFORMED:
            add("iotide_input_malformed_total", counters[name], name)


class Gathered(Collector):
    """Computed families, as a collector for the encoder."""

    def __init__(self, made: Sequence[Metric]) -> None:
        self._made = made

    def collect(self) -> Iterator[Metric]:
        """Yield the families."""
        yield from self._made
