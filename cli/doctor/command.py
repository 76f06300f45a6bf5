"""``iotide doctor``: says what works on this machine and what does not, and how to mend it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

import click

from ..common.arguments.options import given

_HELP = """Check the installation and say how to fix what does not work.

Each check does the thing itself: it traces a real child process through each layer that can be tried here, creates a
memfd, binds a loopback socket.
Necessary checks decide the exit status; the others only cost a feature.

--aggregator asks a running aggregator instead: whether it answers, and whether the account of each of its latest
thousand jobs adds up, call by call from the collector to the archive.

--journal asks the NATS servers that settings of iotide serve name: whether they keep what is acknowledged (three
replicas, or each message synced), what of the journal is there, and which aggregator has its jobs.

--cluster follows a program from this node through a running installation: a collector ships its calls to --connect,
its job appears at --aggregator within seconds, is predicted, is acknowledged to the last call, has series in /metrics
and, with --prometheus, is scraped. The first check that fails names what is broken.

Exit status: 0 when everything necessary works, else 1.
"""


_COLOURS: Final = {"ok": "green", "no": "yellow", "FAIL": "red"}


@click.command("doctor", help=_HELP)
@click.option("--aggregator", metavar="URL", help="Check a running aggregator, such as http://127.0.0.1:9788.")
@click.option(
    "--journal",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    metavar="FILE",
    help="Check the NATS servers of the journal that settings of iotide serve name.",
)
@click.option("--cluster", is_flag=True, help="Follow a program of this node through a running installation.")
@click.option(
    "--connect",
    metavar="ENDPOINT",
    default="tcp://127.0.0.1:9787",
    show_default=True,
    help="With --cluster: where collectors connect.",
)
@click.option("--prometheus", metavar="URL", help="With --cluster: ask Prometheus for the job, too.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(
    aggregator: str | None, journal: Path | None, cluster: bool, connect: str, prometheus: str | None, as_json: bool
) -> None:
    """Runs the checks and prints them."""
    if not cluster and (prometheus is not None or given("connect")):
        raise click.UsageError("--connect and --prometheus go with --cluster")
    if cluster:
        from .cluster_checks import cluster_findings

        findings = cluster_findings(aggregator or "http://127.0.0.1:9788", connect, prometheus)
    elif journal is not None:
        from .journal_checks import journal_findings

        findings = journal_findings(journal)
    elif aggregator is not None:
        from .aggregator_checks import aggregator_findings

        findings = aggregator_findings(aggregator)
    else:
        from .checks import run_checks

        findings = run_checks()
    healthy = all(finding.works for finding in findings if finding.necessary)
    if as_json:
        import msgspec

        click.echo(msgspec.json.format(msgspec.json.encode({"healthy": healthy, "checks": findings})).decode())
    else:
        from ..common.console.plain_table import table_text

        rows = []
        for finding in findings:
            mark = "ok" if finding.works else "FAIL" if finding.necessary else "no"
            said = finding.detail if finding.works or not finding.remedy else f"{finding.detail}; {finding.remedy}"
            rows.append((mark, finding.name, said))
        for line in table_text(rows).splitlines():
            mark, space, rest = line.partition(" ")
            click.echo(click.style(mark, fg=_COLOURS[mark]) + space + rest if mark in _COLOURS else line)
    sys.exit(0 if healthy else 1)
