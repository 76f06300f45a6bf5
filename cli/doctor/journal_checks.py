"""Checks of ``iotide doctor --journal``: durability of acknowledged messages at the NATS servers."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from ...daemon.journal.settings import JournalSettings
from ...daemon.settings import load_settings
from ...events import ConfigError
from .checks import Finding

_REMEDY: Final = "see docs/failover.md"


def journal_findings(config: Path) -> list[Finding]:
    """Check the servers in the settings of ``iotide serve``; raise ConfigError if these are invalid."""
    given = load_settings(config, os.environ)
    settings = given.journal
    if given.cluster.on:
        from .partition_checks import partition_findings

        return partition_findings(given)
    if not settings.servers:
        raise ConfigError(f"{config}: journal.servers names none; expected NATS servers")
    try:
        from ...daemon.journal.jetstream.inspection import inspect_journal
    except ImportError:
        return [Finding("nats-py", False, True, "it is not installed", "pip install 'iotide[jetstream]'")]
    try:
        seen = inspect_journal(settings)
    except ConfigError as error:
        return [Finding("NATS servers", False, True, str(error), _REMEDY)]
    except Exception as error:  # any exception of the library
        return [Finding("NATS servers", False, True, str(error) or repr(error), _REMEDY)]
    found = [Finding("NATS servers", True, True, servers_text(settings))]
    if seen is None:
        return [*found, Finding("journal", True, False, f"{settings.name}: nothing yet; the first aggregator makes it")]
    detail = f"{settings.name}: server {seen.version}, {seen.messages} messages of {seen.size:,} bytes"
    at = "no snapshot yet" if seen.snapshot is None else f"snapshot of record {seen.snapshot.record}"
    found.append(Finding("journal", True, False, f"{detail}, {at}"))
    remedy = "start iotide serve with these settings"
    return [*found, Finding("owner", bool(seen.owner), False, seen.owner or "no aggregator has the jobs", remedy)]


def servers_text(settings: JournalSettings) -> str:
    """Return the servers and the durability of acknowledged messages, as checked."""
    kept = f"{settings.replicas} replicas" + ("" if settings.replicas > 1 else ", synced before they are acknowledged")
    return f"{', '.join(settings.servers)}; {kept}"
