"""Arguments of ``iotide run``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from ...analyzers.settings import DetectSettings
from ...collectors.settings import SpoolSettings, TracerSettings
from ...collectors.tracer.preload_compatibility import PreloadObstacle
from ...events import BatchJob

if TYPE_CHECKING:
    from .nodes.entry import Entry


class RunPlan(Struct, frozen=True):
    """Arguments of ``iotide run``."""

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
    """Time limit of the command, Unix time; 0: unknown."""
    batch: BatchJob | None = None
    """Batch system data of the job that contains the command."""
    this_node: bool = False
    """Start no collectors on other nodes."""
    entry: Entry | None = None
    """Endpoint for collectors of other nodes; None: there are none."""
    web: bool = False
    """Print the address of the job's live page."""
    archive: bool = True
    """Store every call, in the folder of the report."""
    obstacle: PreloadObstacle | None = None
    """Why the command itself is not traced, determined at its start; None: it is traced."""
