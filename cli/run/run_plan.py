"""What ``iotide run`` was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ...analyzers.settings import DetectSettings
from ...collectors.settings import SpoolSettings, TracerSettings
from ...collectors.tracer.preload_compatibility import PreloadObstacle
from ...events import BatchJob

if TYPE_CHECKING:
    from .nodes.entry import Entry


@dataclass(frozen=True, slots=True)
class RunPlan:
    """What ``iotide run`` was asked for."""

    command: Sequence[str]
    job: str
    output: Path | None
    """Folder for the report; None for no report."""
    json_file: Path | None
    quiet: bool
    interval_s: float
    listen: str | None
    publish: str | None
    tracer: TracerSettings
    detect: DetectSettings
    spool: SpoolSettings
    ends_at_s: float = 0.0
    """When the command is killed, Unix time; 0: not known."""
    batch: BatchJob | None = None
    """What the batch system says of the job that the command is part of."""
    this_node: bool = False
    """Start no collectors on other nodes."""
    entry: Entry | None = None
    """Where collectors of other nodes connect; None: there are none."""
    web: bool = False
    """Say where the live page of the job is."""
    archive: bool = True
    """Keep every call, in the folder of the report."""
    obstacle: PreloadObstacle | None = None
    """Why the command itself is not traced, found when it starts; None: it is."""
