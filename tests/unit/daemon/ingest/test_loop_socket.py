"""A socket in asyncio's loop receives all messages, including those that arrive while it sends."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import zmq
import zmq.asyncio
from iotide.daemon.ingest.loop_socket import LoopSocket
from support.system.waiting import DEADLINE_S

_COMMANDS_S = 0.05
"""ZeroMQ checks its signals when it sends, but not again within about a millisecond, s."""


@asynccontextmanager
async def pair() -> AsyncIterator[tuple[LoopSocket, LoopSocket]]:
    """Connect a ROUTER and a DEALER in this process."""
    context = zmq.asyncio.Context()
    router, dealer = context.socket(zmq.ROUTER), context.socket(zmq.DEALER)
    router.linger = dealer.linger = 0
    router.bind("inproc://here")
    dealer.connect("inproc://here")
    one, other = LoopSocket(router), LoopSocket(dealer)
    try:
        yield one, other
    finally:
        one.close()
        other.close()
        context.term()


async def test_message_that_arrives_while_another_is_sent_wakes_the_receiver() -> None:
    """Sending consumes the signal of a received message, which asyncio's file descriptor then lacks."""
    async with pair() as (router, dealer):
        dealer.send([b"first"])
        assert await router.wait(DEADLINE_S)
        received = router.receive()
        assert received is not None
        waiting = asyncio.create_task(dealer.wait(DEADLINE_S))
        await asyncio.sleep(0)  # it waits now
        router.send([received[0], b"answer"])
        time.sleep(_COMMANDS_S)  # noqa: ASYNC251 - asyncio must not see the signal
        dealer.send([b"second"])
        assert await waiting
        assert [frame.bytes for frame in dealer.receive() or []] == [b"answer"]


async def test_waiting_ends_after_its_time_without_a_message() -> None:
    async with pair() as (router, _):
        assert not await router.wait(0.01)
        assert router.receive() is None


async def test_frames_that_were_received_are_sent_on_unchanged() -> None:
    async with pair() as (router, dealer):
        dealer.send([b"header", bytes(100_000)])
        assert await router.wait(DEADLINE_S)
        frames = router.receive()
        assert frames is not None
        router.send(frames)
        assert await dealer.wait(DEADLINE_S)
        assert [frame.bytes for frame in dealer.receive() or []] == [b"header", bytes(100_000)]


async def test_function_gets_all_messages_some_at_a_time() -> None:
    """Some of them arrive while another one is sent, which consumes their signal."""
    async with pair() as (router, dealer):
        found: list[bytes] = []
        done = asyncio.Event()

        def receive_some() -> None:
            frames = dealer.receive()
            assert frames is not None
            found.append(frames[-1].bytes)
            if len(found) == 10:
                done.set()

        dealer.send([b"hello"])
        assert await router.wait(DEADLINE_S)
        received = router.receive()
        assert received is not None
        dealer.on_messages(receive_some)
        for number in range(10):
            router.send([received[0], b"%d" % number])
            if number % 3 == 2:
                time.sleep(_COMMANDS_S)  # noqa: ASYNC251 - asyncio must not see the signal
                dealer.send([b"more"])
        async with asyncio.timeout(DEADLINE_S):
            await done.wait()
        assert found == [b"%d" % number for number in range(10)]


async def test_function_that_fails_is_called_again_for_the_other_messages() -> None:
    async with pair() as (router, dealer):
        failures: list[dict[str, object]] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: failures.append(context))
        done = asyncio.Event()

        def receive_some() -> None:
            frames = router.receive()
            assert frames is not None
            if frames[-1].bytes == b"bad":
                raise ValueError
            done.set()

        router.on_messages(receive_some)
        dealer.send([b"bad"])
        dealer.send([b"good"])
        async with asyncio.timeout(DEADLINE_S):
            await done.wait()
        assert [type(each["exception"]) for each in failures] == [ValueError]
