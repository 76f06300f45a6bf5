"""``iotide serve``: the aggregator."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import click

from .common.console.logs import change_logs, log_to_standard_error
from .common.ending import Ending

_HELP = """Run the aggregator: take in streams from collectors, keep a signal and a prediction for each job, publish.

Settings come from the defaults, a TOML file (--config), the environment (IOTIDE_SERVE_..., two underscores for
nested values) and the options, later ones winning; docs/configuration.md lists them. Everything listens on loopback
unless told otherwise.

Jobs are kept over a restart, such as an update, also of a daemon that is killed: their totals, periods, graphs,
layers and rankings go on, and each batch of a collector counts once. What comes is acknowledged once it is on disk,
in a journal; with --no-journal only a restart that begins with SIGINT or SIGTERM keeps the jobs. The folder is
--state, else $STATE_DIRECTORY, which systemd sets, else iotide/serve/HOST below $XDG_STATE_HOME or ~/.local/state. One
aggregator uses it at a time; --state none keeps nothing.

--journal keeps journal and snapshots at NATS servers (JetStream) instead, so that a machine may be lost: of all
aggregators that name the same servers and journal, one has the jobs; the others stand by and listen nowhere until it
ends or is not heard of for 3 s. Collectors are given the endpoints of all of them. docs/failover.md has more.

--cluster shares the jobs out instead: all aggregators that name the same servers and journal are at work, each with a
part of the partitions that jobs are hashed to. Collectors and users may speak to any of them. --workers does the same
with so many processes on this machine, and a NATS server that it starts itself; docs/cluster.md has more.

--ftio-listen takes what TMIO, GekkoFS and other tracers push to FTIO's predictor, and --ftio-reply pushes each
prediction back as two doubles, frequency in hertz and confidence, to where FTIO's user listens.

\b
Examples:
  iotide serve
  iotide serve --config /etc/iotide/serve.toml
  iotide serve --state none
  iotide serve --state /var/lib/iotide --journal tls://nats1:4222,tls://nats2:4222,tls://nats3:4222
  iotide serve --state /var/lib/iotide --cluster tls://nats1:4222,tls://nats2:4222,tls://nats3:4222
  iotide serve --state /var/lib/iotide --workers 4
  iotide serve --ingest ipc:///run/iotide/ingest --http none
  iotide serve --ftio-listen tcp://127.0.0.1:5555 --ftio-reply tcp://127.0.0.1:5556
  iotide serve --print-config > serve.toml        # every setting with its explanation

SIGHUP has the settings read again: the log level, alerts' receivers and operators are taken over, files of
principals, keys and certificates are looked at, and the log says what needs a restart. A service manager (sd_notify)
is told when it is ready, reloads and ends, and that it still works.

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
@click.option(
    "--state",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Keep the jobs there over a restart; none: off. [default: ~/.local/state/iotide/serve/HOST]",
)
@click.option("--no-journal", is_flag=True, help="Keep nothing there for the case that the daemon is killed.")
@click.option(
    "--journal",
    metavar="SERVER,...",
    help="Keep the journal at these NATS servers, and take over the jobs when their aggregator fails. [default: off]",
)
@click.option("--journal-name", metavar="NAME", help="Which one, of those at these servers. [default: main]")
@click.option(
    "--cluster",
    metavar="SERVER,...",
    help="Keep the journals at these NATS servers, and share the jobs with all aggregators there. [default: off]",
)
@click.option(
    "--partitions",
    type=click.IntRange(1, 256),
    metavar="N",
    help="Of a cluster, fixed by its first member. [default: 8]",
)
@click.option(
    "--workers",
    type=click.IntRange(1, 256),
    metavar="N",
    help="Share the jobs among so many processes of this machine. [default: off]",
)
@click.option("--behind-gateways", is_flag=True, hidden=True)
@click.option("--ftio-listen", metavar="ENDPOINT", help="Where tracers of FTIO push. [default: off]")
@click.option("--ftio-reply", metavar="ENDPOINT", help="Where FTIO's user awaits replies. [default: off]")
@click.option("--ftio-job", metavar="NAME", help="Job of FTIO's messages. [default: the one they name, else ftio]")
@click.option("-v", "--verbose", is_flag=True, help="Say when jobs begin and end: the log level info.")
@click.option("--log-format", type=click.Choice(["text", "json"]), help="Lines of the log. [default: text]")
@click.option("--print-config", is_flag=True, help="Print all settings as TOML, each explained, and exit.")
def command(
    config: Path | None,
    ingest: str | None,
    http: str | None,
    publish: str | None,
    interval: float | None,
    state: Path | None,
    no_journal: bool,
    journal: str | None,
    journal_name: str | None,
    cluster: str | None,
    partitions: int | None,
    workers: int | None,
    behind_gateways: bool,
    ftio_listen: str | None,
    ftio_reply: str | None,
    ftio_job: str | None,
    verbose: bool,
    log_format: str | None,
    print_config: bool,
) -> None:
    """Serves until a signal ends it."""
    from ..daemon.settings import AggregatorSettings, load_settings
    from ..daemon.state.state_folder import default_folder, made
    from ..events.network.descriptors import raise_limit

    handler = log_to_standard_error(logging.WARNING, log_format or "text")
    raise_limit()
    ending = Ending(reloads=True)

    chosen: dict[str, object] = {}
    if no_journal:
        chosen["on"] = False
    if journal:
        chosen["servers"] = journal.split(",")
    if journal_name:
        chosen["name"] = journal_name
    shared: dict[str, object] = {}
    if cluster:
        if journal or workers:
            raise click.UsageError("--cluster takes the place of --journal and --workers")
        chosen["servers"] = cluster.split(",")
        shared["on"] = True
    if partitions is not None:
        if workers:
            raise click.UsageError("--workers has a partition for each process; leave out --partitions")
        shared["partitions"] = partitions

    default_state = None if print_config else default_folder(os.environ)

    def load() -> AggregatorSettings:
        found = load_settings(
            config,
            os.environ,
            default_state,
            ingest=ingest,
            http=http,
            publish=publish,
            prediction_interval_s=interval,
            state=state,
            journal=chosen or None,
            cluster=shared or None,
            ftio_listen=ftio_listen,
            ftio_reply=ftio_reply,
            ftio_job=ftio_job,
            log_level="info" if verbose else None,
            log_format=log_format,
        )
        change_logs(handler, getattr(logging, found.log_level.upper()), found.log_format)
        return found

    settings = load()
    if print_config:
        from .common.settings_text import settings_text

        click.echo(settings_text(settings), nl=False)
        return
    if default_state and settings.state == default_state and not made(default_state):
        default_state = None
        settings = load()
    if workers or settings.cluster.on:
        from .cluster_serving import run_member, run_workers

        if settings.state is None or (workers and settings.journal.servers):
            raise click.UsageError("--workers needs a folder (--state), and starts the servers of the journal itself")
        if workers:
            run_workers(settings, settings.state, workers, ending)
        else:
            run_member(settings, settings.state, ending)
        return
    if behind_gateways:
        from .cluster_serving import end_with_parent

        end_with_parent()
    from ..clients.pages.live_pages import LivePages
    from ..daemon.server import Server
    from .serving import run_server

    run_server(Server(settings, LivePages(), for_gateways=behind_gateways), settings, ending, load)
