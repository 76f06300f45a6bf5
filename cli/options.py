"""Options that several sub-commands share."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Final

import click

_OPTIONS: Final = (
    click.option(
        "-f",
        "--frequency",
        type=click.FloatRange(min=1e-6, max=1e6),
        default=None,
        show_default="automatic",
        metavar="HZ",
        help="Sampling frequency of the bandwidth signal. Automatic: several; 10 Hz with --method reference.",
    ),
    click.option(
        "--mode",
        type=click.Choice(("read", "write", "both")),
        default="both",
        show_default=True,
        help="Which direction of data movement counts.",
    ),
    click.option(
        "--method",
        type=click.Choice(("tide", "reference")),
        default="tide",
        show_default=True,
        help="tide: refined period, phases, next phase. reference: FTIO's answer exactly.",
    ),
    click.option(
        "--sampling",
        type=click.Choice(("volume", "point")),
        default="volume",
        show_default=True,
        help="volume keeps every byte; point samples the bandwidth as the reference does (finished traces only).",
    ),
    click.option(
        "--tolerance",
        type=click.FloatRange(0, 1),
        default=0.8,
        show_default=True,
        help="Candidates have at least this share of the highest Z-score.",
    ),
)
_NAMES: Final = {"frequency": "sampling_frequency_hz"}
_KEYS: Final = ("frequency", "mode", "method", "sampling", "tolerance")


def detection_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options that say how a period is looked for; the command gets them as one dict, ``detection``.

    Its keys are those of ``analyzers.settings.DetectSettings``, which is not imported here so that --help is instant.
    """

    @wraps(function)
    def gathered(**given: Any) -> Any:
        detection = {_NAMES.get(key, key): given.pop(key) for key in _KEYS}
        return function(detection=detection, **given)

    command: Callable[..., Any] = gathered
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
