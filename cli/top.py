"""``iotide top``: the jobs of an aggregator in the terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from ..results.jobs.fleet import Fleet, FleetOrder

_HELP = """Show the jobs of an aggregator, like top for processes.

ADDRESS is the HTTP address of the aggregator, http://127.0.0.1:9788 by default. The list is updated every second. If
the output is not a terminal, or with --once, it is printed once.

\b
Keys:
  up, down       choose a job            enter   show it; again or escape: back
  s, S           sort by the next, the previous column
  r              reverse the order       /       search: job, user, command, state
  q              end

\b
Examples:
  iotide top
  iotide top --sort next --search ann
  iotide top --once https://login1:9788

Exit status: 0 ended by q or a signal, 2 bad usage or the aggregator does not answer at the start.
"""
_ORDERS = ("bandwidth", "job", "user", "period", "next", "written", "read", "last")


@click.command("top", help=_HELP)
@click.argument("address", metavar="[ADDRESS]", default="http://127.0.0.1:9788")
@click.option(
    "--sort",
    type=click.Choice(_ORDERS),
    default="bandwidth",
    show_default=True,
    help="Sort column.",
)
@click.option("--search", metavar="WORDS", default="", help="Only jobs that contain all of these words.")
@click.option("--once", is_flag=True, help="Print the list once.")
def command(address: str, sort: FleetOrder, search: str, once: bool) -> None:
    """Show the list until the user quits."""
    from ..clients.terminal.top_text import ASCENDING
    from .top_screen import ViewOptions, fetch_fleet, run_screen

    wanted = ViewOptions(sort=sort, descending=sort not in ASCENDING, search=search)
    first = fetch_fleet(address, wanted, 200)
    if once or not (sys.stdout.isatty() and sys.stdin.isatty()):
        _print(first, wanted.sort)
    else:
        run_screen(address, wanted, first)


def _print(fleet: Fleet, order: FleetOrder) -> None:
    import shutil

    from ..clients.terminal.top_text import header_line, job_line, total_line

    width = shutil.get_terminal_size((80, 24)).columns
    click.echo(total_line(fleet))
    click.echo(header_line(width, order).rstrip())
    for job in fleet.jobs:
        click.echo(job_line(job, fleet.made_at_s, width).rstrip())
    if (more := fleet.matching - len(fleet.jobs)) > 0:
        click.echo(f"and {more:,} more (--search)")
