"""Limits and weights by control groups, of versions 1 and 2.

Limits are ``io.max``, or ``blkio.throttle`` (direct I/O only). Weights are ``io.weight``, or those of the I/O scheduler
BFQ. Each job already has a group, as created by Slurm or systemd; a pattern gives its folder. Earlier values are not
restored.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ....events import ConfigError
from ..limits import Limit
from .contract import changed

JOB_FIELD: Final = "{job}"
_V2: Final = "io.max"
_V1: Final = ("blkio.throttle.read_bps_device", "blkio.throttle.write_bps_device")
_WEIGHTS: Final = ("io.bfq.weight", "io.weight", "blkio.bfq.weight_device")
"""Files with a group's weight, of which the first one that takes it counts: a disk with BFQ ignores ``io.weight``."""
_DEFAULT_WEIGHT: Final = 100
"""Weight of a group that nobody set, in all three files (Linux, admin-guide/cgroup-v2, block/bfq-iosched)."""


class _JobGroups:
    """The groups of jobs on this host.

    Args:
        pattern: folder of a job's group, with ``{job}`` for its name.
        device: device of the file system, as MAJOR:MINOR.

    Raises:
        ConfigError: the pattern names no job, or its parent is not a folder of control groups.
    """

    def __init__(self, pattern: str, device: str) -> None:
        if JOB_FIELD not in pattern:
            raise ConfigError(
                f"{pattern}: a pattern of groups has {JOB_FIELD} in it, such as .../slurm/job_{JOB_FIELD}"
            )
        self._pattern, self._device = pattern, device

    def _folder(self, job: str) -> Path:
        name = job.replace("/", "_")  # a job's name must not act as a path
        return Path(self._pattern.replace(JOB_FIELD, "_" if name in (".", "..") else name))


class ControlGroups(_JobGroups):
    """Writes limits into the groups of jobs on this host.

    The arguments and errors are those of ``_JobGroups``.
    """

    def __init__(self, pattern: str, device: str) -> None:
        super().__init__(pattern, device)
        self._limits: dict[str, float] = {}

    def apply(self, limits: Sequence[Limit]) -> list[str]:
        """Apply exactly these limits; a job without a group on this host is skipped."""
        fresh, gone = changed(self._limits, limits)
        problems = [problem for job in gone if (problem := self._remove_limit(job))]
        for limit in fresh:
            folder = self._folder(limit.job)
            try:
                if not folder.is_dir():
                    continue
                self._write(folder, str(max(1, round(limit.bytes_per_s))))
            except OSError as error:
                problems.append(f"{limit.job}: {folder}: {error.strerror}")
            else:
                self._limits[limit.job] = limit.bytes_per_s
        return problems

    def clear(self) -> list[str]:
        """Remove all limits that were set here."""
        return [problem for job in list(self._limits) if (problem := self._remove_limit(job))]

    def _remove_limit(self, job: str) -> str:
        del self._limits[job]
        folder = self._folder(job)
        try:
            if folder.is_dir():  # otherwise its job has ended
                self._write(folder, None)
        except OSError as error:
            return f"{job}: {folder}: {error.strerror}"
        return ""

    def _write(self, folder: Path, rate: str | None) -> None:
        """Write a limit of bytes/s for both directions; None removes it."""
        if (folder / _V2).exists():
            rate_text = rate or "max"
            (folder / _V2).write_text(f"{self._device} rbps={rate_text} wbps={rate_text}\n", encoding="utf-8")
            return
        for name in _V1:
            (folder / name).write_text(f"{self._device} {rate or 0}\n", encoding="utf-8")


class ControlGroupWeights(_JobGroups):
    """Writes weights into the groups of jobs on this host: the kernel shares the disk in proportion to them.

    A job that would be limited gets a weight below the default. All others keep theirs, so the disk stays as busy as
    the jobs can make it, also while the scheduler has old news. The arguments and errors are those of ``_JobGroups``.
    """

    def __init__(self, pattern: str, device: str) -> None:
        super().__init__(pattern, device)
        self._weights: dict[str, int] = {}

    def apply(self, limits: Sequence[Limit]) -> list[str]:
        """Apply the weights of exactly these limits; a job without a group on this host is skipped."""
        wanted = weights_of(limits)
        problems = [problem for job in self._weights.keys() - wanted.keys() if (problem := self._remove_weight(job))]
        for job, weight in wanted.items():
            if self._weights.get(job) == weight or not self._folder(job).exists():
                continue
            if problem := self._write(job, str(weight)):
                problems.append(problem)
            else:
                self._weights[job] = weight
        return problems

    def clear(self) -> list[str]:
        """Restore the default weight of all jobs that got another one here."""
        return [problem for job in list(self._weights) if (problem := self._remove_weight(job))]

    def _remove_weight(self, job: str) -> str:
        if self._folder(job).exists() and (problem := self._write(job, "default")):  # otherwise its job has ended
            return problem
        del self._weights[job]
        return ""

    def _write(self, job: str, weight: str) -> str:
        """Write a job's weight into the first file that takes it; return the failure, or ""."""
        folder = self._folder(job)
        disk = (Path("/sys/dev/block") / self._device).resolve().name
        problem = f"{job}: {folder} has no weight: disk {disk} needs the I/O scheduler bfq, or the group io.cost"
        for name in _WEIGHTS:
            try:
                if (folder / name).exists():
                    (folder / name).write_text(f"{self._device} {weight}\n", encoding="utf-8")
                    return ""
            except OSError as error:
                problem = f"{job}: {folder / name}: {error.strerror}"
        return problem


def weights_of(limits: Sequence[Limit]) -> dict[str, int]:
    """Return the weight of each limited job, 1 to the default.

    Jobs without a limit keep the default weight and share what the limits leave. A limited job's weight has the ratio
    to the default that its share has to that rest, or to the largest limited share if the limits leave less.
    """
    rest = 1.0 - sum(limit.weight for limit in limits)
    most = max((rest, *(limit.weight for limit in limits)))
    return {
        limit.job: max(1, min(_DEFAULT_WEIGHT, round(_DEFAULT_WEIGHT * limit.weight / most)))
        for limit in limits
        if most > 0
    }


def device_of(path: Path) -> str:
    """Return MAJOR:MINOR of the whole disk that contains a path, as partitions cannot be limited.

    Raises:
        ConfigError: the path does not exist, or is not on a block device.
    """
    try:
        number = path.stat().st_dev
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    device = f"{os.major(number)}:{os.minor(number)}"
    sysfs = Path("/sys/dev/block") / device
    if not sysfs.exists():
        raise ConfigError(f"{path} is on no block device of this host ({device}), which control groups could limit")
    if (sysfs / "partition").exists():
        return (sysfs.resolve().parent / "dev").read_text(encoding="utf-8").strip()
    return device
