"""Prometheus metrics, computed at each scrape; the hot path has no metrics code.

Names and meanings are in ``all_families``.
"""

from __future__ import annotations

import asyncio
import heapq
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

from ... import __version__
from ...analyzers.registry import ANALYZERS
from ...events.losses import MISPLACED
from .. import background_tasks, listeners, loop_timing
from ..access import access
from ..aggregator import Aggregator
from ..contention import ContentionWatch
from ..ingest.ingest_settings import IngestStats
from ..jobs.job_state import State
from ..jobs.losses import failures
from ..loop_timing import LoopWatch, cpu_s, memory_bytes
from .all_families import FAMILIES
from .cached_samples import KeptRows
from .contention_metrics import add_contention
from .job_metrics import add_job, event_samples
from .journal_metrics import add_journal

Row: TypeAlias = tuple[float, tuple[str, ...]]
"""Value and labels of a sample."""

_END: Final = b"# EOF\n"
_number: Final[Callable[[float], str]] = floatToGoString
_RENAMING: Final = ("escaping=dots", "escaping=values")
"""Formats in which the library renames metrics."""


class Gathered(Collector):
    """Computed samples by family, in the order of their addition.

    The client library builds an object and a dictionary per sample, which is most of the time of a scrape of many jobs.
    Samples are therefore rendered here. The library still selects the format and writes the head of each family.
    """

    def __init__(self, samples: Mapping[str, Sequence[Row]]) -> None:
        self._samples = samples

    def collect(self) -> Iterator[Metric]:
        """Yield the families with their samples."""
        for name, rows in self._samples.items():
            metric = _family(name)
            for value, labels in rows:
                metric.add_metric(labels, value)
            yield metric

    def encode(self, accept: str) -> tuple[bytes, str]:
        """Return the text and its content type.

        Args:
            accept: header of the request with the formats that the client reads.
        """
        encode, content_type = choose_encoder(accept)
        if content_type.endswith(_RENAMING):
            return encode(self), content_type
        parts: list[bytes] = []
        for name, rows in self._samples.items():
            parts.append(encode(_Head(name)).removesuffix(_END))
            parts.append(_lines(name, rows).encode())
        if content_type.startswith("application/openmetrics-text"):
            parts.append(_END)
        return b"".join(parts), content_type


class _Head(Collector):
    """A family without samples."""

    def __init__(self, name: str) -> None:
        self._name = name

    def collect(self) -> Iterator[Metric]:
        yield _family(self._name)


def _family(name: str) -> GaugeMetricFamily | CounterMetricFamily:
    family = FAMILIES[name]
    return family.kind(name, family.help, labels=family.labels)


def _lines(name: str, rows: Sequence[Row]) -> str:
    keys = FAMILIES[name].labels
    if not keys:
        return "".join([f"{name} {_number(value)}\n" for value, _ in rows])
    order = sorted(range(len(keys)), key=lambda column: keys[column])
    template = ",".join(f'{keys[column]}="%s"' for column in order)
    head = f"{name}{{{template}}} %s\n"
    if order == [0]:
        return "".join([head % (_escaped(labels[0]), _number(value)) for value, labels in rows])
    return "".join([head % (*(_escaped(labels[column]) for column in order), _number(value)) for value, labels in rows])


def _escaped(text: str) -> str:
    if "\\" in text or "\n" in text or '"' in text:
        return text.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")
    return text


