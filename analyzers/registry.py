"""Registry of all analyzers that follow a job besides its period. A new analyzer needs one line here."""

from __future__ import annotations

from typing import Final

from ..events import ConfigError
from ..results.advice import Advice
from ..results.jobs.file_systems import JobFileSystems
from ..results.jobs.heat_map import HeatMap
from .advice.settings import AdviceSettings
from .file_systems.settings import FileSystemsSettings
from .heat_map.settings import HeatMapSettings
from .pipeline import job_totals
from .pipeline.contract import Analyzer, AnalyzerKind, JobContext, parsed_settings
from .pipeline.settings import AnalyzerSettings


# Imported on demand, since imports are slow and a job without events needs none of them.
def _graph(context: JobContext) -> Analyzer | None:
    from .pipeline.job_graph import KIND

    return KIND.make(context)


def _layers(context: JobContext) -> Analyzer | None:
    from .pipeline.job_layers import KIND

    return KIND.make(context)


def _interactions(context: JobContext) -> Analyzer | None:
    from .pipeline.job_interactions import KIND

    return KIND.make(context)


def _groups(context: JobContext) -> Analyzer | None:
    from .pipeline.job_groups import KIND

    return KIND.make(context)


def _file_systems(context: JobContext) -> Analyzer | None:
    from .file_systems.update import KIND

    return KIND.make(context)


def _heat_map(context: JobContext) -> Analyzer | None:
    from .heat_map.update import KIND

    return KIND.make(context)


def _advice(context: JobContext) -> Analyzer | None:
    from .advice.update import make

    return make(context)


ANALYZERS: Final[dict[str, AnalyzerKind]] = {
    kind.name: kind
    for kind in (
        job_totals.KIND,
        AnalyzerKind("graph", _graph),
        AnalyzerKind("layers", _layers),
        AnalyzerKind("interactions", _interactions),
        AnalyzerKind("groups", _groups),
        AnalyzerKind("filesystems", _file_systems, settings=FileSystemsSettings, result=JobFileSystems),
        AnalyzerKind("heatmap", _heat_map, settings=HeatMapSettings, result=HeatMap),
        AnalyzerKind("advice", _advice, settings=AdviceSettings, result=Advice),
    )
}
"""Analyzers by name, in the order in which they receive events."""


def check_settings(settings: AnalyzerSettings) -> None:
    """Validate the tables of additional analyzers.

    Raises:
        ConfigError: there is no such analyzer, or a value is invalid; the text names it.
    """
    further = {name: kind.settings for name, kind in ANALYZERS.items() if kind.settings is not None}
    for name in settings.analyzers:
        if (model := further.get(name)) is None:
            known = ", ".join(sorted(further)) or "there are none"
            raise ConfigError(f"analyzers.{name}: no analyzer has settings of this name; known: {known}")
        parsed_settings(settings, name, model)
