"""Messages of ``iotide run`` on standard error."""

from __future__ import annotations

import click

from ...clients.text.printable import printable


def print_message(text: str) -> None:
    """Print one line."""
    click.echo(f"iotide: {printable(text)}", err=True)
