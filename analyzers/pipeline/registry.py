"""All analyzers that follow a job besides its rhythm. A new one is a line here."""

from __future__ import annotations

from typing import Final

from ...events import ConfigError
from . import job_graph, job_groups, job_interactions, job_layers, job_totals
from .contract import AnalyzerKind, parsed_settings
from .settings import AnalyzerSettings

ANALYZERS: Final[dict[str, AnalyzerKind]] = {
    kind.name: kind
    for kind in (
        job_totals.KIND,
        job_graph.KIND,
        job_layers.KIND,
        job_interactions.KIND,
        job_groups.KIND,
    )
}
"""By name, in the order in which they take events in."""


def check_settings(settings: AnalyzerSettings) -> None:
    """Tries the tables of further analyzers.

    Raises:
        ConfigError: there is no such analyzer, or a value is wrong; the text names it.
    """
    further = {name: kind.settings for name, kind in ANALYZERS.items() if kind.settings is not None}
    for name in settings.analyzers:
        if (model := further.get(name)) is None:
            known = ", ".join(sorted(further)) or "there are none"
            raise ConfigError(f"analyzers.{name}: no analyzer has settings of this name; known: {known}")
        parsed_settings(settings, name, model)
