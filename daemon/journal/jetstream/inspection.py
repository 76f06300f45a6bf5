"""Inspection of a journal without creating anything or taking a lease."""

from __future__ import annotations

from typing import NamedTuple

from nats.js.errors import KeyNotFoundError, NotFoundError

from ....events import ConfigError
from ..contract import Position
from ..settings import JournalSettings
from .lease_holder import KEY
from .link import NatsLink, check_version
from .resources import (
    SAFE_REPLICAS,
    check_replicas,
    lease_bucket,
    snapshot_bucket,
    stream_names,
    stream_problem,
    sync_problems,
)
from .snapshots import Snapshots
from .stores import Stores, store_uses


class JournalState(NamedTuple):
    """State of a journal at the servers."""

    version: str
    """Version of the answering server."""
    owner: str
    """Host and process of the aggregator that owns the jobs; "" for none."""
    messages: int
    size: int
    """Bytes of the stream."""
    snapshot: Position | None
    """Position of the latest snapshot."""
    stores: Stores = Stores()
    """Use of limited stores."""
    unsynced: tuple[str, ...] = ()
    """Reasons why acknowledged messages may not be on disk."""


def inspect_journal(settings: JournalSettings) -> JournalState | None:
    """Return the state of a journal, or None if it does not exist.

    Raises:
        ConfigError: the servers do not answer, are too old, or have fewer replicas than configured.
    """
    link = NatsLink(settings)
    try:
        return link.call(_inspect(link, settings))
    finally:
        link.close()


async def unsynced_servers(settings: JournalSettings) -> tuple[str, ...]:
    """Return why acknowledged messages may not be on disk; empty with enough replicas."""
    return tuple(await sync_problems(settings)) if settings.replicas < SAFE_REPLICAS else ()


def check_durable(unsynced: tuple[str, ...]) -> None:
    """Raise ConfigError if acknowledged messages may not be on disk."""
    if unsynced:
        raise ConfigError("; ".join(unsynced))


async def _inspect(link: NatsLink, settings: JournalSettings) -> JournalState | None:
    version = check_version(link.client)
    unsynced = await unsynced_servers(settings)
    jetstream = link.jetstream
    stream, subject = stream_names(settings.name)
    try:
        info = await jetstream.stream_info(stream)
    except NotFoundError:
        check_durable(unsynced)
        return None
    if problem := stream_problem(info.config, subject):
        raise ConfigError(f"the stream {stream} cannot be the journal: {problem}")
    names = f"KV_{lease_bucket(settings.name)}", f"OBJ_{snapshot_bucket(settings.name)}"
    infos = [info, *[await jetstream.stream_info(name) for name in names]]
    for each in infos:
        check_replicas(each.config.name or "", each.config, settings)
    try:
        entry = await (await jetstream.key_value(lease_bucket(settings.name))).get(KEY)
        owner = (entry.value or b"").decode(errors="replace").rpartition(":")[0]
    except KeyNotFoundError:
        owner = ""
    bucket = snapshot_bucket(settings.name)
    kept = await Snapshots(jetstream, await jetstream.object_store(bucket), bucket).list_stored()
    at = kept[-1].at if kept else None
    stores = await store_uses(jetstream, settings, infos)
    return JournalState(version, owner, info.state.messages, info.state.bytes, at, stores, unsynced)
