"""Ends of tasks, also of those that lose a cancellation, as ``asyncio.wait_for`` does before Python 3.12."""

from __future__ import annotations

import asyncio
from typing import NoReturn

import pytest
from iotide.daemon import background_tasks
from iotide.daemon.background_tasks import cancel_all, complete_within, wait_for_first
from iotide.daemon.journal.jetstream import link
from iotide.daemon.journal.settings import JournalSettings
from iotide.events import ConfigError
from nats.aio.client import Client


class Deaf:
    """Work that loses its first cancellations and goes on, like a loop that takes them for failed attempts."""

    def __init__(self, lost: int = 1) -> None:
        self.lost = lost
        self.ended = False

    async def run(self, *_: object, **__: object) -> NoReturn:
        try:
            while True:
                try:
                    await asyncio.sleep(3600)
                except asyncio.CancelledError:
                    if self.lost == 0:
                        raise
                    self.lost -= 1
        finally:
            self.ended = True


@pytest.fixture(autouse=True)
def short_times(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background_tasks, "_CANCEL_AGAIN_S", 0.01)
    monkeypatch.setattr(link, "_CONNECT_S", 0.01)


async def test_result_in_time_is_returned() -> None:
    assert await complete_within(asyncio.sleep(0, "done"), 60) == "done"


async def test_error_in_time_is_raised() -> None:
    async def fail() -> None:
        raise OSError("refused")

    with pytest.raises(OSError, match="refused"):
        await complete_within(fail(), 60)


async def test_late_work_is_ended_although_it_loses_cancellations() -> None:
    work = Deaf(lost=3)
    with pytest.raises(TimeoutError):
        await complete_within(work.run(), 0.01)
    assert work.ended


async def test_cancelled_caller_ends_its_work() -> None:
    work = Deaf()
    task = asyncio.create_task(complete_within(work.run(), 60))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert work.ended


async def test_all_tasks_are_ended() -> None:
    works = [Deaf(lost) for lost in range(3)]
    tasks = [asyncio.create_task(work.run()) for work in works]
    await asyncio.sleep(0)
    await cancel_all(tasks)
    assert all(work.ended for work in works)


async def test_tasks_beside_the_first_that_ends_are_ended() -> None:
    work = Deaf()
    await wait_for_first([asyncio.create_task(work.run()), asyncio.create_task(asyncio.sleep(0))])
    assert work.ended


def test_attempts_to_connect_end_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client retries without end, and took a cancellation that met a refused connection for a failed attempt."""
    work = Deaf()
    monkeypatch.setattr(Client, "connect", work.run)
    with pytest.raises(ConfigError, match=r"no NATS server of nats://127\.0\.0\.1:1 can be used"):
        link.NatsLink(JournalSettings(servers=("nats://127.0.0.1:1",)))
    assert work.ended
