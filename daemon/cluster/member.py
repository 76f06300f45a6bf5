"""One machine's member of a cluster. It has its processes, its gateway, and its entry for the other members."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import secrets
import socket
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Any, Final, TypeAlias, TypeVar

import zmq.asyncio
from nats.errors import Error as NatsError

from ...events.network.descriptors import ListenerGuards
from ..access.access import Access
from ..background_tasks import run_forever, wait_for_first
from ..journal.jetstream.lease_holder import release_lease_of
from ..journal.jetstream.link import NatsLink
from ..journal.jetstream.readiness import error_text, retry_until_ready
from ..journal.jetstream.resources import SAFE_REPLICAS, check_sync, lease_bucket
from ..settings import AggregatorSettings
from .gateway import Gateway
from .members import Member, Members, Worker, open_members, without_stale_claims
from .partitions import TOKEN_VARIABLE, ended_partitions, plan
from .prediction_relay import Relay
from .workers import Workers, journal_of

_log = logging.getLogger(__name__)
_T = TypeVar("_T")
_CHECK_S: Final = 0.25
"""Interval of checks of the descriptors, s."""
_KEYS_S: Final = 1.0
"""Interval of checks of key files, s."""
_TOKEN_BYTES: Final = 32
_RELEASE_S: Final = 2.0
"""Time for the release of leases of crashed processes before the connection is closed, s."""
_CHECKS_PER_LEASE: Final = 8
"""Number of checks of the other members per lease time."""


Command: TypeAlias = Callable[[int], tuple[Sequence[str], Mapping[str, str]]]


async def join(settings: AggregatorSettings, command: Command) -> ClusterMember:
    """Connect to the NATS servers, and return a member that does not listen yet. Raises ConfigError."""
    journal = settings.journal
    if journal.replicas < SAFE_REPLICAS:
        await check_sync(journal)
    link = await asyncio.to_thread(NatsLink, journal)
    try:
        members = await asyncio.wrap_future(
            link.begin(retry_until_ready(lambda: open_members(link, journal, settings.cluster.partitions)))
        )
    except BaseException:
        await asyncio.to_thread(link.close)
        raise
    return ClusterMember(settings, link, members, command)


class ClusterMember:
    """Runs the processes of this machine's partitions, as planned, and routes collectors to all owners.

    Args:
        settings: settings of the cluster and of the processes.
        link: connection to the NATS servers; closed by the member.
        members: members of the cluster.
        command: returns command and environment of a partition's process.

    Attributes:
        name: name in the cluster.
        token: token for internal paths of this member and of its processes.
        access: access control of collectors, subscribers and users.
        renew_http: reads the certificate of HTTP again if it has changed.
        on_owners: called when the owners of partitions may have changed.
        members: the known members.
        read_s: duration of the last read of the members, s.
        counters: counters of the gateway and of the processes.

    Raises:
        ConfigError: a setting cannot be used.
    """

    def __init__(self, settings: AggregatorSettings, link: NatsLink, members: Members, command: Command) -> None:
        self.settings = settings
        self.name = f"{socket.gethostname().replace('.', '-')}-{os.getpid()}-{secrets.token_hex(4)}"
        self.token = secrets.token_hex(_TOKEN_BYTES)
        self.members: dict[str, Member] = {}
        self.http_url: str | None = None
        self.renew_http: Callable[[], None] = lambda: None
        self.on_owners: Callable[[], None] = lambda: None
        self.publish_endpoint: str | None = None
        self._relay: Relay | None = None
        self._context = zmq.asyncio.Context()
        self._context.set(zmq.MAX_SOCKETS, 65_536 - 1)
        self._endpoint = ""
        self._others: list[str] = []
        self.counters: Counter[str] = Counter()
        self._guards = ListenerGuards(self.counters)
        self.access = Access(settings.access, lambda _: None, self.counters)
        bounds = settings.bounds
        self.gateway = Gateway(
            self._context,
            settings.ingest,
            settings.cluster.partitions,
            max_streams=bounds.max_streams,
            forget_after_s=bounds.forget_after_s,
            allow_plaintext=bounds.allow_plaintext,
            access=self.access,
            connections_per_peer=bounds.connections_per_peer,
            counters=self.counters,
        )

        def command_with_token(number: int) -> tuple[Sequence[str], Mapping[str, str]]:
            words, environment = command(number)
            return words, {**environment, TOKEN_VARIABLE: self.token}

        self.workers = Workers(command_with_token, settings.cluster.watchdog_s, self.counters, self._release_later)
        self._releasing: set[asyncio.Task[None]] = set()
        self.read_s = 0.0
        self.not_ready_because = "it has not seen the other members yet"
        self._link, self._known = link, members

    def bind(self) -> str:
        """Listen for collectors and subscribers; return the endpoint for collectors. Raises ConfigError."""
        self.access.load(self._context)
        if self.settings.publish is not None:
            self._relay = Relay(
                self._context,
                self.settings.publish,
                self.access,
                behind=self.settings.publish_behind,
                counters=self.counters,
                allow_remote=self.settings.allow_remote,
            )
            self.publish_endpoint = self._relay.endpoint
            self._guards.add("publish", self._relay.endpoint, self._relay)
        self._endpoint = self.gateway.bind()
        self._guards.add("ingest", self._endpoint, self.gateway)
        return self._endpoint

    async def run(self) -> None:
        """Run until cancelled."""
        work: dict[str, Callable[[], Awaitable[None]]] = {
            "ingest": self.gateway.run,
            "members": self._maintain,
            "peers": lambda: self.gateway.peers.run(self._endpoint),
            "keys": self._run_listener_guards,
        }
        if self._relay is not None:
            work["publish"] = self._relay.run
        if self.access.is_encrypted:
            work["access"] = self.access.run
        await wait_for_first(
            [asyncio.create_task(run_forever(name, each, self.counters)) for name, each in work.items()]
        )

    async def stop(self) -> None:
        """End the processes in order and leave the cluster. Others can then take over at once."""
        with contextlib.suppress(NatsError, TimeoutError):
            await self._on_link(self._known.remove(self.name))
        await self.workers.stop(self.settings.stop_within_s)
        if self._releasing:
            await asyncio.wait(self._releasing, timeout=_RELEASE_S)
        self._guards.close()
        self.gateway.close()
        if self._relay is not None:
            self._relay.close()
        self.access.close()
        await asyncio.to_thread(self._link.close)
        self._context.term()

    def not_ready(self) -> str:
        """Return why collectors and users cannot be served now, or ""."""
        return self.not_ready_because

    async def _run_listener_guards(self) -> None:
        next_keys_s = time.monotonic()
        while True:
            await asyncio.sleep(_CHECK_S)
            now_s = time.monotonic()
            if now_s >= next_keys_s:
                next_keys_s = now_s + _KEYS_S
                if self.access.projects is not None:
                    await asyncio.to_thread(self.access.projects.renew)  # the name service may be slow
                if self.access.reload():  # all peers authenticate again
                    self._guards.renew()
                self.renew_http()
            self._guards.check(now_s)

    def _key(self) -> str:
        keys = self.access.keys_of_members()
        return "" if keys is None else keys.server.decode()

    def _compare_keys(self, members: Mapping[str, Member]) -> None:
        """Log members that cannot exchange messages of collectors with this one."""
        others = sorted(name for name, member in members.items() if not self.access.is_of_member(member.key))
        if others and others != self._others:
            _log.error(
                "members with another access.key than this one: %s; messages of collectors do not reach their "
                "partitions; set the same key at all members, or list both keys with the permission member",
                ", ".join(others),
            )
        self._others = others

    async def _maintain(self) -> None:
        seen: dict[str, Member] = {}
        seen_since_s = time.monotonic()
        lease_s = self.settings.journal.lease_s
        is_away = False
        while True:
            serving = {
                number: Worker(ingest=each.ingest, started=each.started, epoch=each.epoch)
                for number, each in self.workers.serving.items()
            }
            key = self._key()
            own = Member(
                http=self.http_url,
                serves=serving,
                waits=self.workers.waiting,
                key=key,
                token=self.token,
                clock_s=time.time(),
            )
            try:
                await self._on_link(self._known.put(self.name, own))
                begun_s = time.monotonic()
                found = await self._on_link(self._known.read())
                self.read_s = time.monotonic() - begun_s
            except (NatsError, TimeoutError) as error:
                if not is_away:
                    _log.warning("the list of cluster members cannot be read: %s; retrying", error_text(error))
                is_away = True
                self.not_ready_because = "the NATS servers do not answer"
            else:
                if is_away:
                    _log.warning("the list of cluster members can be read again")
                is_away = False
                self.not_ready_because = ""
                found[self.name] = own
                found = without_stale_claims(found)
                for number in own.serves.keys() - found[self.name].serves.keys():
                    self.workers.kill_replaced(number)
                if found.keys() != seen.keys():
                    seen_since_s = time.monotonic()
                seen = found
                self.members = found
                self._compare_keys(found)
                self.gateway.set_owners(owners_of(found), keys_of_owners(found))
                # After an outage of all servers, keys reappear one by one: a missing key is no loss for a while.
                if time.monotonic() - seen_since_s >= lease_s / 2:
                    self._apply_plan(found)
            self.workers.run((), ())
            self.on_owners()
            if self._relay is not None:
                self._relay.follow(each.publish for each in self.workers.serving.values())
            await asyncio.sleep(lease_s / _CHECKS_PER_LEASE)

    def _apply_plan(self, found: Mapping[str, Member]) -> None:
        held = {name: set(member.serves) for name, member in found.items()}
        parts = plan(held, self.settings.cluster.partitions)
        mine = parts[self.name]
        elsewhere = {
            number
            for name, member in found.items()
            if name != self.name
            for number in parts[name].serves & (member.waits | member.serves.keys())
        }
        wanted = mine.serves | mine.standby
        # A partition planned for another member ends here when that member can take over at once.
        served = self.workers.serving.keys()
        ends = ended_partitions(self.workers.pids.keys(), served, held[self.name], mine, elsewhere)
        self.workers.run(wanted - ends, ends)

    def _release_later(self, number: int, pid: int) -> None:
        task = asyncio.create_task(self._release_lease(number, pid))
        self._releasing.add(task)
        task.add_done_callback(self._releasing.discard)

    async def _release_lease(self, number: int, pid: int) -> None:
        """Release the lease of a partition whose process has crashed. Otherwise the next one waits for its end."""
        bucket = lease_bucket(journal_of(self.settings.journal.name, number))

        async def release() -> bool:
            return await release_lease_of(await self._link.jetstream.key_value(bucket), pid)

        try:
            if await self._on_link(release()):
                _log.warning("partition %d: the lease of its crashed process was released", number)
        except (NatsError, TimeoutError) as error:  # it expires
            _log.warning("partition %d: the lease was not released: %s", number, error_text(error))

    async def _on_link(self, work: Coroutine[Any, Any, _T]) -> _T:
        return await asyncio.wrap_future(self._link.begin(work))


def keys_of_owners(members: Mapping[str, Member]) -> dict[int, str]:
    """Return the public key of the member of each partition's owner, as ``owners_of`` selects it."""
    return {number: members[name].key for name in sorted(members) for number in members[name].serves}


def owners_of(members: Mapping[str, Member]) -> dict[int, Worker]:
    """Return the owner of each partition. During a hand-over, when two claim it, one of them."""
    return {number: worker for name in sorted(members) for number, worker in sorted(members[name].serves.items())}
