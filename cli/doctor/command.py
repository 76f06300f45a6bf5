"""``iotide doctor``: says what works on this machine and what does not, and how to mend it."""

from __future__ import annotations

import sys

import click

_HELP = """Check the installation and say how to fix what does not work.

Each check does the thing itself: it traces a real child process through each layer that can be tried here, creates a
memfd, binds a loopback socket.
Necessary checks decide the exit status; the others only cost a feature.

Exit status: 0 when everything necessary works, else 1.
"""


@click.command("doctor", help=_HELP)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(as_json: bool) -> None:
    """Runs the checks and prints them."""
    from .checks import run_checks

    findings = run_checks()
    healthy = all(finding.works for finding in findings if finding.necessary)
    if as_json:
        import msgspec

        click.echo(msgspec.json.format(msgspec.json.encode({"healthy": healthy, "checks": findings})).decode())
    else:
        from rich.console import Console
        from rich.markup import escape
        from rich.table import Table

        table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
        marks = {True: "[green]ok[/green]", False: "[yellow]no[/yellow]"}
        for finding in findings:
            mark = "[red]FAIL[/red]" if finding.necessary and not finding.works else marks[finding.works]
            said = finding.detail if finding.works else f"{finding.detail}; {finding.remedy}"
            table.add_row(mark, finding.name, escape(said))
        Console(highlight=False).print(table)
    sys.exit(0 if healthy else 1)
