"""``iotide serve``: the aggregator."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .common.ending import Ending
from .common.logs import log_to_standard_error

if TYPE_CHECKING:  # imported when the command runs, so that --help is instant
    from ..collectors.source import Problems
    from ..daemon.server import Server
    from ..daemon.settings import AggregatorSettings

_log = logging.getLogger("iotide")

_HELP = """Run the aggregator: take in streams from collectors, keep a signal and a prediction for each job, publish.

Settings come from the defaults, a TOML file (--config), the environment (IOTIDE_SERVE_..., two underscores for
nested values) and the options, later ones winning; docs/configuration.md lists them. Everything listens on loopback
unless told otherwise.

--ftio-listen takes what TMIO, GekkoFS and other tracers push to FTIO's predictor, and --ftio-reply pushes each
prediction back as two doubles, frequency in hertz and confidence, to where FTIO's user listens.

\b
Examples:
  iotide serve
  iotide serve --config /etc/iotide/serve.toml
  iotide serve --ingest ipc:///run/iotide/ingest --http none
  iotide serve --ftio-listen tcp://127.0.0.1:5555 --ftio-reply tcp://127.0.0.1:5556

Runs until SIGINT or SIGTERM. Exit status: 0 ended by a signal, 1 failed, 2 bad settings or an endpoint in use.
"""


@click.command("serve", help=_HELP)
@click.option("--config", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Settings as TOML.")
@click.option("--ingest", metavar="ENDPOINT", help="Where collectors connect. [default: tcp://127.0.0.1:9787]")
@click.option("--http", metavar="HOST:PORT", help="/metrics and /api/v1; none: off. [default: 127.0.0.1:9788]")
@click.option("--publish", metavar="ENDPOINT", help="Predictions; none: off. [default: tcp://127.0.0.1:9789]")
@click.option(
    "--interval", type=click.FloatRange(min=0.01), metavar="SECONDS", help="Time between predictions. [default: 1]"
)
@click.option("--ftio-listen", metavar="ENDPOINT", help="Where tracers of FTIO push. [default: off]")
@click.option("--ftio-reply", metavar="ENDPOINT", help="Where FTIO's user awaits replies. [default: off]")
@click.option("--ftio-job", metavar="NAME", help="Job of FTIO's messages. [default: the one they name, else ftio]")
@click.option("-v", "--verbose", is_flag=True, help="Say when jobs begin and end.")
def command(
    config: Path | None,
    ingest: str | None,
    http: str | None,
    publish: str | None,
    interval: float | None,
    ftio_listen: str | None,
    ftio_reply: str | None,
    ftio_job: str | None,
    verbose: bool,
) -> None:
    """Serves until a signal ends it."""
    from ..daemon.settings import load_settings
    from ..events.descriptors import raise_limit

    log_to_standard_error(logging.INFO if verbose else logging.WARNING)
    raise_limit()
    ending = Ending()
    settings = load_settings(
        config,
        os.environ,
        ingest=ingest,
        http=http,
        publish=publish,
        prediction_interval_s=interval,
        ftio_listen=ftio_listen,
        ftio_reply=ftio_reply,
        ftio_job=ftio_job,
    )
    from ..clients.live_pages import LivePages
    from ..daemon.server import Server

    asyncio.run(_serve(Server(settings, LivePages()), settings, ending))


async def _serve(server: Server, settings: AggregatorSettings, ending: Ending) -> None:
    if server.archives is not None:
        server.archives.prepare()
    await server.start()
    try:
        async with taking_ftio(server, settings) as ftio:
            click.echo(
                f"iotide: ingest {server.ingest_endpoint}, http {server.http_url or 'off'}, "
                f"publish {server.publish_endpoint or 'off'}" + (f", ftio {ftio}" if ftio else ""),
                err=True,
            )
            server.aggregator.on_job(lambda job: _log.info("job %s: %s", job.job, job.state), "log")
            running = asyncio.create_task(server.run())
            ending.then(running.cancel)
            with contextlib.suppress(asyncio.CancelledError):
                await running
    finally:
        await server.stop()


@contextlib.asynccontextmanager
async def taking_ftio(server: Server, settings: AggregatorSettings) -> AsyncIterator[str]:
    """Feeds a started server what FTIO's tracers push, and replies; a collector in this process, if it is wanted.

    Yields:
        Where it listens; "" where it does not.

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

    host = socket.gethostname()
    with contextlib.ExitStack() as stack:
        context: zmq.Context[zmq.Socket[bytes]] = stack.enter_context(zmq.Context())
        listen = FtioSettings(endpoint=settings.ftio_listen, job=settings.ftio_job, allow_remote=settings.allow_remote)
        source = FtioSource(listen, Origin(job=listen.default_job, host=host), context)
        agent = Agent([source], CollectorSettings(endpoint=server.ingest_endpoint, host=host), context)
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
    told = 0
    while True:
        try:
            await asyncio.sleep(1.0)
        finally:  # at the end too
            for problem in problems.first[told:]:
                _log.warning("%s", problem)
            told = len(problems.first)
