"""Settings of a partition's process: an aggregator with its own journal, state and archives."""

from __future__ import annotations

from pathlib import Path

from ..cluster_settings import ClusterSettings
from ..settings import AggregatorSettings


def journal_of(name: str, number: int) -> str:
    """Return the name of a partition's journal."""
    return f"{name}-p{number}"


def folder_of(base: Path, number: int) -> Path:
    """Return the folder of a partition in another folder."""
    return base / f"partition-{number}"


def worker_settings(settings: AggregatorSettings, state: Path, number: int) -> AggregatorSettings:
    """Return the settings of a partition's process. They are those of the cluster, with its own state folder."""
    archive = settings.archive
    if archive.folder is not None:
        archive = archive.model_copy(update={"folder": folder_of(archive.folder, number)})
    access = settings.access.model_copy(update={"certificate": None, "certificate_key": None})  # it listens on loopback
    # All its clients come through members, which bound their peers.
    limits = settings.http_limits.model_copy(update={"connections_per_peer": settings.http_limits.connections})
    return settings.model_copy(
        update={
            "http_limits": limits,
            "ingest": f"tcp://{worker_host(settings.ingest)}:*",
            "http": "127.0.0.1:0",
            "publish": "tcp://127.0.0.1:*",
            "state": state,
            "archive": archive,
            "access": access,
            "cluster": ClusterSettings(results_bytes=settings.cluster.results_bytes),
            "journal": settings.journal.model_copy(update={"name": journal_of(settings.journal.name, number)}),
        }
    )


def worker_host(endpoint: str) -> str:
    """Return the address at which a machine's processes listen for all gateways. It is that of its own gateway."""
    if not endpoint.startswith("tcp://"):
        return "127.0.0.1"
    return endpoint.removeprefix("tcp://").rpartition(":")[0]
