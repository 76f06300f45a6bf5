"""``iotide doctor``: checks of this machine, with fixes for problems."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from ..common.arguments.options import is_given

_HELP = """Check the installation and report how to fix problems.

Each check performs the operation itself: it traces a child process through each available layer, creates a memfd,
binds a loopback socket. Necessary checks decide the exit status; the others only affect one feature.

--aggregator checks a running aggregator instead: whether it answers, its health, storage and reached bounds, and
whether the ledger of each of its latest thousand jobs balances, for all calls from the collector to the archive.

--journal checks the NATS servers in the settings of iotide serve: whether acknowledged messages are durable (three
replicas, or each message synced), the contents of the journal, and which aggregator owns the jobs. With cluster.on in
these settings: members, their keys and clocks, and the owner, standby, journal and replicas of each partition.

--cluster follows a program from this node through a running installation: the connection to --connect can be made with
IOTIDE_KEY and IOTIDE_SERVER_KEY, a program is traced, its job appears at --aggregator within seconds, is predicted, is
acknowledged to the last call, has series in /metrics and, with --prometheus, is scraped. The first failed check names
the cause and the remedy. On a node of Slurm it also checks the scripts in slurm.conf, their settings, and the node's
log.

Exit status: 0 if all necessary checks succeed, else 1.
"""


_COLOURS: Final = {"ok": "green", "no": "yellow", "FAIL": "red"}
_GAP = "  "
_MIN_LAST_WIDTH = 30
"""Least width of the last column."""


@click.command("doctor", help=_HELP)
@click.option("--aggregator", metavar="URL", help="Check a running aggregator, such as http://127.0.0.1:9788.")
@click.option(
    "--journal",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    metavar="FILE",
    help="Check the NATS servers of the journal in a settings file of iotide serve.",
)
@click.option("--cluster", is_flag=True, help="Follow a program of this node through a running installation.")
@click.option(
    "--connect",
    metavar="ENDPOINT",
    default="tcp://127.0.0.1:9787",
    show_default=True,
    help="With --cluster: endpoint for collectors.",
)
@click.option("--prometheus", metavar="URL", help="With --cluster: also check the job in Prometheus.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(
    aggregator: str | None, journal: Path | None, cluster: bool, connect: str, prometheus: str | None, as_json: bool
) -> None:
    """Run the checks and print the results."""
    if not cluster and (prometheus is not None or is_given("connect")):
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
        rows = []
        for finding in findings:
            mark = "ok" if finding.works else "FAIL" if finding.necessary else "no"
            text = finding.detail if finding.works or not finding.remedy else f"{finding.detail}; {finding.remedy}"
            rows.append((mark, finding.name, text))
        for line in table_text(rows).splitlines():
            mark, space, rest = line.partition(" ")
            click.echo(click.style(mark, fg=_COLOURS[mark]) + space + rest if mark in _COLOURS else line)
    sys.exit(0 if healthy else 1)


def table_text(rows: Sequence[Sequence[str]]) -> str:
    """Return rows of equal length in columns. The last column is wrapped to the width of the terminal.

    >>> print(table_text([["ok", "kernel", "6.1"], ["FAIL", "Python", "3.9"]]))
    ok    kernel  6.1
    FAIL  Python  3.9
    """
    if not rows:
        return ""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    before = sum(widths) + len(_GAP) * len(widths)
    room = max(shutil.get_terminal_size().columns - before, _MIN_LAST_WIDTH)
    lines = []
    for row in rows:
        head = "".join(f"{text:<{width}}{_GAP}" for text, width in zip(row, widths, strict=False))
        wrapped = textwrap.wrap(row[-1], room) or [""]
        lines += [head + wrapped[0], *(" " * before + line for line in wrapped[1:])]
    return "\n".join(line.rstrip() for line in lines)
