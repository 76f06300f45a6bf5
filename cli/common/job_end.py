"""The time limit of a job, from the user or the batch system."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, Final

import click

from .arguments.parameter_types import parsed

VARIABLE: Final = "SLURM_JOB_END_TIME"
# values of jobs without a limit, as squeue spells them
_NO_END: Final = ("", "0", "none", "n/a", "unknown", "unlimited")
_EXPECTED: Final = "expected +SECONDS from now (+3600), Unix seconds (1731000000), or a date (2024-11-07T12:00:00)"
_MAX_S: Final = 10 * 366 * 86_400.0


def parse_end(ctx: click.Context, param: click.Parameter, value: str | None) -> float | None:
    """Parse the option."""
    if value is None:
        return None
    value = value.strip()
    if value.startswith("+"):
        try:
            from_now_s = float(value)
        except ValueError:
            from_now_s = 0.0
        if 0 < from_now_s <= _MAX_S:
            return time.time() + from_now_s
        raise click.BadParameter(f"{value!r} is no end; {_EXPECTED}", ctx, param)
    try:
        return parse_time_s(value)
    except ValueError:
        raise click.BadParameter(f"{value!r} is no end; {_EXPECTED}", ctx, param) from None


def parse_time_s(text: str) -> float:
    """Return Unix seconds or a date as Unix seconds; raise ValueError for anything else."""
    moment = parsed(text)
    if not moment.is_unix:
        raise ValueError(text)
    return moment.seconds


def ends_at_option() -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the option; the command gets ``ends_at``, Unix time or None."""
    return click.option(
        "--ends-at",
        metavar="WHEN",
        callback=parse_end,
        help="When the job is killed: +SECONDS from now, Unix seconds or a date. Each prediction then says which "
        f"checkpoint is the last one, and what is lost. Default: ${VARIABLE}.",
    )


def end_of_job(given: float | None, environment: Mapping[str, str], say: Callable[[str], None]) -> float:
    """Return the end as Unix time, from the option, else from the batch system. Return 0 if unknown.

    An end in the past is unknown and no error: a script may run later than planned, and its job beyond its limit.

    Args:
        given: the option.
        environment: variables of the batch system.
        say: callback with a message about an invalid value.
    """
    source, at_s = "--ends-at", given
    if at_s is None:
        source, text = VARIABLE, environment.get(VARIABLE, "").strip()
        if text.lower() in _NO_END:
            return 0.0
        try:
            at_s = parse_time_s(text)
        except ValueError:
            say(f"{VARIABLE} is {text[:40]!r}, which is not a time: the job's end is not known")
            return 0.0
    if at_s <= time.time():
        moment = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at_s))
        say(f"{source} is {moment}, which has passed: the job's end is not known")
        return 0.0
    return at_s
