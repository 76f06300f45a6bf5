"""``iotide serve``: the aggregator."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:  # imported when the command runs, so that --help is instant
    from ..daemon.server import Server

_HELP = """Run the aggregator: take in streams from collectors, keep a signal and a prediction for each job, publish.

Settings come from the defaults, a TOML file (--config), the environment (IOTIDE_SERVE_..., two underscores for
nested values) and the options, later ones winning; docs/configuration.md lists them. Everything listens on loopback
unless told otherwise.

\b
Examples:
  iotide serve
  iotide serve --config /etc/iotide/serve.toml
  iotide serve --ingest ipc:///run/iotide/ingest --http none

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
@click.option("-v", "--verbose", is_flag=True, help="Say when jobs begin and end.")
def command(
    config: Path | None,
    ingest: str | None,
    http: str | None,
    publish: str | None,
    interval: float | None,
    verbose: bool,
) -> None:
    """Serves until a signal ends it."""
    from ..daemon.settings import load_settings

    logging.basicConfig(format="iotide: %(message)s", level=logging.INFO if verbose else logging.WARNING)
    settings = load_settings(
        config, os.environ, ingest=ingest, http=http, publish=publish, prediction_interval_s=interval
    )
    from ..daemon.server import Server

    asyncio.run(_serve(Server(settings)))


async def _serve(server: Server) -> None:
    await server.start()
    try:
        click.echo(
            f"iotide: ingest {server.ingest_endpoint}, http {server.http_url or 'off'}, "
            f"publish {server.publish_endpoint or 'off'}",
            err=True,
        )
        server.aggregator.on_job(lambda job: logging.getLogger("iotide").info("job %s: %s", job.job, job.state))
        running = asyncio.create_task(server.run())
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, running.cancel)
        with contextlib.suppress(asyncio.CancelledError):
            await running
    finally:
        await server.stop()
