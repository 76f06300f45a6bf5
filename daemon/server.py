"""The aggregator as one asyncio service: ingest, jobs, publishers."""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
from collections.abc import Awaitable, Callable
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..events import ConfigError
from ..events.network.descriptors import ListenerGuards
from .access.access import Access
from .aggregator import Aggregator
from .background_tasks import ServerFailedError, run_forever, wait_for_first
from .bounds import BoundLog
from .clocks import Clocks
from .ingest.ingest_settings import IngestStats
from .ingest.sink import Sink
from .loop_timing import IdlePause, LoopWatch, Stages
from .pressure import Pressure
from .reloading import Reload, apply_reloadable, compare
from .server_parts import build_archives, contention_watch
from .settings import AggregatorSettings

if TYPE_CHECKING:
    import zmq.asyncio

    from .access.settings import AccessSettings
    from .cluster.partitions import Partition
    from .ingest.ingest import Ingest
    from .journal.durability import Durability
    from .journal.jetstream.stream_journal import StreamJournal
    from .pacing_plans import PacingPlans
    from .publish.http.http_server import HttpServer
    from .publish.http.routes.page_routes import Pages
    from .publish.pubsub import Publisher
    from .state.persistence import StatePersistence

_LATE_TICKS: Final = 10
_KEY_CHECK_S: Final = 1.0
"""Interval of checks of key files, s."""
_LAST_S: Final = 1.0
"""Maximum time for processing messages at the end, s: active collectors never stop sending."""


