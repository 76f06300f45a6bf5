"""Main loop of ``iotide serve``: the aggregator, and a collector for FTIO's tracers."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING

from ..daemon.loop_timing import memory_bytes
from ..events import ConfigError
from .common.console.logs import write_line
from .common.end_signals import SignalHandler
from .common.garbage_collection import short_collections
from .common.service_manager import ServiceManager

if TYPE_CHECKING:
    import zmq

    from ..collectors.source import Problems
    from ..daemon.server import Server
    from ..daemon.settings import AggregatorSettings

_log = logging.getLogger("iotide")


def run_server(
    server: Server, settings: AggregatorSettings, ending: SignalHandler, load: Callable[[], AggregatorSettings]
) -> None:
    """Serve until ``ending`` is requested; ``load`` reads the settings again on reload."""
    asyncio.run(_serve(server, settings, ending, load))


async def _serve(
    server: Server, settings: AggregatorSettings, ending: SignalHandler, load: Callable[[], AggregatorSettings]
) -> None:
    manager = ServiceManager()
    if server.archives is not None:
        server.archives.prepare()
    if settings.journal.servers and not await _wait_for_lease(server, settings, ending, manager):
        return
    await server.start()
    try:
        async with short_collections(memory_bytes), serve_ftio(server, settings) as ftio:
            listens = (
                f"ingest {server.ingest_endpoint}, http {server.http_url or 'off'}, "
                f"publish {server.publish_endpoint or 'off'}" + (f", ftio {ftio}" if ftio else "")
            )
            if server.journal is not None:
                listens += f", epoch {server.journal.last.epoch}"  # by which a member knows the last owner
            write_line(listens, settings.log_format)
            server.aggregator.on_job(lambda job: _log.info("job %s: %s", job.job, job.state), "log")
            running = asyncio.create_task(server.run())
            ending.on_end(running.cancel)
            ending.on_reload(lambda: _reload(server, load, manager))
            manager.ready(listens)
            feeding = asyncio.create_task(manager.feed_watchdog(server.not_ready))
            try:
                await running
            except asyncio.CancelledError:
                manager.stopping()
                await server.drain()
            finally:
                feeding.cancel()
    finally:
        await server.stop()


async def _wait_for_lease(
    server: Server, settings: AggregatorSettings, ending: SignalHandler, manager: ServiceManager
) -> bool:
    """Wait until the server owns the jobs of its journal; return False if it must end before."""

    def report_holder(holder: str) -> None:
        write_line(f"stands by: {holder} has the jobs of journal {settings.journal.name}", settings.log_format)
        manager.ready(f"stands by for {holder}")

    waiting = asyncio.create_task(server.wait_for_lease(report_holder))
    feeding = asyncio.create_task(manager.feed_watchdog(lambda: ""))
    ending.on_end(waiting.cancel)
    try:
        await waiting
    except asyncio.CancelledError:
        await server.stop()
        return False
    finally:
        feeding.cancel()
    return True


def _reload(server: Server, load: Callable[[], AggregatorSettings], manager: ServiceManager) -> None:
    """Apply the changed settings that need no restart; apply none if any is invalid."""
    manager.reloading()
    try:
        reload = server.reload(load())
    except ConfigError as error:
        _log.error("the settings were not reloaded, and the earlier ones stay in force: %s", error)
    else:
        _log.warning("the settings were reloaded; changed: %s", ", ".join(reload.applied) or "nothing")
        if reload.pending:
            _log.warning("changed settings that take effect after a restart: %s", ", ".join(reload.pending))
    manager.ready()


@contextlib.asynccontextmanager
async def serve_ftio(server: Server, settings: AggregatorSettings) -> AsyncIterator[str]:
    """Feed messages of FTIO's tracers to a started server, and reply.

    This needs a configured collector in this process.

    Yields:
        Its endpoint; "" if it is off.

    Raises:
        ConfigError: an endpoint cannot be used.
    """
    if settings.ftio_listen is None:
        yield ""
        return
    import zmq

    from ..collectors.settings import CollectorSettings, FtioSettings
    from ..collectors.source import Origin
    from ..collectors.sources.tmio.ftio import FtioSource
    from ..collectors.transport.agent import Agent
    from ..daemon.publish.ftio_reply import FtioReply
    from ..events.network.key_source import FixedKeys

    host = socket.gethostname()
    with contextlib.ExitStack() as stack:
        context: zmq.Context[zmq.Socket[bytes]] = stack.enter_context(zmq.Context())
        listen = FtioSettings(endpoint=settings.ftio_listen, job=settings.ftio_job, allow_remote=settings.allow_remote)
        source = FtioSource(listen, Origin(job=listen.default_job, host=host), context)
        agent = Agent(
            [source],
            CollectorSettings(endpoint=server.ingest_endpoint, host=host),
            context,
            keys=FixedKeys(server.access.local_collector_keys()),
        )
        stack.callback(agent.close)
        if settings.ftio_reply is not None:
            reply = FtioReply(
                context,
                settings.ftio_reply,
                allow_remote=settings.allow_remote,
                wanted=source.has,
                counters=server.aggregator.counters,
            )
            stack.callback(reply.close)
            server.aggregator.on_prediction(reply.prediction, "ftio")
        tasks = [asyncio.create_task(agent.run()), asyncio.create_task(_log_problems(source.problems))]
        try:
            yield source.endpoint
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)


async def _log_problems(problems: Problems) -> None:
    logged = 0
    while True:
        try:
            await asyncio.sleep(1.0)
        finally:  # also at the end
            for problem in problems.first[logged:]:
                _log.warning("%s", problem)
            logged = len(problems.first)