_BY_NAME: Final = {
    "iotide_analysis_failures_total": failures.FAILURES_PREFIX,
    "iotide_publisher_errors_total": listeners.ERRORS_PREFIX,
    "iotide_task_failures_total": background_tasks.FAILURES_PREFIX,
    "iotide_access_refused_total": access.REFUSED,
}
_DROPPED: Final = "events_dropped:"
_MAX_REASONS: Final = 50
_SLICE_S: Final = 0.005
"""Computing time of a scrape until other tasks have their turn, if they are quick, s."""
_MAX_SLICE_S: Final = 0.05
"""The same if they take long, s. Predictions of many jobs hold the loop as long."""
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
        self._kept = KeptRows(event_samples)

    def collect(self) -> Iterator[Metric]:
        """Yield every family that has a sample."""
        samples: dict[str, list[Row]] = {}
        for _ in self._steps(samples, self._max_job_series):
            pass
        yield from Gathered(samples).collect()

    async def gathered(self, jobs: int | None = None) -> Gathered:
        """Return all families, computed with pauses for other tasks.

        Args:
            jobs: maximum number of jobs with series of their own, if less than ``max_job_series``.
        """
        most = self._max_job_series if jobs is None else min(jobs, self._max_job_series)
        samples: dict[str, list[Row]] = {}
        slice_s, resumed_s = _SLICE_S, time.monotonic()
        for _ in self._steps(samples, most):
            if (paused_s := time.monotonic()) - resumed_s > slice_s:
                await asyncio.sleep(0)
                resumed_s = time.monotonic()
                # slices twice as long as the turns of the others: a busy loop prolongs a scrape by half
                slice_s = min(max(_SLICE_S, 2 * (resumed_s - paused_s)), _MAX_SLICE_S)
        return Gathered(samples)

    def _steps(self, samples: dict[str, list[Row]], max_job_series: int) -> Iterator[None]:
        """Compute all families; yield where other tasks may run."""

        def add(name: str, value: float, *labels: str) -> None:
            samples.setdefault(name, []).append((value, labels))

        add("iotide_build_info", 1, __version__)
        yield from self._add_jobs(add, max_job_series)
        yield from self._aggregator.renew_sums()
        self._add_predictions(add)
        self._add_analyzer_losses(add)
        self._add_ingest(add)
        self._add_counters(add)
        yield
        self._add_collector_counters(add)
        add("iotide_cpu_seconds_total", cpu_s())
        add("iotide_memory_bytes", memory_bytes())
        if self._loop_watch is not None:
            add("iotide_loop_held_seconds", self._loop_watch.longest_s)
        for stage in ("ingest", "jobs", "journal", "archives"):
            add("iotide_stage_seconds_total", self._aggregator.counters[loop_timing.TIME_PREFIX + stage] / 1e6, stage)
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
        self._kept.drop_except(jobs)
        yield from self._kept.renew(shown)
        for session in shown:
            add_job(session, now, self._kept, add)
            yield

    def _add_predictions(self, add: Callable[..., None]) -> None:
        counters = self._aggregator.counters
        add("iotide_predictions_total", counters["predictions"])
        add("iotide_prediction_errors_total", counters["prediction_errors"])
        add("iotide_predictions_late_total", counters["predictions_late"])
        add("iotide_predictions_put_off_total", counters["predictions_put_off"])
        add("iotide_behind_seconds", self._aggregator.pressure.behind_s)
        add("iotide_jobs_removed_early_total", counters["jobs_removed_early"])
        add("iotide_last_words_skipped_total", counters["last_words_skipped"])

    def _add_analyzer_losses(self, add: Callable[..., None]) -> None:
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

    def _add_ingest(self, add: Callable[..., None]) -> None:
        stats, counters = self._stats(), self._aggregator.counters
        for reason in ("max_collectors", "max_jobs", "max_streams"):
            add("iotide_streams_refused_total", counters[f"streams_refused:{reason}"], reason)
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
        add("iotide_collectors_lost_total", counters["collectors_lost"])

    def _add_counters(self, add: Callable[..., None]) -> None:
        """Add the counters of the aggregator that are families by their own names, or by name and label."""
        counters = self._aggregator.counters
        for name in _COUNTED:
            add(f"iotide_{name}_total", counters[name])
        self._add_archives(add)
        add_journal(counters, add)
        add("iotide_listener_errors_total", counters["listener_errors"])
        for family, prefix in _BY_NAME.items():
            for name, count in sorted(counters.items()):
                if name.startswith(prefix):
                    add(family, count, name.removeprefix(prefix))
        for outcome, counter in (("sent", "replies"), ("dropped", "replies_dropped")):
            add("iotide_ftio_replies_total", counters[counter], outcome)

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
        for reason in ("max_users", "waiting"):
            add("iotide_processes_refused_total", counters[f"processes_refused:{reason}"], reason)
        add("iotide_paced_calls_total", counters["paced_calls"])
        add("iotide_paced_wait_seconds_total", counters["paced_wait_ms"] / 1e3)
        add("iotide_paced_phases_overdue_total", counters["paced_phases_overdue"])
        for name in _MALFORMED:
            add("iotide_input_malformed_total", counters[name], name)
