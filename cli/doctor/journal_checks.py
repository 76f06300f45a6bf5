"""Checks of ``iotide doctor --journal``: the NATS servers, the journal of one aggregator, the members of a cluster."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from ...daemon.journal.settings import JournalSettings
from ...daemon.settings import AggregatorSettings, load_settings
from ...events import ConfigError
from .checks import Finding, extra

if TYPE_CHECKING:
    from ...daemon.inspection.cluster_inspection import ClusterState, PartitionState
    from ...daemon.journal.jetstream.inspection import JournalState
    from ...daemon.journal.jetstream.stores import Stores

_T = TypeVar("_T")
_REMEDY: Final = "see docs/failover.md"
_FULL_BYTES: Final = 1 << 20
"""Free bytes of a store below which it is full: the size of a message of the journal."""
_NEARLY_FULL: Final = 0.9
"""Used share of a store that is reported."""
_CLOCK_S: Final = 1.0
"""Difference of clocks that is reported, s: predictions name times by the clock of the partition's member."""


class UnusableServersError(Exception):
    """The servers cannot be inspected; ``finding`` has the reason."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.detail)
        self.finding = finding


def inspect_servers(load: Callable[[], Callable[[], _T]]) -> _T:
    """Return the result of an inspection.

    Args:
        load: imports the inspection and returns it.

    Raises:
        UnusableServersError: the client library is missing, or the servers cannot be used.
    """
    try:
        inspect = load()
    except ImportError:
        missing = Finding("nats-py", False, True, "it is not installed", extra("jetstream"))
        raise UnusableServersError(missing) from None
    try:
        return inspect()
    except ConfigError as error:
        raise UnusableServersError(Finding("NATS servers", False, True, str(error), _REMEDY)) from None
    except Exception as error:  # any exception of the library
        text = str(error) or repr(error)
        raise UnusableServersError(Finding("NATS servers", False, True, text, _REMEDY)) from None


def server_findings(servers: Sequence[str], replicas: int, unsynced: Sequence[str]) -> list[Finding]:
    """Return the findings on usable servers: their addresses, and the durability of acknowledged messages."""
    if unsynced:
        return [Finding("NATS servers", False, True, problem, _REMEDY) for problem in unsynced]
    kept = f"{replicas} replicas" + ("" if replicas > 1 else ", synced before they are acknowledged")
    return [Finding("NATS servers", True, True, f"{', '.join(servers)}; {kept}")]


def store_findings(stores: Stores) -> list[Finding]:
    """Return a finding per store that is unknown, faulty, full or nearly full. Return one for all if there is none."""
    remedy = "start this server, or correct journal.monitors"
    found, most = [Finding("NATS store", False, False, problem, remedy) for problem in stores.unknown], 0.0
    remedy = "see the log of this server; if its disk was full, free space and restart it"
    found += [Finding("NATS store", False, False, fault, remedy) for fault in stores.unhealthy]
    for each in stores.limited:
        used = each.used / each.limit
        most = max(most, used)
        is_full = each.limit - each.used < _FULL_BYTES
        if is_full or used >= _NEARLY_FULL:
            state = "full, and nothing is acknowledged" if is_full else "nearly full"
            detail = f"{each.name} is {state}: {each.used:,} of {each.limit:,} bytes"
            found.append(
                Finding("NATS store", False, is_full, detail, f"raise {each.option}, and reload the server; {_REMEDY}")
            )
    return found or [Finding("NATS store", True, False, f"at most {most:.0%} of a store is used")]


def partition_findings(settings: AggregatorSettings) -> list[Finding]:
    """Check the NATS servers, the members and the partitions of a cluster."""
    try:
        seen = inspect_servers(lambda: _inspection(settings))
    except UnusableServersError as error:
        return [error.finding]
    journal = settings.journal
    found = server_findings(journal.servers, journal.replicas, () if seen is None else seen.unsynced)
    if seen is None:
        detail = f"{journal.name}: nothing yet; the first member makes it"
        return [*found, Finding("cluster", False, True, detail, "start iotide serve with these settings")]
    return [*found, *store_findings(seen.stores), *findings_of(seen, settings.access.principals)]


def _inspection(settings: AggregatorSettings) -> Callable[[], ClusterState | None]:
    from ...daemon.inspection.cluster_inspection import inspect_cluster

    return lambda: inspect_cluster(settings)


def findings_of(seen: ClusterState, principals: Path | None = None) -> list[Finding]:
    """Return the findings on a cluster. ``principals`` lists the keys of a change of its key."""
    names = ", ".join(f"{name} ({each.member.http or 'no HTTP'})" for name, each in sorted(seen.members.items()))
    found = [Finding("members", bool(seen.members), True, names or "none", "start iotide serve with these settings")]
    if seen.members:
        found += [_keys(seen, principals), _clocks(seen)]
    remedy = "see the log of the members; docs/runbooks.md"
    analyzer = seen.analyzer or "no process analyzes it"
    found.append(Finding("contention", bool(seen.analyzer), False, analyzer, f"contention.enabled, or {remedy}"))
    for number, partition in sorted(seen.partitions.items()):
        serving = [name for name, each in sorted(seen.members.items()) if number in each.member.serves]
        waiting = [name for name, each in sorted(seen.members.items()) if number in each.member.waits]
        found += _partition(number, partition, serving, waiting, has_others=len(seen.members) > 1)
    return found


def _keys(seen: ClusterState, principals: Path | None) -> Finding:
    keys = {each.member.key for each in seen.members.values()}
    if len(keys) == 1:
        return Finding("keys", True, True, "the same access.key at all members" if keys != {""} else "no access.key")
    try:
        listed = set() if principals is None else _listed_members(principals)
    except ConfigError as error:
        return Finding("keys", False, True, str(error), "correct this list, at all members")
    if keys <= listed:
        return Finding("keys", True, False, f"{len(keys)} keys, all listed with the permission member, during a change")
    owners = "; ".join(f"{name}: {each.member.key or 'none'}" for name, each in sorted(seen.members.items()))
    return Finding("keys", False, True, f"members have different keys: {owners}", "set the same access.key at all")


def _listed_members(principals: Path) -> set[str]:
    from ...daemon.access.principals import read_principals

    listed = read_principals(principals).listed
    return {each.key for each in listed if each.key is not None and each.allows("member")}


def _clocks(seen: ClusterState) -> Finding:
    off = {name: each.clock_off_s for name, each in seen.members.items() if each.clock_off_s is not None}
    late = {name: off_s for name, off_s in sorted(off.items()) if abs(off_s) > _CLOCK_S}
    if late:
        offsets = ", ".join(f"{name}: {off_s:+.1f} s" for name, off_s in late.items())
        return Finding(
            "clocks", False, False, f"they differ from the NATS server's: {offsets}", "synchronize them (NTP)"
        )
    most_s = max((abs(off_s) for off_s in off.values()), default=0.0)
    return Finding("clocks", True, False, f"within {max(most_s, 0.01):.2f} s of the NATS server's")


def _partition(
    number: int, partition: PartitionState | None, serving: list[str], waiting: list[str], *, has_others: bool
) -> list[Finding]:
    name = f"partition {number}"
    if not serving or partition is None:
        detail = "no member serves it" + (f"; {partition.owner} has the lease" if partition and partition.owner else "")
        return [Finding(name, False, True, detail, "wait for journal.lease_s; then see the log of the members")]
    at = partition.snapshot
    since = "in the journal, no snapshot yet" if at is None else f"after the snapshot of record {at.record}"
    process = partition.owner.rpartition(":")[2] or "unknown"
    standby = f"standby {waiting[0]}" if waiting else "no standby"
    journal = f"{partition.messages:,} messages of {partition.size:,} bytes {since}"
    detail = f"{serving[0]}, process {process}; {standby}; {journal}"
    found = [Finding(name, True, True, detail)]
    if has_others and not waiting:
        found.append(Finding(f"{name} standby", False, False, "no member stands by", "a standby starts within seconds"))
    if partition.late_replicas:
        late = ", ".join(partition.late_replicas)
        found.append(
            Finding(
                f"{name} replicas", False, False, f"replicas are behind at {late}", "see the log of these NATS servers"
            )
        )
    return found


def journal_findings(config: Path) -> list[Finding]:
    """Check the servers in the settings of ``iotide serve``; raise ConfigError if these are invalid."""
    given = load_settings(config, os.environ)
    settings = given.journal
    if given.cluster.on:
        return partition_findings(given)
    if not settings.servers:
        raise ConfigError(f"{config}: journal.servers names none; expected NATS servers")
    try:
        seen = inspect_servers(lambda: _journal_inspection(settings))
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


def _journal_inspection(settings: JournalSettings) -> Callable[[], JournalState | None]:
    from ...daemon.journal.jetstream.inspection import inspect_journal

    return lambda: inspect_journal(settings)
