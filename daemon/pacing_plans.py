"""Current plans of schedulers, for collectors that delay I/O."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from ..analyzers.file_systems.file_system_table import file_system_of
from ..analyzers.file_systems.settings import FileSystemsSettings
from ..events import FileInfo
from ..results.pacing import PacingPlan


def pacing_plans(analyzers: Mapping[str, Any]) -> PacingPlans:
    """Return plans for the file systems that the settings of the analyzers name."""
    return PacingPlans(FileSystemsSettings.model_validate(analyzers.get("filesystems", {})).names)


class PacingPlans:
    """One plan per file system, each with its own validity.

    Args:
        names: configured names of file systems, as for ``file_system_of``.
        most: maximum number of plans.
        clock: monotonic clock, seconds.
    """

    def __init__(self, names: Mapping[str, str], most: int = 1000, clock: Callable[[], float] = time.monotonic) -> None:
        self._names, self._most, self._clock = dict(names), most, clock
        self._plans: dict[str, tuple[float, bytes]] = {}

    def put(self, plan: PacingPlan) -> bool:
        """Store a plan in place of the previous one. Return False if there are too many."""
        now_s = self._clock()
        self._plans = {name: stored for name, stored in self._plans.items() if stored[0] > now_s}
        if plan.file_system not in self._plans and len(self._plans) >= self._most:
            return False
        self._plans[plan.file_system] = now_s + plan.lasts_s, plan.model_dump_json().encode()
        return True

    def remove(self, file_system: str) -> None:
        """Remove the plan of a file system."""
        self._plans.pop(file_system, None)

    def answer(self, host: str, folder: FileInfo) -> bytes:
        """Return the plan for the file system of a folder as seen by a host, JSON. It is "" without one."""
        if not self._plans:
            return b""
        file_system = file_system_of(folder, self._names)
        until_s, text = self._plans.get(file_system.name or f"{host}:{file_system.local}", (0.0, b""))
        return text if until_s > self._clock() else b""
