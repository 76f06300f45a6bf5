"""Checks of ``iotide doctor --journal``: durability of acknowledged messages at the NATS servers."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ...daemon.journal.settings import JournalSettings
from ...daemon.settings import load_settings
from ...events import ConfigError
from .checks import Finding
from .nats_servers import UnusableServersError, inspect_servers, server_findings, store_findings
from .partition_checks import partition_findings

if TYPE_CHECKING:
    from ...daemon.journal.jetstream.inspection import JournalState


def journal_findings(config: Path) -> list[Finding]:
    """Check the servers in the settings of ``iotide serve``; raise ConfigError if these are invalid."""
    given = load_settings(config, os.environ)
    settings = given.journal
    if given.cluster.on:
        return partition_findings(given)
    if not settings.servers:
        raise ConfigError(f"{config}: journal.servers names none; expected NATS servers")
    try:
        seen = inspect_servers(lambda: _inspection(settings))
    except UnusableServersError as error:
        return [error.finding]
    found = server_findings(settings.servers, settings.replicas, () if seen is None else seen.unsynced)
    if seen is None:
        return [*found, Finding("journal", True, False, f"{settings.name}: nothing yet; the first aggregator makes it")]
    detail = f"{settings.name}: server {seen.version}, {seen.messages} messages of {seen.size:,} bytes"
    at = "no snapshot yet" if seen.snapshot is None else f"snapshot of record {seen.snapshot.record}"
    found.append(Finding("journal", True, False, f"{detail}, {at}"))
    found += store_findings(seen.stores)
    remedy = "start iotide serve with these settings"
    return [*found, Finding("owner", bool(seen.owner), False, seen.owner or "no aggregator has the jobs", remedy)]


def _inspection(settings: JournalSettings) -> Callable[[], JournalState | None]:
    from ...daemon.journal.jetstream.inspection import inspect_journal

    return lambda: inspect_journal(settings)
