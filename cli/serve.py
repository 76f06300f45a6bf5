"""``iotide serve``: the aggregator."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from .common.arguments.parameter_types import FiniteRange
from .common.console.logs import change_logs, log_to_standard_error
from .common.end_signals import SignalHandler

if TYPE_CHECKING:
    from ..daemon.settings import AggregatorSettings

_DESCRIPTORS: Final = 22
"""Files that an aggregator opens at least."""
_HELP = """Run the aggregator: receive streams from collectors, maintain signal and prediction of each job, publish.

Settings come from the defaults, a TOML file (--config), the environment (IOTIDE_SERVE_..., two underscores for nested
values) and the options, later ones winning; docs/configuration.md lists them. Everything listens on loopback unless
told otherwise.

Jobs survive a restart, such as an update, also if the daemon is killed: their totals, periods, graphs, layers and
rankings continue, and each batch of a collector counts once. Messages are acknowledged when they are on disk, in a
journal; with --no-journal only a restart by SIGINT or SIGTERM preserves the jobs. The folder is --state, else
$STATE_DIRECTORY (set by systemd), else iotide/serve/HOST below $XDG_STATE_HOME or ~/.local/state. One aggregator uses
it at a time; --state none stores nothing.

--journal stores journal and snapshots at NATS servers (JetStream) instead, so that a machine may fail: of all
aggregators with the same servers and journal, one owns the jobs; the others stand by without listening until it ends
or is silent for 3 s. Give collectors the endpoints of all of them. See docs/failover.md.

--cluster distributes the jobs instead: all aggregators with the same servers and journal are active, each with some
of the partitions that jobs are hashed to. Collectors and users may connect to any of them. --workers does the same
with N processes on this machine, and a NATS server that it starts itself. See docs/cluster.md.

--ftio-listen receives messages that TMIO, GekkoFS and other tracers send to FTIO's predictor. --ftio-reply sends each
prediction as two doubles, frequency in hertz and confidence, to the endpoint of FTIO's user.

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

SIGHUP reads the settings again: log level, receivers of alerts and operators are applied, files of principals, keys
and certificates are checked, and the log lists changes that need a restart. A service manager (sd_notify) gets
notifications of readiness, reload and end, and watchdog notifications.

Runs until SIGINT or SIGTERM. Exit status: 0 ended by a signal, 1 failed, 2 bad settings or an endpoint in use.
"""


@click.command("serve", help=_HELP)
@click.option("--config", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Settings as TOML.")
@click.option("--ingest", metavar="ENDPOINT", help="Endpoint for collectors. [default: tcp://127.0.0.1:9787]")
@click.option(
    "--http", metavar="HOST:PORT", help="Address of /metrics and /api/v1; none: off. [default: 127.0.0.1:9788]"
)
@click.option(
    "--publish", metavar="ENDPOINT", help="Endpoint for predictions; none: off. [default: tcp://127.0.0.1:9789]"
)
@click.option(
    "--interval", type=FiniteRange(min=0.01), metavar="SECONDS", help="Time between predictions. [default: 1]"
)
@click.option(
    "--state",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Folder that stores the jobs over a restart; none: off. [default: ~/.local/state/iotide/serve/HOST]",
)
@click.option("--no-journal", is_flag=True, help="Write no journal: jobs are lost if the daemon is killed.")
@click.option(
    "--journal",
    metavar="SERVER,...",
    help="Store the journal at these NATS servers, and take over the jobs when their aggregator fails. [default: off]",
)
@click.option("--journal-name", metavar="NAME", help="Name of the journal at these servers. [default: main]")
@click.option(
    "--cluster",
    metavar="SERVER,...",
    help="Store the journals at these NATS servers, and share the jobs with all aggregators there. [default: off]",
)
@click.option(
    "--partitions",
    type=click.IntRange(1, 256),
    metavar="N",
    help="Number of partitions of a cluster, fixed by its first member. [default: 8]",
)
@click.option(
    "--workers",
    type=click.IntRange(1, 256),
    metavar="N",
    help="Share the jobs among N processes of this machine. [default: off]",
)
@click.option("--behind-gateways", metavar="CLUSTER/NUMBER", hidden=True)
@click.option("--ftio-listen", metavar="ENDPOINT", help="Endpoint that FTIO's tracers send to. [default: off]")
@click.option("--ftio-reply", metavar="ENDPOINT", help="Endpoint where FTIO's user receives replies. [default: off]")
@click.option("--ftio-job", metavar="NAME", help="Job of FTIO's messages. [default: the one in the message, else ftio]")
@click.option("-v", "--verbose", is_flag=True, help="Log the start and end of jobs: log level info.")
@click.option("--log-format", type=click.Choice(["text", "json"]), help="Format of log lines. [default: text]")
@click.option("--print-config", is_flag=True, help="Print all settings as TOML with explanations, and exit.")
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
    behind_gateways: str | None,
    ftio_listen: str | None,
    ftio_reply: str | None,
    ftio_job: str | None,
    verbose: bool,
    log_format: str | None,
    print_config: bool,
) -> None:
    """Run the command."""
    from ..daemon.settings import load_settings
    from ..daemon.state.state_folder import create_folder, default_folder
    from ..events.network.descriptors import check_limit, raise_limit

    handler = log_to_standard_error(logging.WARNING, log_format or "text")
    raise_limit()
    check_limit(_DESCRIPTORS)
    ending = SignalHandler(reloads=True)

    if cluster and (journal or workers):
        raise click.UsageError("--cluster replaces --journal and --workers: leave these out")
    if partitions is not None and workers:
        raise click.UsageError("--workers has a partition for each process; leave out --partitions")
    journal_settings = _journal_settings(no_journal, cluster or journal, journal_name)
    cluster_settings = ({"on": True} if cluster else {}) | ({} if partitions is None else {"partitions": partitions})

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
            journal=journal_settings or None,
            cluster=cluster_settings or None,
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
    if default_state and settings.state == default_state and not create_folder(default_state):
        default_state = None
        settings = load()
    if workers or settings.cluster.on:
        _serve_cluster(settings, workers, ending)
        return
    partition = None
    if behind_gateways:
        from .serve_cluster import end_with_parent, partition_from

        end_with_parent()
        partition = partition_from(behind_gateways)
    from ..clients.pages.live_pages import LivePages
    from ..daemon.server import Server
    from .serve_loop import run_server

    run_server(Server(settings, LivePages(), partition=partition), settings, ending, load)


def _journal_settings(no_journal: bool, servers: str | None, name: str | None) -> dict[str, object]:
    settings: dict[str, object] = {"on": False} if no_journal else {}
    if servers:
        settings["servers"] = servers.split(",")
    if name:
        settings["name"] = name
    return settings


def _serve_cluster(settings: AggregatorSettings, workers: int | None, ending: SignalHandler) -> None:
    """Serve a part of a cluster's jobs, or with ``workers`` all jobs of this machine."""
    from .serve_cluster import run_member, run_workers

    if settings.state is None or (workers and settings.journal.servers):
        raise click.UsageError("--workers needs a folder (--state), and starts the servers of the journal itself")
    if workers:
        run_workers(settings, settings.state, workers, ending)
    else:
        run_member(settings, settings.state, ending)
