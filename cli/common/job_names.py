"""Default names of jobs."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Final

BATCH_VARIABLES: Final = ("IOTIDE_JOB", "SLURM_JOB_ID", "PBS_JOBID", "FLUX_JOB_ID", "LSB_JOBID")
"""Environment variables that contain a job id; the first match is used."""
_MAX_FILE_NAME: Final = 200
"""File systems permit 255 bytes; a number and an ending may follow."""


def batch_job(environment: Mapping[str, str]) -> str | None:
    """Return the job id of the batch system, or None outside of a job.

    >>> batch_job({"LSB_JOBID": "7", "LSB_JOBINDEX": "3"}), batch_job({"LSB_JOBID": "7", "LSB_JOBINDEX": "0"})
    ('7[3]', '7')
    """
    name = next((name for name in BATCH_VARIABLES if environment.get(name)), None)
    if name is None:
        return None
    if name == "SLURM_JOB_ID":
        return with_restart_count(environment[name], environment)
    if name == "LSB_JOBID" and (index := environment.get("LSB_JOBINDEX", "0")) not in ("", "0"):
        return f"{environment[name]}[{index}]"  # all elements of an array have the same number
    return environment[name]


def with_restart_count(job: str, environment: Mapping[str, str]) -> str:
    """Return the id of a job of Slurm in its present run. A requeued job has the same number in each run.

    >>> with_restart_count("7", {"SLURM_RESTART_COUNT": "2"}), with_restart_count("7", {"SLURM_JOB_RESTART_COUNT": "0"})
    ('7-restart2', '7')
    """
    count = environment.get("SLURM_JOB_RESTART_COUNT") or environment.get("SLURM_RESTART_COUNT") or ""
    return f"{job}-restart{int(count)}" if count.isascii() and count.isdecimal() and int(count) else job


def default_job(command: Sequence[str], environment: Mapping[str, str]) -> str:
    """Return the batch system's job id, or the command's name and our pid."""
    from ...events.files import readable  # imports NumPy

    return readable(batch_job(environment) or f"{PurePath(command[0]).name}-{os.getpid()}")


def safe_name(job: str) -> str:
    """Return a job id as a file name, of at most 200 characters.

    >>> safe_name("1234.pbs/x y")
    '1234.pbs_x_y'
    """
    return re.sub(r"[^A-Za-z0-9._-]+", "_", job).lstrip(".")[:_MAX_FILE_NAME] or "job"


def unique_name(name: str, taken: set[str]) -> str:
    """Return a name that is not yet taken, and add it to the taken ones.

    >>> unique_name("x", {"x", "x.2"})
    'x.3'
    """
    tried, number = name, 1
    while tried in taken:
        number += 1
        tried = f"{name}.{number}"
    taken.add(tried)
    return tried
