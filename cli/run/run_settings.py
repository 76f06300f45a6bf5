"""Settings of the aggregator in ``iotide run``. It has one job, which ends with the command."""

from __future__ import annotations

from typing import Any

from ...analyzers.layers.settings import LayersSettings
from ...daemon.archiving.archive_settings import ArchiveSettings
from ...daemon.settings import AggregatorSettings
from ..common.one_job_bounds import MAX_ADVICE_ROWS, MAX_CALLS, MAX_FILE_ROWS, MAX_FILES
from .run_plan import RunPlan


def aggregator_settings(plan: RunPlan) -> AggregatorSettings:
    """Return the settings of the aggregator that observes a command."""
    is_sure = not plan.listen and not plan.publish and 0.05 <= plan.interval_s <= 60
    # Building the validators takes some ms, and all other values are ours or were checked.
    made = AggregatorSettings.model_construct if is_sure else AggregatorSettings
    return made(
        http=plan.listen,
        publish=plan.publish,
        ingest=AggregatorSettings.model_fields["ingest"].default if plan.entry is None else plan.entry.endpoint,
        prediction_interval_s=plan.interval_s,
        # The job only ends with the command, whatever its pauses or the order of its processes.
        linger_s=float("inf"),
        end_after_s=float("inf"),
        history=100_000,
        short_jobs_share=1.0,  # there is only one job, and its period is the purpose of the run
        queue_share=0.5,  # there is only one queue
        detect=plan.detect,
        **_bounds(),
        archive=_archive_settings(plan),
    )


def _archive_settings(plan: RunPlan) -> ArchiveSettings:
    if plan.output is None or not plan.archive:
        return ArchiveSettings()
    # The folder belongs to the user: nothing in it is removed for its age or size.
    unlimited = 2**62
    return ArchiveSettings.model_construct(
        folder=plan.output.resolve(), quota_bytes=unlimited, job_bytes=unlimited, retain_s=float("inf")
    )


def settings_of(plan: RunPlan) -> AggregatorSettings:
    """Return the settings of the empty job of a command without observed calls."""
    return AggregatorSettings(http=None, publish=None, detect=plan.detect, **_bounds())


def _bounds() -> dict[str, Any]:
    """Return the bounds of a finished trace. A run of many files then has the results of its archive."""
    return {
        "max_files": MAX_FILES,
        "max_calls": MAX_CALLS,
        "layers": LayersSettings.model_construct(max_files=MAX_FILES, max_file_rows=MAX_FILE_ROWS),
        "analyzers": {"advice": {"max_rows": MAX_ADVICE_ROWS}},
    }
