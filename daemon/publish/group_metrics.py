"""Metrics of groups of a job's members with periods of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from prometheus_client.core import GaugeMetricFamily

from ...results.prediction import Prediction
from .families import Family

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
