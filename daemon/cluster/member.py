"""One machine's member of a cluster: its processes, its gateway, and its entry for the other members."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import secrets
import socket
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, Final, TypeAlias, TypeVar

import zmq.asyncio
from nats.errors import Error as NatsError

from ..background_tasks import until_one_ends
from ..journal.jetstream.link import NatsLink
from ..journal.jetstream.readiness import reason_of, when_ready
from ..journal.jetstream.resources import SAFE_REPLICAS, check_sync
from ..settings import AggregatorSettings
from .gateway import Gateway
from .members import Member, Members, Worker, open_members, settled
from .partitions import plan
from .publishing import Relay
from .workers import Workers

_log = logging.getLogger(__name__)
_T = TypeVar("_T")
_TURNS: Final = 8
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
            link.begin(when_ready(lambda: open_members(link, journal, settings.cluster.partitions)))
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
        members: the known members.
        read_s: duration of the last read of the members, s.
        counters: counters of the gateway and of the processes.

    Raises:
        ConfigError: a setting cannot be used.
    """

    def __init__(self, settings: AggregatorSettings, link: NatsLink, members: Members, command: Command) -> None:
        self.settings = settings
        self.name = f"{socket.gethostname().replace('.', '-')}-{os.getpid()}-{secrets.token_hex(4)}"
        self.members: dict[str, Member] = {}
        self.http_url: str | None = None
        self.publish_endpoint: str | None = None
        self._relay: Relay | None = None
        self._context = zmq.asyncio.Context()
        self._context.set(zmq.MAX_SOCKETS, 65_536 - 1)
        bounds = settings.bounds
        self.gateway = Gateway(
            self._context,
            settings.ingest,
            settings.cluster.partitions,
            max_streams=bounds.max_streams,
            forget_after_s=bounds.forget_after_s,
            allow_plaintext=bounds.allow_plaintext,
        )
        self.counters: Counter[str] = self.gateway.routes.counters
        self.workers = Workers(command, settings.cluster.watchdog_s, self.counters)
        self.read_s = 0.0
        self.not_ready_because = "it has not seen the other members yet"
        self._link, self._known = link, members

    def bind(self) -> str:
        """Listen for collectors and subscribers; return the endpoint for collectors. Raises ConfigError."""
        if self.settings.publish is not None:
            self._relay = Relay(self._context, self.settings.publish, allow_remote=self.settings.allow_remote)
            self.publish_endpoint = self._relay.endpoint
        return self.gateway.bind()

    async def run(self) -> None:
        """Run until cancelled."""
        tasks = [asyncio.create_task(self.gateway.run()), asyncio.create_task(self._look_after())]
        if self._relay is not None:
            tasks.append(asyncio.create_task(self._relay.run()))
        await until_one_ends(tasks)

    async def stop(self) -> None:
        """End the processes in order, so that others can take over at once, and leave the cluster."""
        with contextlib.suppress(NatsError, TimeoutError):
            await self._asked(self._known.leave(self.name))
        await self.workers.stop(self.settings.stop_within_s)
        self.gateway.close()
        if self._relay is not None:
            self._relay.close()
        await asyncio.to_thread(self._link.close)
        self._context.term()

    def not_ready(self) -> str:
        """Return why collectors and users cannot be served now, or ""."""
        return self.not_ready_because

    async def _look_after(self) -> None:
        seen: dict[str, Member] = {}
        seen_since_s = time.monotonic()
        lease_s = self.settings.journal.lease_s
        is_away = False
        while True:
            serving = {
                number: Worker(ingest=each.ingest, started=each.started, epoch=each.epoch)
                for number, each in self.workers.serving.items()
            }
            own = Member(http=self.http_url, serves=serving, waits=self.workers.waiting)
            try:
                await self._asked(self._known.tell(self.name, own))
                begun_s = time.monotonic()
                found = await self._asked(self._known.read())
                self.read_s = time.monotonic() - begun_s
            except (NatsError, TimeoutError) as error:
                if not is_away:
                    _log.warning("the list of cluster members cannot be read: %s; retrying", reason_of(error))
                is_away = True
                self.not_ready_because = "the NATS servers do not answer"
            else:
                if is_away:
                    _log.warning("the list of cluster members can be read again")
                is_away = False
                self.not_ready_because = ""
                found[self.name] = own
                found = settled(found)
                for number in own.serves.keys() - found[self.name].serves.keys():
                    self.workers.replaced(number)
                if found.keys() != seen.keys():
                    seen_since_s = time.monotonic()
                seen = found
                self.members = found
                self.gateway.lead_to(owners_of(found))
                # After an outage of all servers, keys reappear one by one: a missing key is no loss for a while.
                if time.monotonic() - seen_since_s >= lease_s / 2:
                    self._carry_out(found)
            self.workers.run((), ())
            if self._relay is not None:
                self._relay.follow(each.publish for each in self.workers.serving.values())
            await asyncio.sleep(lease_s / _TURNS)

    def _carry_out(self, found: Mapping[str, Member]) -> None:
        held = {name: set(member.serves) for name, member in found.items()}
        parts = plan(held, self.settings.cluster.partitions)
        mine = parts[self.name]
        elsewhere = {
            number
            for name, member in found.items()
            if name != self.name
            for number in parts[name].serves & (member.waits | member.serves.keys())
        }
        wanted = mine.serves | mine.stands_by
        # A partition planned for another member ends here when that member can take over at once.
        ends = {
            number
            for number in self.workers.pids
            if number not in mine.serves
            and (number in elsewhere if number in self.workers.serving else number not in mine.stands_by)
        }
        self.workers.run(wanted - ends, ends)

    async def _asked(self, work: Coroutine[Any, Any, _T]) -> _T:
        return await asyncio.wrap_future(self._link.begin(work))


def owners_of(members: Mapping[str, Member]) -> dict[int, Worker]:
    """Return the owner of each partition; during a hand-over, when two claim it, one of them."""
    return {number: worker for name in sorted(members) for number, worker in sorted(members[name].serves.items())}
