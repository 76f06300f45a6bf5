"""After any network faults between collector and aggregator, the job ends as without them.

``IOTIDE_NETWORK_SEED=N pytest tests/faults`` repeats the schedule of one seed; ``IOTIDE_NETWORK_SCHEDULES=100`` tries
more.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from iotide.daemon.journal.settings import JournalSettings
from iotide.results.dfg import Graph
from support.servers.nats_servers import nats_servers
from support.servers.proxy import Proxy
from support.servers.restarted_job import UNTIL_S, opened_source, published_results, wait_for_events
from support.servers.running_aggregator import Fed, collecting, serving

_FEW = 8
_STREAMS, _PARTS = 3, 4
_EVENTS = sum(10 * (6 + stream) * _PARTS for stream in range(_STREAMS))


def seeds(few: int = _FEW) -> list[int]:
    if chosen := os.environ.get("IOTIDE_NETWORK_SEED"):
        return [int(chosen)]
    return list(range(int(os.environ.get("IOTIDE_NETWORK_SCHEDULES", few))))


class Schedule:
    """Feed, cut, stall, slow down and restart in an order determined by a seed; then let everything pass.

    With ``journal``, each aggregator has an empty folder, as on a new machine.
    """

    def __init__(self, folder: Path, seed: int, *, troubled: bool, journal: JournalSettings | None = None) -> None:
        self.random = random.Random(seed)
        self._folder, self._troubled = folder, troubled
        self._journal, self._starts = journal, 0
        self._source = opened_source()
        self._fed = [0] * _STREAMS
        self._servers = contextlib.AsyncExitStack()

    async def run(self) -> list[object]:
        proxy = Proxy(self._folder / "to", self._folder / "in")
        wires = {"heartbeat_s": 0.05, "resend_after_s": 0.2, "batch_events": 16, "linger_s": 0.0}
        try:
            await self._start()
            async with proxy, collecting(f"ipc://{self._folder}/to", [self._source], **wires):
                while sum(self._fed) < _STREAMS * _PARTS:
                    await self._step(proxy)
                proxy.flow()
                proxy.piece = 1 << 16
                await wait_for_events(self._server, _EVENTS)
                return self._told()
        finally:
            await self._servers.aclose()

    async def _start(self) -> None:
        self._starts += 1
        state = self._folder / ("state" if self._journal is None else f"state-{self._starts}")
        journal = {} if self._journal is None else {"journal": self._journal.model_dump(exclude_unset=True)}
        made = serving(ingest=f"ipc://{self._folder}/in", state=state, **journal)
        self._server = await self._servers.enter_async_context(made)

    async def _step(self, proxy: Proxy) -> None:
        self._feed(self._source)
        if self._troubled:
            what = self.random.randrange(5)
            if what == 0:
                proxy.cut()
            elif what == 1:
                proxy.stall()
            elif what == 2:
                proxy.piece = self.random.choice((7, 100, 1000))
            elif what == 3:
                proxy.flow()
            elif self.random.random() < 0.3:
                await self._servers.aclose()
                await self._start()
        for _ in range(self.random.choice((1, 10, 100))):
            await asyncio.sleep(0)

    def _feed(self, source: Fed) -> None:
        stream = self.random.choice([number for number in range(_STREAMS) if self._fed[number] < _PARTS])
        # distinct counts per stream: rows with equal sums keep their order of arrival
        source.periodic(f"s{stream}", periods=6 + stream, until_s=UNTIL_S - 1000 + 60 * self._fed[stream] + stream)
        self._fed[stream] += 1

    def _told(self) -> list[object]:
        session = self._server.aggregator.jobs["job"]
        assert session.losses.all_losses(ended=False) == {}
        totals, written, graph, *others = published_results(session)
        assert isinstance(graph, Graph)
        # The number of concurrent calls is a sum that depends on the order of streams.
        activities = [each.model_copy(update={"rate": 0.0, "exact": True}) for each in graph.activities]
        return [totals, written, graph.model_copy(update={"activities": activities}), *others]


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder whose name is short enough for a socket."""
    with tempfile.TemporaryDirectory(prefix="iotide-") as name:
        yield Path(name)


@pytest.fixture(scope="module")
def undisturbed() -> list[object]:
    with tempfile.TemporaryDirectory(prefix="iotide-") as name:
        return asyncio.run(Schedule(Path(name), 0, troubled=False).run())


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds())
def test_the_network_is_seen_in_nothing(folder: Path, seed: int, undisturbed: list[object]) -> None:
    assert asyncio.run(Schedule(folder, seed, troubled=True).run()) == undisturbed


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(_FEW // 4))
def test_the_network_is_seen_in_nothing_where_another_machine_takes_over(
    folder: Path, seed: int, undisturbed: list[object]
) -> None:
    with nats_servers(folder / "nats") as servers:
        schedule = Schedule(folder, seed, troubled=True, journal=servers.settings(name=f"seed-{seed}", lease_s=1.0))
        assert asyncio.run(schedule.run()) == undisturbed
