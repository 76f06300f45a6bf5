"""Limits by control groups. They are ``io.max`` of version 2, and ``blkio.throttle`` of version 1 (direct I/O only).

Each job already has a group, as created by Slurm or systemd; a pattern gives its folder. Earlier limits are not
restored: a group with a limit from another source is refused.
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


class ControlGroups:
    """Writes limits into the groups of jobs on this host.

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

    def _folder(self, job: str) -> Path:
        name = job.replace("/", "_")  # a job's name must not act as a path
        return Path(self._pattern.replace(JOB_FIELD, "_" if name in (".", "..") else name))

    def _write(self, folder: Path, rate: str | None) -> None:
        """Write a limit of bytes/s for both directions; None removes it."""
        if (folder / _V2).exists():
            rate_text = rate or "max"
            (folder / _V2).write_text(f"{self._device} rbps={rate_text} wbps={rate_text}\n")
            return
        for name in _V1:
            (folder / name).write_text(f"{self._device} {rate or 0}\n")


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
        return (sysfs.resolve().parent / "dev").read_text().strip()
    return device
