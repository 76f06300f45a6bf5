"""Names in saved states of classes and attributes that were renamed since ``STATE_VERSION`` last rose.

Releases with the same version read each other's states, so a document keeps the names of the first of them. Empty both
tables when the version rises.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

CLASSES: Final = {
    "analyzers.advice.call_sums:Table": "analyzers.advice.cells:Table",
    "analyzers.advice.extents:Positions": "analyzers.advice.positions:Positions",
    "analyzers.dfg.state.nodes_and_edges:Durations": "analyzers.dfg.state.durations:Durations",
    "analyzers.dfg.state.nodes_and_edges:Edges": "analyzers.dfg.state.bounded_edges:Edges",
    "analyzers.dfg.state.nodes_and_edges:Nodes": "analyzers.dfg.state.nodes:Nodes",
    "analyzers.dfg.state.reorder_buffer:ReorderBuffer": "analyzers.dfg.state.reorder_buffer:Pending",
    "analyzers.file_systems.file_system_table:FileSystemTable": "analyzers.file_systems.places:Places",
    "analyzers.file_systems.file_system_table:IdentifiedFileSystem": "analyzers.file_systems.places:Placed",
    "analyzers.file_systems.file_system_table:NodeFileSystem": "analyzers.file_systems.places:Spot",
    "analyzers.groups.member_keys:Key": "analyzers.groups.classes:Key",
    "analyzers.groups.member_keys:Process": "analyzers.groups.classes:Process",
    "analyzers.groups.member_phases:Shape": "analyzers.groups.shapes:Shape",
    "analyzers.groups.member_signals:MemberSignals": "analyzers.groups.sketch:Sketch",
    "analyzers.interaction.intake.kernel_events:Guests": "analyzers.interaction.intake.virtual_machines:Guests",
    "analyzers.interaction.intake.kernel_events:Locks": "analyzers.interaction.intake.locks:Locks",
    "analyzers.interaction.intake.kernel_events:Scheduling": "analyzers.interaction.intake.scheduling:Scheduling",
    "analyzers.layers.intake.event_conversion:BatchBuffer": "analyzers.layers.intake.batch_buffer:BatchBuffer",
    "analyzers.layers.intake.event_conversion:_Stream": "analyzers.layers.intake.batch_buffer:_Stream",
    "analyzers.layers.state.arrivals:Sites": "analyzers.layers.state.collective_sites:Sites",
    "analyzers.layers.state.bounded_sums:BoundedSums": "analyzers.layers.state.sums:Sums",
    "analyzers.layers.state.call_tables:CallTables": "analyzers.layers.state.tables:Tables",
    "analyzers.online.job_signal:ReadWriteSignals": "analyzers.online.job_signal:Seen",
    "analyzers.online.predictor:FormerPeriods": "analyzers.online.episodes:Episodes",
    "analyzers.online.predictor:_DirectionSearch": "analyzers.online.predictor:_Side",
    "analyzers.online.resolution_search:_AlternativePeriod": "analyzers.online.resolution_search:_Rival",
    "analyzers.online.resolution_search:_KnownPeriod": "analyzers.online.resolution_search:_Known",
    "analyzers.pipeline.analysis_queue:QueuedEvents": "analyzers.pipeline.analysis_queue:Taken",
    "analyzers.signal.bandwidth:Resolutions": "analyzers.signal.resolutions:Resolutions",
    "daemon.jobs.accounting.loss_sink:CollectorCounts": "daemon.ingest.collector_counts:CollectorCounts",
    "daemon.jobs.job_state:State": "daemon.jobs.lifecycle.job_state:State",
    "daemon.jobs.lifecycle.prediction_step:JobSchedule": "daemon.jobs.lifecycle.job_schedule:JobSchedule",
    "daemon.jobs.losses.early_losses:EarlyLosses": "daemon.jobs.losses.unheld:Unheld",
    "daemon.jobs.losses.job_losses:Handovers": "daemon.jobs.losses.handovers:Handovers",
}
_ATTRIBUTES: Final[dict[str, dict[str, str]]] = {
    "analyzers.file_systems.file_system_table:FileSystemTable": {
        "_mount_points": "_spot_points",
        "_node_file_system_numbers": "_spot_numbers",
        "_node_file_systems": "_spots",
    },
    "analyzers.file_systems.file_system_table:IdentifiedFileSystem": {"node_file_system": "spot"},
    "analyzers.groups.update:GroupAnalyzer": {"signals": "sketch"},
    "analyzers.groups.update:_GroupSignal": {"_signals": "_sketch"},
    "analyzers.online.predictor:Predictor": {
        "_former": "_episodes",
        "_predictions_without_period": "_unfound",
        "_predictions_without_search": "_unsearched",
        "_reported": "_told",
        "_single_directions": "_made_ways",
    },
    "analyzers.online.predictor:_DirectionSearch": {"resolution_search": "lookout", "signal": "observed"},
    "analyzers.online.resolution_search:ResolutionSearch": {"_alternative": "_rival"},
    "analyzers.online.resolution_search:_KnownPeriod": {"max_confidence": "surest"},
    "daemon.ingest.ingest_core:_Stream": {"gap_requested": "gap_told"},
    "daemon.jobs.job_analyzers:JobAnalyzers": {"_queue": "_held"},
    "daemon.jobs.losses.job_losses:JobLosses": {"_by_collector": "_of_collectors", "_reported": "_told"},
    "daemon.jobs.losses.ledger:Ledger": {"_cut_off_accounts": "_come_back"},
}
_CLASS_OF: Final = {stored: name for name, stored in CLASSES.items()}
_ATTRIBUTE_OF: Final = {
    name: {stored: attribute for attribute, stored in names.items()} for name, names in _ATTRIBUTES.items()
}


def stored_class(name: str) -> str:
    """Return the name in a document of a class, ``MODULE:CLASS``."""
    return CLASSES.get(name, name)


def class_of(stored: str) -> str:
    """Return the class of a name in a document; other names are returned unchanged."""
    return _CLASS_OF.get(stored, stored)


def stored_attributes(name: str, attributes: Sequence[str]) -> list[str]:
    """Return the names in a document of a class's attributes."""
    stored = _ATTRIBUTES.get(name, {})
    return [stored.get(each, each) for each in attributes]


def attributes_of(name: str, stored: Sequence[str]) -> list[str]:
    """Return the attributes of a class by their names in a document."""
    attributes = _ATTRIBUTE_OF.get(name, {})
    return [attributes.get(each, each) for each in stored]
