"""Job data of batch systems in the environment of a job's programs."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from .job_end import VARIABLE, parse_time_s

if TYPE_CHECKING:
    from ...events.batch_job import BatchJob

_TEXTS: Final[dict[str, tuple[str, ...]]] = {
    "name": ("SLURM_JOB_NAME", "PBS_JOBNAME", "FLUX_JOB_NAME", "LSB_JOBNAME"),
    "account": ("SLURM_JOB_ACCOUNT", "PBS_ACCOUNT", "LSB_PROJECT_NAME"),
    "partition": ("SLURM_JOB_PARTITION", "PBS_QUEUE", "LSB_QUEUE"),
    "cluster": ("SLURM_CLUSTER_NAME",),
    "nodes": ("SLURM_JOB_NODELIST", "SLURM_NODELIST"),
}
"""Variables of each fact; the first match is used."""
_COUNTS: Final = ("SLURM_JOB_NUM_NODES", "SLURM_NNODES", "PBS_NUM_NODES", "FLUX_JOB_NNODES")
START: Final = "SLURM_JOB_START_TIME"
_MAX_NODES: Final = 1_000_000


def batch_facts(environment: Mapping[str, str]) -> BatchJob | None:
    """Return the job data of an environment; None outside of a job."""
    from ...events.batch_job import BatchJob
    from ...events.files import readable

    facts: dict[str, str | int | float] = {}
    for fact, names in _TEXTS.items():
        if text := next((value for name in names if (value := environment.get(name))), ""):
            facts[fact] = readable(text)
    array, task = environment.get("SLURM_ARRAY_JOB_ID", ""), environment.get("SLURM_ARRAY_TASK_ID", "")
    if array.isdecimal() and task.isdecimal():
        facts["array_task"] = f"{array}_{task}"
    count = next((value for name in _COUNTS if (value := environment.get(name))), "")
    if count.isdecimal() and 0 < int(count) <= _MAX_NODES:
        facts["node_count"] = int(count)
    if start_s := _moment(environment.get(START, "")):
        facts["started_at_s"] = start_s
        if (end_s := _moment(environment.get(VARIABLE, ""))) > start_s:
            facts["limit_s"] = end_s - start_s
    return BatchJob(**facts).completed(None) if facts else None  # type: ignore[arg-type]


def _moment(text: str) -> float:
    with contextlib.suppress(ValueError, OverflowError):
        return max(parse_time_s(text), 0.0)
    return 0.0
