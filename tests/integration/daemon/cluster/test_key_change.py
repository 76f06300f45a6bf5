"""The key of a cluster is changed at one member after another, while both keys are listed as members' keys."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

import zmq
import zmq.asyncio
from iotide.daemon.access.access import REFUSED, Access
from iotide.daemon.access.settings import AccessSettings
from iotide.daemon.cluster.gateway import Gateway
from iotide.daemon.cluster.members import Worker
from iotide.events import StreamInfo
from iotide.events.network.curve import make_keys, read_public
from iotide.events.network.wire import Hello, encode
from support.servers.principals import Listed, client_keys
from support.system.waiting import DEADLINE_S

HELLO = encode(Hello(collector="c", stream="s", info=StreamInfo(job="job", source="test")))


class Side:
    """Access control of a process, with a ZeroMQ context of its own."""

    def __init__(self, key: Path, principals: Path, *, behind_gateways: bool = False) -> None:
        self.context = zmq.asyncio.Context()
        self.counters: Counter[str] = Counter()
        settings = AccessSettings(key=key, principals=principals)
        self.access = Access(settings, lambda _: None, self.counters, behind_gateways=behind_gateways)
        self.access.load(self.context)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Side]:
        answering = asyncio.create_task(self.access.run())
        try:
            yield self
        finally:
            answering.cancel()
            await asyncio.wait([answering])
            self.access.close()
            self.context.destroy(0)


@asynccontextmanager
async def gateway_to(owner: str, owner_key: str, side: Side, endpoint: str) -> AsyncIterator[None]:
    """Run a gateway whose only partition has an owner at a member with a key."""
    gateway = Gateway(
        side.context, endpoint, 1, max_streams=10, forget_after_s=60.0, allow_plaintext=False, access=side.access,
        connections_per_peer=10, counters=side.counters,
    )  # fmt: skip
    gateway.bind()
    gateway.set_owners({0: Worker(ingest=owner, started="1")}, {0: owner_key})
    running = asyncio.create_task(gateway.run())
    try:
        yield
    finally:
        running.cancel()
        await asyncio.wait([running])
        gateway.close()


async def test_gateway_with_the_next_key_reaches_an_owner_with_the_earlier_one_while_both_are_listed(
    tmp_path: Path,
) -> None:
    listed = Listed(tmp_path)
    (next_public, next_secret), earlier = make_keys(tmp_path, "next"), read_public(listed.public).decode()
    listed.list_key("earlier", listed.public, "member")
    listed.list_key("next", next_public, "member")
    node = listed.key("node", "collect")
    async with AsyncExitStack() as stack:
        owner = await stack.enter_async_context(Side(listed.secret, listed.path, behind_gateways=True).running())
        member = await stack.enter_async_context(Side(next_secret, listed.path).running())
        received = owner.context.socket(zmq.ROUTER)
        owner.access.secure(received, "ingest")
        port = received.bind_to_random_port("tcp://127.0.0.1")
        endpoint = f"ipc://{tmp_path}/in"
        await stack.enter_async_context(gateway_to(f"tcp://127.0.0.1:{port}", earlier, member, endpoint))
        collector = member.context.socket(zmq.DEALER)
        client_keys((node[0], next_public)).secure(collector)
        collector.connect(endpoint)
        await collector.send_multipart(HELLO)
        async with asyncio.timeout(DEADLINE_S):
            assert (await received.recv_multipart())[3:] == list(HELLO)  # after gateway, connection and user
        assert not owner.counters[f"{REFUSED}ingest"]

        listed.key("other", "collect")
        assert not owner.access.reload()  # connections of members stay
        listed.revoke("next")
        assert owner.access.reload()  # those with the revoked key end
        assert not owner.access.is_of_member(read_public(next_public).decode())
        assert owner.access.is_of_member(earlier)


async def test_member_whose_key_is_not_listed_is_refused(tmp_path: Path) -> None:
    listed = Listed(tmp_path)
    next_public, next_secret = make_keys(tmp_path, "next")
    listed.list_key("next", next_public, "collect", "operate")
    async with Side(listed.secret, listed.path, behind_gateways=True).running() as owner:
        with owner.context.socket(zmq.ROUTER) as received, owner.context.socket(zmq.DEALER) as member:
            owner.access.secure(received, "ingest")
            port = received.bind_to_random_port("tcp://127.0.0.1")
            member.linger = 0  # nothing takes its message
            client_keys((next_secret, listed.public)).secure(member)
            member.connect(f"tcp://127.0.0.1:{port}")
            with suppress(zmq.Again):
                await member.send_multipart(HELLO, zmq.NOBLOCK)
            async with asyncio.timeout(DEADLINE_S):
                while not owner.counters[f"{REFUSED}ingest"]:
                    await asyncio.sleep(0.01)