class Server:
    """Connects all parts.

    ``start`` binds everything or raises; ``run`` runs until cancelled; ``stop`` releases everything.

    Args:
        settings: endpoints and bounds.
        pages: renders pages for browsers; None for no pages.
        embedded: the creator passes input to ``sink``; there is no socket for collectors unless there is an ``entry``.
        entry: access settings for collectors of an embedded aggregator.
        partition: partition of the process, behind the gateways of a cluster.

    Attributes:
        aggregator: the jobs.
        stages: CPU time by stage.
        loop_watch: longest blocking of the loop.
        pause: waits between ticks; for a creator that passes input to ``sink``.
        archives: archives of the jobs; None if they are off.
        sink: receiver of streams.
        access: access control.
        stats: counters of received data.
        http: HTTP server, after ``start``; None if it is off.
        journal: shared journal, after ``wait_for_lease``; None without one.
        ingest_endpoint, publish_endpoint, http_url: actual endpoints, after ``start``; None if off.
    """

    def __init__(
        self,
        settings: AggregatorSettings,
        pages: Pages | None = None,
        *,
        embedded: bool = False,
        entry: AccessSettings | None = None,
        partition: Partition | None = None,
    ) -> None:
        self._for_gateways = partition is not None
        self._member_token = None if partition is None else partition.token
        self._clocks = Clocks()
        self.aggregator = Aggregator(settings, self._clocks.clock, self._clocks.steady)
        self.stages = Stages(self.aggregator.counters)
        self.loop_watch = LoopWatch()
        if embedded:  # no collector is slowed down, so nothing is logged
            self.aggregator.pressure = Pressure(logs=False)
            self.aggregator.bound_log = BoundLog(settings, logs=False)
        self.ingest_endpoint = ""
        self.publish_endpoint: str | None = None
        self.http_url: str | None = None
        self._settings = settings
        self._pages = pages
        self.http: HttpServer | None = None
        self._stack = contextlib.AsyncExitStack()
        self.archives = build_archives(self.aggregator, settings.archive, self._clocks.clock)
        self.sink: Sink = self.archives or self.aggregator
        given = entry or settings.access, self._user_of, self.aggregator.counters
        self.access = Access(*given, behind_gateways=self._for_gateways)
        self._ingest = None if embedded and entry is None else self._make_ingest(settings)
        # An embedded aggregator has one job. Its page of file systems shows that one.
        several = settings.contention.enabled and (not embedded or settings.http is not None)
        self._contention = (
            contention_watch(self.aggregator, settings, partition, lambda: self.journal) if several else None
        )
        if self._contention is not None and (settings.notify.alertmanagers or settings.notify.webhooks):
            self._contention.notify(settings.notify, lambda: self.http_url or "")
        if self._ingest is not None:
            self._ingest.core.plan_for = self._pacing_plans.answer
            self._ingest.core.time_of_day = self._clocks.clock
            if (projects := self.access.projects) is not None:
                self._ingest.core.vouched = partial(projects.note, self.aggregator.jobs)
        self.stats = IngestStats() if self._ingest is None else self._ingest.core.stats
        self._tick_s = min(0.25, settings.prediction_interval_s / 4)
        self.pause = IdlePause()
        self._guards = ListenerGuards(self.aggregator.counters)
        self._persistence: StatePersistence | None = None
        self._durability: Durability | None = None
        self._publisher: Publisher | None = None
        self.journal: StreamJournal | None = None
        self._ticked_at = -math.inf  # a machine's clock may begin at its boot

    async def wait_for_lease(self, on_holder: Callable[[str], None] = lambda _: None) -> None:
        """Wait until this aggregator owns the jobs of a shared journal; before ``start``.

        Args:
            on_holder: callback with the current owner: host and process.

        Raises:
            ConfigError: the journal's servers cannot be used.
        """
        if not self._settings.journal.servers:
            return
        if self._settings.state is None:
            raise ConfigError("journal.servers needs state, a folder for the snapshots")
        try:
            from .journal.jetstream.stream_journal import wait_for_lease
        except ImportError:
            raise ConfigError("journal.servers needs nats-py: pip install 'iotide[jetstream]'") from None
        if self._settings.http is not None:
            self._make_http  # noqa: B018 - takes a second of CPU time, which a takeover should not wait for
        self.journal = await wait_for_lease(self._settings.journal, on_holder)
        if self.archives is not None:
            self.archives.copies_files = True
        self._stack.callback(self.journal.release)

    async def start(self) -> None:
        """Bind all endpoints.

        Raises:
            ConfigError: one cannot be bound, or would be open to the network; the others are released.
        """
        if self.archives is not None:
            self._stack.callback(self.archives.close)
        try:
            keeping = None if self._settings.state is None else self._restore_state(self._settings.state)
            if self.access.is_encrypted:
                self.access.load(self._context)
                self._stack.callback(self.access.close)
            if self._ingest is not None:
                self.ingest_endpoint = self._ingest.bind()
                self._stack.callback(self._guards.add("ingest", self.ingest_endpoint, self._ingest).close)
            if self._settings.publish is not None:
                self._start_publisher(self._settings.publish)
            if self._settings.http is not None:
                await self._start_http(self._settings.http)
            if keeping is not None:
                self._start_storing(keeping)
                if self._contention is not None and self._settings.state is not None:
                    self._contention.restore_alerts(self._settings.state)
        except BaseException:
            await self._stack.aclose()
            raise

    async def run(self) -> None:
        """Process input and predict until cancelled.

        Raises:
            ServerFailedError: a part of it failed repeatedly.
        """
        work: dict[str, Callable[[], Awaitable[None]]] = {"jobs": self._tick}
        if self._ingest is not None:
            work["ingest"] = self._ingest.run
            work["answers"] = self._ingest.answer
            if (peers := self._ingest.peers) is not None:
                work["peers"] = lambda: peers.run(self.ingest_endpoint)
        if self.http is not None:
            work["http"] = self.http.run
        if self._contention is not None:
            work["contention"] = self._contention.run
            work["notify"] = self._contention.send
            if self._settings.state is not None:
                work["alerts"] = self._contention.write
        if self.access.is_encrypted:
            work["access"] = self.access.run
        if not self._settings.access.is_open or self._settings.access.certificate is not None:
            work["keys"] = self._watch_keys
        tasks = [asyncio.create_task(run_forever(name, each, self.aggregator.counters)) for name, each in work.items()]
        await wait_for_first(tasks)

    async def drain(self) -> None:
        """Process waiting messages, and answer them once they are on disk, for a bounded time. After ``run``."""
        if self._ingest is not None:
            within_s = self._settings.stop_within_s / 4
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(within_s):
                    await self._ingest.drain(min(_LAST_S, within_s))

    def reload(self, settings: AggregatorSettings) -> Reload:
        """Apply the settings that need no restart, and read keys and lists again.

        Raises:
            ConfigError: one of these settings cannot be used; none was applied.
        """
        found = compare(self._settings, settings)
        if self._contention is not None and any(name.startswith("notify.") for name in found.applied):
            self._contention.notify(settings.notify, lambda: self.http_url or "")
        self._settings = apply_reloadable(self._settings, settings)
        self.access.settings = self._settings.access
        self._reload_keys()
        return found

    async def stop(self) -> None:
        """Store the state of the jobs, if a folder is configured, and close everything."""
        if self._persistence is not None:
            if self._contention is not None:
                self._contention.finish()
            self._persistence.finish(self._settings.stop_within_s / 2)
        await self._stack.aclose()

    def not_ready(self) -> str:
        """Return why no predictions are made now, or ""."""
        if self._ingest is not None and not self.ingest_endpoint:
            return "ingest is not bound"
        if time.monotonic() - self._ticked_at > _LATE_TICKS * self._tick_s:
            return "the prediction loop is late"
        return ""

    async def _tick(self) -> None:
        archives_at_s = -math.inf
        while True:
            if self._ingest is not None:
                self.aggregator.pressure.is_backlogged = self._ingest.is_backlogged
            with self.stages.measure("jobs"):
                waiting = self.aggregator.tick()
            if self._ingest is not None:
                self._ingest.limit_credit(self.aggregator.pressure.share)
            if self._durability is not None:
                self._poll_journal(self._durability)
            if self.archives is not None and time.monotonic() >= archives_at_s:  # it looks at all jobs
                with self.stages.measure("archives"):
                    is_saving = self.archives.tick()
                waiting = waiting or is_saving
                archives_at_s = -math.inf if is_saving else time.monotonic() + self._tick_s
            if self._publisher is not None:
                self._publisher.flush()
            self._ticked_at = time.monotonic()
            self._guards.check(self._ticked_at)
            takes_turns = self._ingest is not None and self._ingest.has_unread
            pause_s = 0.0 if waiting and not takes_turns else self._tick_s
            if self._ingest is not None and pause_s:
                if await self._ingest.wait_for_turn(pause_s) and takes_turns:
                    pause_s = 0.0  # the loop was busy all the time
                late_s = time.monotonic() - self._ticked_at - pause_s
            else:  # input is processed in between
                late_s = await self.pause.wait(pause_s, self.aggregator.due_in_s())
            self.loop_watch.note(late_s)

    def _poll_journal(self, durability: Durability) -> None:
        if durability.journal.is_fenced:
            if self.archives is not None:
                self.archives.detach()
            raise ServerFailedError(f"the aggregator must stop: {durability.journal.problem}")
        with self.stages.measure("journal"):
            durability.poll(time.monotonic())

    async def _watch_keys(self) -> None:
        while True:
            await asyncio.sleep(_KEY_CHECK_S)
            if self.access.projects is not None:
                await asyncio.to_thread(self.access.projects.renew)  # the name service may be slow
            self._reload_keys()

    def _reload_keys(self) -> None:
        if self.access.reload():
            self._guards.renew()
        if self.http is not None:
            self.http.reload()

    def _user_of(self, job: str) -> str | None:
        session = self.aggregator.jobs.get(job)
        return None if session is None else session.user

    def _restore_state(self, folder: Path) -> StatePersistence:
        from .state.persistence import StatePersistence  # `iotide run` does not need it

        core = None if self._ingest is None else self._ingest.core
        given = self._settings
        keeping = StatePersistence(
            folder, given.journal, self.aggregator, self._clocks, core, given.bounds, self.archives, self.journal
        )
        self._stack.callback(keeping.close)
        return keeping

    def _start_storing(self, keeping: StatePersistence) -> None:
        loop, ingest = asyncio.get_running_loop(), self._ingest

        def wake() -> None:
            if ingest is not None and not loop.is_closed():
                with contextlib.suppress(RuntimeError):  # it was closed in between
                    loop.call_soon_threadsafe(ingest.wake)

        keeping.begin(wake)
        self._persistence, self._durability = keeping, keeping.durability
        if ingest is not None:
            ingest.durability = self._durability

    @cached_property
    def _context(self) -> zmq.asyncio.Context:
        import zmq.asyncio  # `iotide run` does not need it, unless it publishes

        context = zmq.asyncio.Context()
        self._stack.callback(context.term)
        return context

    @cached_property
    def _pacing_plans(self) -> PacingPlans:
        from .pacing_plans import pacing_plans  # `iotide run` does not need it, unless it serves HTTP

        return pacing_plans(self._settings.analyzers)

    def _make_ingest(self, settings: AggregatorSettings) -> Ingest:
        from .ingest.ingest import Ingest

        given = self._context, settings.ingest, self.sink, settings.bounds, self.access, self.stages
        ingest = Ingest(*given, for_gateways=self._for_gateways, counters=self.aggregator.counters)
        self._stack.callback(ingest.close)
        return ingest

    def _start_publisher(self, endpoint: str) -> None:
        import zmq

        from .publish.pubsub import Publisher

        publisher = Publisher(
            zmq.Context(self._context),
            endpoint,
            allow_remote=self._settings.allow_remote,
            access=self.access if self.access.settings is self._settings.access else None,
            behind=self._settings.publish_behind,
            counters=self.aggregator.counters,
        )
        self._stack.callback(publisher.close)
        self.aggregator.on_prediction(publisher.prediction, "zeromq")
        self.aggregator.on_job(publisher.job, "zeromq")
        if self._contention is not None:
            self._contention.on_alerts.add("zeromq", publisher.alert)
        self._stack.callback(self._guards.add("publish", publisher.endpoint, publisher).close)
        self._publisher = publisher
        self.publish_endpoint = publisher.endpoint

    @cached_property
    def _make_http(self) -> Callable[[str], HttpServer]:
        # Imported when needed: an embedded aggregator without HTTP starts half a second earlier.
        from .publish.http.application import make_application
        from .publish.http.authentication import Authentication
        from .publish.http.http_server import HttpServer
        from .publish.metrics import AggregatorCollector
        from .publish.status import StatusReport

        stats, settings = self.stats, self._settings
        collector = AggregatorCollector(
            self.aggregator, lambda: stats, settings.max_job_series, time.time, self._contention, self.loop_watch
        )
        report = StatusReport(
            self.aggregator, stats, lambda: self._settings, self.not_ready, lambda: self._durability, self.loop_watch
        )
        given = self.aggregator, collector, self.not_ready, time.time, self._pages, self._contention, self._pacing_plans
        app = make_application(*given, report, in_cluster=self._for_gateways, archives=self.archives is not None)
        served = app if settings.access.is_open else Authentication(app, self.access)
        counters = self.aggregator.counters
        return lambda address: HttpServer(
            served, address, settings.access, allow_remote=settings.allow_remote,
            limits=settings.http_limits, counters=counters, member_token=self._member_token,
        )  # fmt: skip

    async def _start_http(self, address: str) -> None:
        server = self._make_http(address)
        self._stack.push_async_callback(server.stop)
        await server.start()
        self.http, self.http_url = server, server.url
