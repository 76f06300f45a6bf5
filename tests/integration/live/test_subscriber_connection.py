"""Connections that peers refuse, lose and make again: subscribers tell it, and nobody needs a restart."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import zmq
from iotide.clients.subscriber import AsyncSubscriber, Subscriber, SubscriptionTimeoutError
from iotide.daemon.access.access import REFUSED
from iotide.daemon.publish.pubsub import Publisher
from iotide.events.network.curve import PUBLIC, ClientKeys, make_keys, read_client_keys, read_pair
from iotide.events.network.key_source import KeyFiles
from support.servers.principals import Listed, client_keys, collector_keys
from support.servers.running_aggregator import Fed, feeding, serving, until
from support.system.commands import IOTIDE
from support.system.line_process import LineProcess
from support.system.waiting import DEADLINE_S, wait_for

pytestmark = pytest.mark.slow


@contextmanager
def listening(folder: Path, kind: int, key: Path | None = None) -> Iterator[str]:
    """Run a socket; yield its endpoint."""
    with zmq.Context() as context, context.socket(kind) as server:
        server.setsockopt(zmq.LINGER, 0)
        if key is not None:
            pair = read_pair(key)
            server.curve_publickey, server.curve_secretkey, server.curve_server = pair.public, pair.secret, True
        server.bind(endpoint := f"ipc://{folder}/out")
        yield endpoint


def wait_for_cause(text: str, endpoint: str, keys: ClientKeys | None = None) -> None:
    """Receive in vain until the subscriber names a cause."""
    with Subscriber(endpoint, timeout_s=0.6, keys=keys) as news:

        def is_named() -> bool:
            with pytest.raises(SubscriptionTimeoutError) as ended:
                news.receive()
            return text in str(ended.value)

        wait_for(is_named, what=text)


def test_absence_of_an_aggregator_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    endpoint = f"ipc://{tmp_path}/out"
    wait_for_cause(f"no prediction within 0.6 s: not connected: nothing listens at {endpoint}", endpoint)
    assert f"not connected: nothing listens at {endpoint}" in caplog.text
    wait_for_cause("no address", "tcp://iotide.invalid:9789")


def test_other_ports_are_told(tmp_path: Path) -> None:
    with listening(tmp_path, zmq.ROUTER) as endpoint:
        wait_for_cause(f"what listens at {endpoint} publishes nothing; expected `publish`", endpoint)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        wait_for_cause("does not answer within", f"tcp://127.0.0.1:{silent.getsockname()[1]}")


def test_keys_that_do_not_fit_are_told(tmp_path: Path) -> None:
    (server_public, server), (other_public, own) = make_keys(tmp_path, "server"), make_keys(tmp_path, "own")
    with listening(tmp_path, zmq.PUB, server) as endpoint:
        wait_for_cause(f"{endpoint} requires a key (--key", endpoint)
        wait_for_cause(f"server key is not the key of {endpoint}", endpoint, read_client_keys(own, other_public))
    with listening(tmp_path, zmq.PUB) as endpoint:
        wait_for_cause(f"{endpoint} has no key", endpoint, read_client_keys(own, server_public))


async def test_refused_key_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    listed = Listed(tmp_path)
    keys = client_keys(listed.key("alice", "read", user="alice"))
    async with (
        serving(access=listed.settings()) as server,
        AsyncSubscriber(server.publish_endpoint or "", keys=keys) as news,
    ):
        receiving = asyncio.create_task(news.receive())
        async with asyncio.timeout(DEADLINE_S):
            while f"does not permit the key {keys.own.public.decode()} to subscribe" not in caplog.text:
                await asyncio.sleep(0.01)
        receiving.cancel()
        await asyncio.wait([receiving])


def test_watch_tells_silence_loss_and_return(tmp_path: Path) -> None:
    endpoint = f"ipc://{tmp_path}/out"
    command = [*IOTIDE, "watch", "--connect", endpoint, "--job", "4711"]
    with zmq.Context() as context, LineProcess(command, output="stderr") as watch:
        watch.wait_for_line(lambda line: line.startswith(f"iotide: not connected: nothing listens at {endpoint}"))
        for end in ("", " again"):
            publisher = Publisher(context, endpoint, allow_remote=False)
            watch.wait_for_line(lambda line: line == f"iotide: connected to the aggregator at {endpoint}{end}")  # noqa: B023
            if not end:
                watch.wait_for_line(lambda line: "no prediction of 4711 yet" in line)
            publisher.close()
            watch.wait_for_line(lambda line: "lost the connection" in line)
        assert watch.end(signal.SIGINT) == 0


@pytest.fixture
def listed(tmp_path: Path) -> Listed:
    return Listed(tmp_path)


def fed() -> Fed:
    source = Fed()
    source.open("a", "job")
    source.periodic("a")
    return source


async def test_collector_whose_key_is_listed_later_ships_without_a_restart(
    listed: Listed, caplog: pytest.LogCaptureFixture
) -> None:
    secret, server_key = listed.stranger()
    async with (
        serving(access=listed.settings()) as server,
        feeding(server, fed(), **collector_keys((secret, server_key))),
    ):
        await until(lambda: server.aggregator.counters[f"{REFUSED}ingest"])
        await until(lambda: "does not accept the key" in caplog.text)
        listed.list_key("stranger", secret.with_suffix(PUBLIC), "collect")
        await until(lambda: "job" in server.aggregator.jobs)


async def test_subscriber_whose_key_is_listed_later_receives_without_a_restart(listed: Listed) -> None:
    node, (secret, server_key) = listed.key("node", "collect"), listed.stranger()
    async with serving(access=listed.settings()) as server, feeding(server, fed(), **collector_keys(node)):
        keys = client_keys((secret, server_key))
        async with AsyncSubscriber(server.publish_endpoint or "", keys=keys, timeout_s=DEADLINE_S) as news:
            receiving = asyncio.create_task(news.receive())
            await until(lambda: server.aggregator.counters[f"{REFUSED}publish"])
            listed.list_key("stranger", secret.with_suffix(PUBLIC), "operate")
            assert (await receiving).job == "job"


async def test_subscriber_takes_another_key_of_the_aggregator_without_a_restart(
    listed: Listed, caplog: pytest.LogCaptureFixture
) -> None:
    node, reader = listed.key("node", "collect"), listed.key("reader", "operate")
    source = fed()
    async with (
        serving(access=listed.settings()) as server,
        feeding(server, source, **collector_keys(node), away_after_s=0.3),
        AsyncSubscriber(server.publish_endpoint or "", keys=KeyFiles(*reader), timeout_s=DEADLINE_S) as news,
    ):
        await news.receive()
        listed.change()
        receiving = asyncio.create_task(news.receive())
        await until(lambda: f"connected to the aggregator at {server.publish_endpoint} again" in caplog.text)
        source.periodic("a")
        assert (await receiving).job == "job"
