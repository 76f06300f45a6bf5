"""All bounds set by options. Each has a counter, and a log line when it is first reached."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pydantic import BaseModel

from ..analyzers.registry import ANALYZERS

if TYPE_CHECKING:
    from .jobs.session import JobSession

_log = logging.getLogger(__name__)


class Bound(NamedTuple):
    """Description of one bound.

    Attributes:
        counter: name in the aggregator's counters, or ``PART:REASON`` of a job; "" if other causes share it, so that
            the log cannot name the bound.
        family: metric of the bound, with its distinguishing label; "" for none.
        excess: handling of excess data.
        reported_in: place in a job's results that reports it; "" if the job loses nothing.
    """

    counter: str
    family: str
    excess: str
    reported_in: str = ""


def _analyzer_bound(part: str, reason: str, beyond: str, *, alone: bool = True) -> Bound:
    family = f'iotide_{part}_dropped_total{{reason="{reason}"}}'
    return Bound(f"{part}:{reason}" if alone else "", family, beyond, _REPORTED_IN[part])


_REPORTED_IN: Final = {
    "graph": "`dropped_events`, `dropped_edges`, `dropped_activities` of its graph, and its page",
    "layers": "`losses` of its layers, and its page",
    "interactions": "`dropped_events` of its ranking",
}
_REFUSED_FAMILY: Final = 'iotide_streams_refused_total{{reason="{}"}}'

BOUNDS: Final[Mapping[str, Bound]] = {
    "max_jobs": Bound(
        "streams_refused:max_jobs",
        _REFUSED_FAMILY.format("max_jobs"),
        "streams of further jobs are refused, their calls counted (`no_job`)",
        "`losses` (`max_jobs`) and completeness, once it is admitted",
    ),
    "max_ended_jobs": Bound(
        "jobs_removed_early", "iotide_jobs_removed_early_total", "the job that ended first is removed before `retain_s`"
    ),
    "max_files": Bound(
        "names_beyond:files",
        'iotide_names_beyond_total{kind="files"}',
        "further files are added up",
        "a row `(other)` of its files",
    ),
    "max_calls": Bound(
        "names_beyond:calls",
        'iotide_names_beyond_total{kind="calls"}',
        "further functions are added up",
        "a row `(other)` of its calls",
    ),
    "max_job_series": Bound("", "iotide_jobs_without_series", "further jobs have no series; the API has them"),
    "bounds.max_streams": Bound(
        "streams_refused:max_streams",
        _REFUSED_FAMILY.format("max_streams"),
        "further streams are refused, their calls counted (`rejected`)",
        "`losses`",
    ),
    "bounds.max_collectors": Bound(
        "streams_refused:max_collectors",
        _REFUSED_FAMILY.format("max_collectors"),
        "streams of further collectors are refused, likewise counted",
        "`losses`",
    ),
    "bounds.connections_per_peer": Bound(
        "ingest_peers_refused",
        "iotide_ingest_peers_refused_total",
        "further connections of an address or user are ended; their collectors try again",
    ),
    "contention.max_jobs": Bound(
        "", "iotide_contention_jobs_left_out", "contention is computed for the latest active jobs only"
    ),
    "notify.max_waiting": Bound(
        "notifications_dropped",
        "iotide_notifications_dropped_total",
        "further alerts are dropped; active ones are repeated",
    ),
    "http_limits.connections": Bound("http_refused", "iotide_http_refused_total", "further connections get 503"),
    "http_limits.connections_per_peer": Bound(
        "http_peer_refused",
        "iotide_http_peer_refused_total",
        "further connections of an address or user get 503",
    ),
    "http_limits.body_bytes": Bound(
        "http_bodies_refused", "iotide_http_bodies_refused_total", "requests with further bodies get 503"
    ),
    "publish_behind": Bound(
        "subscribers_cut_off",
        "iotide_subscribers_cut_off_total",
        "a subscriber that does not read is cut off, and may connect again",
    ),
    "journal.quota_bytes": Bound(
        "journal_unwritten:quota",
        'iotide_journal_unwritten_total{reason="quota"}',
        "messages are acknowledged with the next snapshot",
    ),
    "archive.quota_bytes": Bound("", "iotide_archives_removed_total", "the oldest finished archives are removed"),
    "archive.memory_bytes": Bound(
        "archive_sections_early",
        "iotide_archive_early_sections_total",
        "streams are written early, which compresses less",
    ),
    "archive.job_bytes": Bound(
        "events_not_archived:job_bytes",
        'iotide_archive_dropped_events_total{reason="job_bytes"}',
        "further calls are not archived",
        "`losses` (`events_not_archived:job_bytes`) and the archive",
    ),
    "detect.group_members": Bound(  # most jobs with many ranks reach it, so it is not logged
        "", 'iotide_groups_dropped_total{reason="members"}', "members are merged, as ranges of ranks"
    ),
    "dfg.max_held": _analyzer_bound(
        "graph", "late_events", "events are processed earlier; late ones get no edge", alone=False
    ),
    "dfg.max_activities": _analyzer_bound("graph", "other_activities", "events of further activities are added up"),
    "dfg.max_edges": _analyzer_bound("graph", "rare_edges", "the rarest quarter is removed"),
    "dfg.max_cases": _analyzer_bound("graph", "evicted_cases", "the longest idle cases are closed"),
    "layers.max_waiting": _analyzer_bound("layers", "unenclosed", "calls count as calls of the program", alone=False),
    "layers.max_processes": _analyzer_bound("layers", "processes", "further processes are added up"),
    "layers.max_files": _analyzer_bound("layers", "files", "further files are added up"),
    "layers.max_file_rows": _analyzer_bound("layers", "file_rows", "the rarest pairs are removed"),
    "layers.max_nodes": _analyzer_bound("layers", "nodes", "further handles are merged into their parents"),
    "layers.max_process_nodes": _analyzer_bound("layers", "process_nodes", "the rarest pairs are removed"),
    "layers.max_handles": _analyzer_bound("layers", "handles", "the oldest handles are removed"),
    "layers.max_collectives": _analyzer_bound("layers", "collectives", "the rarest pairs are removed"),
    "layers.max_rounds": _analyzer_bound("layers", "rounds", "the oldest collective calls are added up"),
    "rank.max_actors": _analyzer_bound("interactions", "actors", "the least active quarter is removed"),
    "rank.max_uses": _analyzer_bound("interactions", "uses", "the rarest quarter is removed"),
    "rank.max_links": _analyzer_bound("interactions", "links", "the rarest quarter is removed"),
    "cluster.results_bytes": Bound(
        "contention_results_left_out",
        "iotide_contention_results_left_out_total",
        "contention does not consider further jobs of the partition; the latest active are published",
    ),
}
"""By option."""

HARMLESS: Final[Mapping[str, str]] = {
    "max_activity_series": "the graph has all",
    "history": "each was published",
    "bounds.remembered_streams": "a batch that is repeated so late is rejected as unknown_stream",
    "journal.segment_bytes": "no bound",
    "journal.replicas": "no bound",
    "cluster.partitions": "no bound",
    "bounds.credit": "batches wait with their collector",
    "contention.alerts.looks": "no bound",
    "contention.phases_ahead": "length of a forecast",
    "detect.window_hits": "no bound",
    "detect.window_flushes": "length of a window",
    "detect.ring_bins": "length of a signal; iotide_signal_dropped_bytes_total counts later bytes",
    "detect.trace_bins": "of finished traces",
    "layers.max_marks": "a coarser timeline",
    "layers.thresholds.small_bytes": "no bound",
    "layers.thresholds.small_calls": "no bound",
    "layers.thresholds.many_files": "no bound",
    "layers.thresholds.small_file_bytes": "no bound",
    "layers.thresholds.churn_opens": "no bound",
    "rank.top": "no bound",
}
"""Integer options without losses, and why."""


class BoundLog:
    """Logs once that a bound was reached, with the option to raise.

    Args:
        settings: settings of the aggregator.
        logs: whether to log; a command that is traced has its own output there.
    """

    def __init__(self, settings: BaseModel, *, logs: bool = True) -> None:
        self._settings = settings
        self._logs = logs
        self._unreached = {bound.counter: option for option, bound in BOUNDS.items() if bound.counter}

    def check(self, counters: Mapping[str, int], job: str = "") -> None:
        """Check for counters that have begun to count; ``job``: their job."""
        for counter in [each for each in self._unreached if counters.get(each)]:
            option = self._unreached.pop(counter)
            if not self._logs:
                continue
            of_job = f"job {job}: " if job else ""
            beyond = BOUNDS[option].excess.replace("`", "")
            _log.warning(
                "%s%s = %s is reached: %s; raise it, or see %s (logged once)",
                of_job, option, value_of(self._settings, option), beyond, BOUNDS[option].family,
            )  # fmt: skip

    def check_job(self, session: JobSession) -> None:
        """Check the bounds of a job."""
        counts = {f"names_beyond:{kind}": count for kind, count in session.names.beyond.items()}
        for part in ANALYZERS:
            counts |= {f"{part}:{reason}": count for reason, count in session.analyzers.losses(part).items()}
        if counts:
            self.check(counts, session.job)


def value_of(settings: object, option: str) -> Any:
    """Return the value of an option by its dotted name."""
    value: Any = settings
    for name in option.split("."):
        value = getattr(value, name)
    return value
