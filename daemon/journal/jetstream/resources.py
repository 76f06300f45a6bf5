"""Resources of a shared journal at its NATS servers: created if missing, otherwise checked."""

from __future__ import annotations

import asyncio
import http.client
import json
import urllib.error
import urllib.request
from typing import Any, Final, NamedTuple

from nats.errors import Error as NatsError
from nats.js import JetStreamContext, api
from nats.js.errors import BucketNotFoundError, NotFoundError
from nats.js.kv import KeyValue
from nats.js.object_store import ObjectStore

from ....events import ConfigError
from ..settings import JournalSettings
from .link import NatsLink
from .readiness import error_for

SAFE_REPLICAS: Final = 3
_SECOND_NS: Final = 1e9
_LEASE_SHARE: Final = 5
_REQUEST_S: Final = 5.0
_MAX_REPLY_BYTES: Final = 1 << 22
MONITOR_ERRORS: Final = (OSError, http.client.HTTPException, ValueError, KeyError, TypeError, AttributeError)
"""Errors of a monitoring address that does not answer, or answers with other data."""


class JournalResources(NamedTuple):
    """The resources."""

    stream: str
    subject: str
    leases: KeyValue
    snapshots: ObjectStore


def stream_names(name: str) -> tuple[str, str]:
    """Return the name of a journal's stream, and its only subject."""
    return f"iotide-journal-{name}", f"iotide.journal.{name}"


def lease_bucket(name: str) -> str:
    """Return the name of the bucket of a journal's lease."""
    return f"iotide-leases-{name}"


def snapshot_bucket(name: str) -> str:
    """Return the name of the object store of a journal's snapshots."""
    return f"iotide-snapshots-{name}"


async def prepare(link: NatsLink, settings: JournalSettings) -> JournalResources:
    """Create missing resources, and return all.

    Raises:
        ServersNotReadyError: the servers elect a leader, or do not answer.
        ConfigError: existing resources are less durable than configured, or the servers refuse.
    """
    stream, subject = stream_names(settings.name)
    jetstream = link.jetstream
    try:
        if settings.replicas < SAFE_REPLICAS:
            await check_sync(settings)
        await _prepare_stream(jetstream, stream, subject, settings)
        bucket = lease_bucket(settings.name)
        try:
            await jetstream.key_value(bucket)
        except (BucketNotFoundError, NotFoundError):
            await jetstream.create_key_value(
                api.KeyValueConfig(bucket, storage=api.StorageType.FILE, replicas=settings.replicas)
            )
        # A server that has just failed does not answer; this must be detected within the lease time.
        leases = await link.client.jetstream(timeout=settings.lease_s / _LEASE_SHARE).key_value(bucket)
        name = snapshot_bucket(settings.name)
        try:
            snapshots = await jetstream.object_store(name)
        except (BucketNotFoundError, NotFoundError):
            snapshots = await jetstream.create_object_store(
                name, config=api.ObjectStoreConfig(storage=api.StorageType.FILE, replicas=settings.replicas)
            )
        for each in (f"KV_{lease_bucket(settings.name)}", f"OBJ_{snapshot_bucket(settings.name)}"):
            check_replicas(each, (await jetstream.stream_info(each)).config, settings)
    except (NatsError, TimeoutError) as error:
        raise error_for(f"JetStream at {', '.join(settings.servers)}", error) from None
    return JournalResources(stream, subject, leases, snapshots)


async def _prepare_stream(jetstream: JetStreamContext, stream: str, subject: str, settings: JournalSettings) -> None:
    try:
        found = (await jetstream.stream_info(stream)).config
    except NotFoundError:
        wanted = api.StreamConfig(
            name=stream,
            subjects=[subject],
            description=f"iotide: what changes the state of the aggregators of journal {settings.name}",
            storage=api.StorageType.FILE,
            num_replicas=settings.replicas,
            discard=api.DiscardPolicy.NEW,
            allow_direct=True,
        )
        found = (await jetstream.add_stream(wanted)).config
    if problem := stream_problem(found, subject):
        raise ConfigError(f"the stream {stream} cannot be the journal: {problem}")
    check_replicas(stream, found, settings)


def stream_problem(config: api.StreamConfig, subject: str) -> str:
    """Return why a stream would lose or change data of a journal. Return "" if it is suitable."""
    if config.subjects != [subject]:
        return f"its subjects are {config.subjects}; expected {subject} alone"
    if config.storage != api.StorageType.FILE:
        return "it is in memory; expected files"
    if config.max_age or (config.max_msgs or -1) > 0 or config.retention not in (None, api.RetentionPolicy.LIMITS):
        return "it drops messages by age, number or readers; expected no such limit"
    if (config.max_bytes or -1) > 0 and config.discard != api.DiscardPolicy.NEW:
        return "it drops its oldest messages when max_bytes is reached; expected discard: new"
    if not config.allow_direct:
        return "its messages cannot be read one by one; expected allow_direct"
    return ""


def check_replicas(stream: str, config: api.StreamConfig, settings: JournalSettings) -> None:
    """Raise ConfigError if a stream has fewer replicas than configured."""
    if (config.num_replicas or 1) < settings.replicas:
        raise ConfigError(
            f"{stream} has {config.num_replicas} replicas; journal.replicas = {settings.replicas} needs more: "
            "raise the stream's replicas with the nats command, or lower the option"
        )


async def check_sync(settings: JournalSettings) -> None:
    """Check that each server syncs messages to disk before it acknowledges them.

    Raises:
        ConfigError: some servers do not, or cannot be queried; the text names all of them.
    """
    if problems := await sync_problems(settings):
        raise ConfigError("; ".join(problems))


async def sync_problems(settings: JournalSettings) -> list[str]:
    """Return why acknowledged messages may not be on disk, one reason per server."""
    if not settings.monitors:
        return [
            f"journal.replicas = {settings.replicas} keeps acknowledged messages only if the servers have "
            "sync_interval: always; list their monitoring addresses in journal.monitors to have that checked, or set "
            f"journal.replicas = {SAFE_REPLICAS}"
        ]
    found = await asyncio.gather(*(_sync_problem(monitor) for monitor in settings.monitors))
    return [problem for problem in found if problem]


async def _sync_problem(monitor: str) -> str:
    address = store_address(monitor)
    try:
        config = (await asyncio.to_thread(monitor_data, address))["config"]
        if config.get("sync_always") is True:
            return ""
        interval_s = float(config.get("sync_interval", 0)) / _SECOND_NS
    except MONITOR_ERRORS as error:
        return f"{address} does not return the server's sync_interval: {error}"
    return (
        f"the server at {monitor} acknowledges messages up to {interval_s:g} s before they are on disk: set "
        f"sync_interval: always, or journal.replicas = {SAFE_REPLICAS}"
    )


def store_address(monitor: str) -> str:
    """Return the address of a server's store settings and use, from its monitoring address."""
    return f"{monitor.rstrip('/')}/jsz?config=true"


def monitor_data(address: str) -> dict[str, Any]:
    """Return the JSON of a monitoring address. Raises OSError, ValueError."""
    with urllib.request.urlopen(address, timeout=_REQUEST_S) as answer:  # noqa: S310 - checked to be http
        found: dict[str, Any] = json.loads(answer.read(_MAX_REPLY_BYTES))
        return found
