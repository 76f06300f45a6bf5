"""Results of all analyzers of one job, for views of the whole job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

if TYPE_CHECKING:
    from .advice import Advice
    from .dfg import Graph
    from .interaction import Ranking
    from .jobs.file_systems import JobFileSystems
    from .jobs.heat_map import HeatMap
    from .layers import Layers


class Findings(Struct, frozen=True):
    """Results of the analyzers of a job. None where there is none or the analysis failed."""

    layers: Layers | None = None
    heat: HeatMap | None = None
    graph: Graph | None = None
    ranking: Ranking | None = None
    advice: Advice | None = None
    file_systems: JobFileSystems | None = None


NO_FINDINGS: Final = Findings()
