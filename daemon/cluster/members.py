"""Members of a cluster, one key per member in a JetStream bucket. A key expires unless it is renewed."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections.abc import Mapping
from typing import Any, Final

from nats.errors import Error as NatsError
from nats.js import JetStreamContext, api
from nats.js.errors import BucketNotFoundError, NotFoundError
from nats.js.kv import KeyValue
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ...events import ConfigError
from ..journal.jetstream.link import NatsLink
from ..journal.jetstream.readiness import error_for
from ..journal.settings import JournalSettings

_ANSWER_SHARE: Final = 3
"""Fraction 1/n of the lease time to wait for an answer."""
_BUCKET_DESCRIPTION: Final = re.compile(r"iotide: members; partitions=([0-9]+)")
_MAX_MEMBERS: Final = 256


class Worker(BaseModel):
    """The process that serves a partition."""

    model_config = ConfigDict(frozen=True)

    ingest: str
    """Endpoint for gateways."""
    started: str
    """Unique id of the process."""
    epoch: int = 0
    """Epoch of its journal: a process that takes a partition over has a higher epoch."""


class Member(BaseModel):
    """Entry of a member."""

    model_config = ConfigDict(frozen=True)

    http: str | None
    """URL of its pages and API; None without HTTP."""
    serves: dict[int, Worker] = Field(default_factory=dict)
    """By partition."""
    waits: frozenset[int] = frozenset()
    """Partitions that it can take over at once."""
    clock_s: float = 0.0
    """Time of its clock when it wrote the entry, s since the Unix epoch."""
    key: str = ""
    """Its public CURVE key, which must be that of all members or listed as a member's; "" without CURVE."""
    token: str = ""
    """Token that other members send with requests for its internal paths; "" for an earlier version."""


class Members:
    """The bucket, as returned by ``open_members``. All calls must run in the connection's loop."""

    def __init__(self, jetstream: JetStreamContext, keys: KeyValue, bucket: str) -> None:
        self._jetstream, self._keys, self._bucket = jetstream, keys, bucket

    async def put(self, name: str, member: Member) -> None:
        """Write or renew a member's entry. Raises NatsError, TimeoutError."""
        await self._keys.put(name, member.model_dump_json().encode())

    async def remove(self, name: str) -> None:
        """Remove a member's entry."""
        await self._keys.delete(name)

    async def read(self) -> dict[str, Member]:
        """Return the members by name. Raises NatsError, TimeoutError."""
        found = {}
        for name, message in (await entries(self._jetstream, self._bucket)).items():
            # Other data is the mark of a removed entry, or an entry of a later version.
            with contextlib.suppress(ValueError, ValidationError):
                found[name] = Member.model_validate(json.loads(message.data or b"null"))
        return found


async def entries(jetstream: JetStreamContext, bucket: str) -> dict[str, api.RawStreamMsg]:
    """Return the messages of all members by name, also marks of removed entries. Raises NatsError, TimeoutError."""
    stream, prefix = f"KV_{bucket}", f"$KV.{bucket}."

    async def entry(subject: str) -> api.RawStreamMsg | None:
        try:
            return await jetstream.get_last_msg(stream, subject)
        except NotFoundError:  # it was removed in between
            return None

    about = await jetstream.stream_info(stream, subjects_filter=f"{prefix}>")
    subjects = sorted(about.state.subjects or {})[:_MAX_MEMBERS]
    messages = await asyncio.gather(*map(entry, subjects))
    both = zip(subjects, messages, strict=True)
    return {subject.removeprefix(prefix): message for subject, message in both if message is not None}


def partitions_in(config: api.StreamConfig) -> int | None:
    """Return the number of partitions of a cluster, from the bucket of its members; None if it is another bucket."""
    found = _BUCKET_DESCRIPTION.fullmatch(config.description or "")
    return None if found is None else int(found[1])


async def open_members(link: NatsLink, settings: JournalSettings, partitions: int) -> Members:
    """Create the bucket, or check an existing one.

    Args:
        link: connection in whose loop this must run.
        settings: name of the shared journal, and the replicas.
        partitions: number of partitions; fixed by the first member.

    Raises:
        ServersNotReadyError: the servers elect a leader, or do not answer.
        ConfigError: the bucket cannot be used, or has another number of partitions.
    """
    bucket = f"iotide-members-{settings.name}"
    jetstream = link.jetstream
    try:
        try:
            await jetstream.key_value(bucket)
        except (BucketNotFoundError, NotFoundError):
            await jetstream.create_key_value(
                api.KeyValueConfig(
                    bucket,
                    description=f"iotide: members; partitions={partitions}",
                    ttl=settings.lease_s,
                    storage=api.StorageType.FILE,
                    replicas=settings.replicas,
                )
            )
        config = (await jetstream.stream_info(f"KV_{bucket}")).config
    except (NatsError, TimeoutError) as error:
        raise error_for(f"the bucket {bucket}", error) from None
    found = partitions_in(config)
    if found != partitions:
        has = f"{found} partitions" if found else f"no number of partitions ({config.description!r})"
        raise ConfigError(
            f"the cluster {settings.name} has {has}; cluster.partitions = {partitions} differs, and "
            "jobs would be in other partitions; use the number of the cluster"
        )
    member_context = link.client.jetstream(timeout=settings.lease_s / _ANSWER_SHARE)
    return Members(member_context, await member_context.key_value(bucket), bucket)


def without_stale_claims(members: Mapping[str, Member]) -> dict[str, Member]:
    """Return members without the claims of processes that have lost their partition. Such processes do not know it yet.

    A process that hangs goes on to claim its partition after another one has taken over.
    """
    latest: dict[int, int] = {}
    for member in members.values():
        for number, worker in member.serves.items():
            latest[number] = max(latest.get(number, 0), worker.epoch)
    return {
        name: member.model_copy(
            update={"serves": {n: each for n, each in member.serves.items() if each.epoch == latest[n]}}
        )
        for name, member in members.items()
    }


def public_data(member: Member) -> dict[str, Any]:
    """Return the public data of a member."""
    found = {"http": member.http, "serves": sorted(member.serves), "stands_by": sorted(member.waits)}
    return {**found, "key": member.key}
