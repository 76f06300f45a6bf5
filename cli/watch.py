"""``iotide watch``: one line per prediction of an aggregator."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .common.arguments.options import key_options
from .common.arguments.parameter_types import FiniteRange

if TYPE_CHECKING:
    from ..events.network.key_source import KeyFiles

_HELP = """Print one line per prediction that an aggregator publishes.

\b
Examples:
  iotide watch
  iotide watch --job 4711 --json | jq -r .next_phase.start_s.value
  iotide watch --count 1 --timeout 10
  iotide watch --alerts

Standard error has why the aggregator cannot be reached, and when the connection is made, lost and made again.

Runs until SIGINT. Exit status: 0 ended by a signal or after --count, 1 no prediction came within --timeout, 2 bad
usage.
"""


@click.command("watch", help=_HELP)
@click.option(
    "--connect",
    metavar="ENDPOINT",
    default="tcp://127.0.0.1:9789",
    show_default=True,
    help="Endpoint at which the aggregator publishes.",
)
@click.option("--job", "jobs", metavar="NAME", multiple=True, help="Only this job. Repeatable.")
@click.option("--alerts", is_flag=True, help="Print alerts on contention instead, when they are raised and resolved.")
@click.option("--json", "as_json", is_flag=True, help="Print each prediction or alert as one line of JSON.")
@click.option("--count", type=click.IntRange(min=1), metavar="N", help="End after N predictions.")
@click.option(
    "--timeout",
    type=FiniteRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Exit with status 1 if nothing arrives for this time.",
)
@key_options
def command(
    connect: str,
    jobs: tuple[str, ...],
    alerts: bool,
    as_json: bool,
    count: int | None,
    timeout: float | None,
    keys: tuple[Path | None, Path | None],
) -> None:
    """Run the command."""
    import logging

    from ..events.network.key_source import KeyFiles
    from .common.console.logs import log_to_standard_error

    log_to_standard_error(logging.INFO)
    known = KeyFiles(*keys)
    if alerts:
        if jobs:
            raise click.UsageError("--alerts shows those of all jobs: leave --job out")
        _print_alerts(connect, as_json, count, timeout, known)
        return
    from ..clients.subscriber import Subscriber
    from ..clients.text.prediction_text import prediction_lines

    with Subscriber(connect, jobs=jobs or None, timeout_s=timeout, keys=known) as predictions:
        try:
            for number, prediction in enumerate(predictions, 1):
                click.echo(prediction.model_dump_json() if as_json else "\n".join(prediction_lines(prediction)))
                if number == count:
                    return
        except KeyboardInterrupt:
            sys.exit(0)


def _print_alerts(connect: str, as_json: bool, count: int | None, timeout: float | None, keys: KeyFiles) -> None:
    from ..clients.subscriber import AlertSubscriber
    from ..clients.text.contention_text import alert_line

    with AlertSubscriber(connect, timeout_s=timeout, keys=keys) as alerts:
        try:
            for number, alert in enumerate(alerts, 1):
                click.echo(alert.model_dump_json() if as_json else alert_line(alert))
                if number == count:
                    return
        except KeyboardInterrupt:
            sys.exit(0)
