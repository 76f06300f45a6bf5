"""Options that several sub-commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

METHODS = ("tide", "reference")
SAMPLINGS = ("volume", "point")
MODES = ("read", "write", "both")


def detection_options(function: F) -> F:
    """Adds the options that say how a period is looked for."""
    for option in reversed(
        [
            click.option(
                "-f",
                "--frequency",
                type=click.FloatRange(min=1e-6, max=1e6),
                default=10.0,
                show_default=True,
                metavar="HZ",
                help="Sampling frequency of the bandwidth signal.",
            ),
            click.option(
                "--mode",
                type=click.Choice(MODES),
                default="both",
                show_default=True,
                help="Which direction of data movement counts.",
            ),
            click.option(
                "--method",
                type=click.Choice(METHODS),
                default="tide",
                show_default=True,
                help="tide: refined period, phases, next phase. reference: FTIO's answer exactly.",
            ),
            click.option(
                "--sampling",
                type=click.Choice(SAMPLINGS),
                default="volume",
                show_default=True,
                help="volume keeps every byte; point samples the bandwidth as the reference does.",
            ),
            click.option(
                "--tolerance",
                type=click.FloatRange(0, 1),
                default=0.8,
                show_default=True,
                help="Candidates have at least this share of the highest Z-score.",
            ),
        ]
    ):
        function = option(function)
    return function
