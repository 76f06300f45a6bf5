"""Inspection of a cluster at its NATS servers, without joining it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple

from nats.js import JetStreamContext, api
from nats.js.errors import KeyNotFoundError, NotFoundError
from pydantic import ValidationError

from ...events import ConfigError
from ..cluster.members import Member, entries, partitions_in
from ..cluster.workers import journal_of
from ..journal.contract import Position
from ..journal.jetstream.inspection import check_durable, unsynced_servers
from ..journal.jetstream.lease_holder import KEY
from ..journal.jetstream.link import NatsLink, check_version
from ..journal.jetstream.resources import lease_bucket, snapshot_bucket, stream_names
from ..journal.jetstream.snapshots import Snapshots
from ..journal.jetstream.stores import Stores, store_uses
from ..settings import AggregatorSettings


class MemberState(NamedTuple):
    """A member's entry."""

    member: Member
    clock_off_s: float | None
    """Lead of its clock over that of the NATS server that stored the entry, s; None for an earlier version."""


class PartitionState(NamedTuple):
    """State of a partition's journal."""

    owner: str
    """Host and process that has its lease; "" for none."""
    messages: int
    """Messages after the latest snapshot, about."""
    size: int
    """Bytes of these messages."""
    snapshot: Position | None
    late_replicas: tuple[str, ...]
    """Servers whose copy of the journal is behind or offline."""


class ClusterState(NamedTuple):
    """State of a cluster."""

    version: str
    """Version of the answering server."""
    partitions: dict[int, PartitionState | None]
    """None: the partition has never had an owner."""
    members: dict[str, MemberState]
    analyzer: str
    """Host and process that analyzes contention; "" for none."""
    stores: Stores = Stores()
    """Use of limited stores."""
    unsynced: tuple[str, ...] = ()
    """Reasons why acknowledged messages may not be on disk."""


def inspect_cluster(settings: AggregatorSettings) -> ClusterState | None:
    """Return the state of a cluster, or None if it does not exist.

    Raises:
        ConfigError: the servers do not answer or are too old, or the cluster has another number of partitions.
    """
    link = NatsLink(settings.journal)
    try:
        return link.call(_inspect(link, settings))
    finally:
        link.close()


async def _inspect(link: NatsLink, settings: AggregatorSettings) -> ClusterState | None:
    version = check_version(link.client)
    unsynced = await unsynced_servers(settings.journal)
    name, count = settings.journal.name, settings.cluster.partitions
    jetstream = link.jetstream
    try:
        found = partitions_in((await jetstream.stream_info(f"KV_iotide-members-{name}")).config)
    except NotFoundError:
        check_durable(unsynced)
        return None
    if found != count:
        raise ConfigError(f"the cluster {name} has {found} partitions; cluster.partitions = {count} differs")
    members = {}
    for each, message in (await entries(jetstream, f"iotide-members-{name}")).items():
        try:
            member = Member.model_validate(json.loads(message.data or b"null"))
        except (ValueError, ValidationError):  # a removed entry
            continue
        stored_s = None if message.time is None else message.time.timestamp()
        off_s = member.clock_s - stored_s if member.clock_s and stored_s is not None else None
        members[each] = MemberState(member, off_s)
    partitions = {number: await _partition(jetstream, journal_of(name, number)) for number in range(count)}
    analyzer = await _holder(jetstream, f"iotide-contention-{name}")
    streams = [await jetstream.stream_info(stream_names(journal_of(name, each))[0]) for each in _started(partitions)]
    stores = await store_uses(jetstream, settings.journal, streams)
    return ClusterState(version, partitions, members, analyzer, stores, unsynced)


def _started(partitions: Mapping[int, PartitionState | None]) -> list[int]:
    return [number for number, each in partitions.items() if each is not None]


async def _partition(jetstream: JetStreamContext, name: str) -> PartitionState | None:
    try:
        info = await jetstream.stream_info(stream_names(name)[0])
    except NotFoundError:
        return None
    bucket = snapshot_bucket(name)
    try:
        kept = await Snapshots(jetstream, await jetstream.object_store(bucket), bucket).list_stored()
    except NotFoundError:
        kept = []
    at = kept[-1].at if kept else None
    owner = await _holder(jetstream, lease_bucket(name))
    return PartitionState(owner, info.state.messages, info.state.bytes, at, _late(info.cluster))


def _late(cluster: api.ClusterInfo | None) -> tuple[str, ...]:
    replicas = (cluster.replicas if cluster is not None else None) or []
    return tuple(each.name or "?" for each in replicas if each.offline or not each.current)


async def _holder(jetstream: JetStreamContext, bucket: str) -> str:
    try:
        entry = await (await jetstream.key_value(bucket)).get(KEY)
    except (KeyNotFoundError, NotFoundError):
        return ""
    return (entry.value or b"").decode(errors="replace").rpartition(":")[0]
