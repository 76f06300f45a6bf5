"""``iotide contention``: slowdowns between jobs by file system, and forecast collisions."""

from __future__ import annotations

import click

_HELP = """Show contention between the jobs of a running aggregator.

URL is http://HOST:PORT of `iotide serve`. The output lists the file systems with their capacity, the jobs that others
slow down with the causing jobs, and the forecast collisions with time, probability, jobs and expected delays.
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
    """Print the current contention."""
    from ..clients.job_fetch import fetch_for_all_jobs
    from ..results.contention import Contention

    found = fetch_for_all_jobs(url, "contention", Contention)
    if as_json:
        click.echo(found.model_dump_json())
        return
    from ..clients.text.contention_text import print_contention

    print_contention(found)
