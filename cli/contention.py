"""``iotide contention``: who slows whom down on which file system, and which collisions are to come."""

from __future__ import annotations

import click

_HELP = """Show how the jobs of a running aggregator get into one another's way.

URL is http://HOST:PORT of `iotide serve`. Shown are the file systems with what they can move, the jobs that others slow
down and who these are, and the collisions to come: when, how likely, who, and the delay that each is to expect.
docs/contention.md explains every number.

\b
Examples:
  iotide contention http://127.0.0.1:9788
  iotide contention --json http://127.0.0.1:9788 | jq '.collisions[0]'

Exit status: 0 done, 2 bad usage or no answer.
"""


@click.command("contention", help=_HELP)
@click.argument("url", metavar="URL")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(url: str, as_json: bool) -> None:
    """Prints contention as it is now."""
    from ..clients.job_fetch import fetch_of_all
    from ..results.contention import Contention

    found = fetch_of_all(url, "contention", Contention)
    if as_json:
        click.echo(found.model_dump_json())
        return
    from ..clients.text.contention_text import show

    show(found)
