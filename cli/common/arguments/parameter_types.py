"""Types of values on a command line: times, finite numbers, rates, names."""

from __future__ import annotations

import math
import re
from datetime import datetime
from typing import Any, Final

import click
from msgspec import Struct

_UNIX_FROM_S: Final = 1e8  # March 1973; no trace is three years long
_MAX_S: Final = 2**33
_EXPECTED: Final = "seconds from the trace's start (12.5), Unix seconds (1731000000), or a date (2024-11-07T12:00:00)"
_FACTORS: Final = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}
_FORM: Final = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(?:e([+-]?\d{1,3}))?\s*([kmgt]?)(?:b(?:/s)?)?", re.IGNORECASE)


class Moment(Struct, frozen=True):
    """A time argument.

    Attributes:
        text: text as typed.
        seconds: seconds from the trace's start, or since the Unix epoch.
        is_unix: whether it counts from the Unix epoch.
    """

    text: str
    seconds: float
    is_unix: bool

    def to_ns(self, start_ns: int, wall_clock: bool, option: str) -> int:
        """Return the time on the clock of a trace, ns.

        Args:
            start_ns: start of the trace.
            wall_clock: whether the trace's clock has a known zero.
            option: name of the option, for errors.

        Raises:
            click.UsageError: a date was given, and the trace's clock has no known zero.
        """
        if not self.is_unix:
            return start_ns + round(self.seconds * 1e9)
        if not wall_clock:
            raise click.UsageError(
                f"{option} {self.text}: this trace does not say on which day it was made; "
                "give seconds from its start instead"
            )
        return round(self.seconds * 1e9)


def moment_of(ctx: click.Context, param: click.Parameter, value: str | None) -> Moment | None:
    """Parse a time, as an option callback; a date without a time zone is local."""
    if value is None:
        return None
    try:
        return parsed(value)
    except ValueError:
        raise click.BadParameter(
            f"{value.strip()!r} is not a point in time; expected {_EXPECTED}", ctx, param
        ) from None


def parsed(value: str) -> Moment:
    """Parse a time. Raises ValueError for anything else."""
    text = value.strip()
    try:
        seconds = float(text)
        absolute = seconds >= _UNIX_FROM_S
    except ValueError:
        try:
            seconds, absolute = datetime.fromisoformat(text).timestamp(), True
        except (ValueError, OverflowError, OSError):
            seconds, absolute = math.nan, False
    if not 0 <= seconds < _MAX_S:
        raise ValueError(text)
    return Moment(text, seconds, absolute)


class FiniteRange(click.FloatRange):
    """A number within bounds. ``click.FloatRange`` takes NaN for any, and infinity where one bound is open."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value!r} is no finite number", param, ctx)
        return number


class Rate(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.2 on
    """Bytes per second with a decimal prefix: ``2.5G``, ``300 MB/s``, ``1e9``."""

    name = "rate"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the rate, bytes/s."""
        if isinstance(value, float):
            return value
        found = _FORM.fullmatch(str(value).strip())
        rate = 0.0
        if found:
            rate = float(f"{found[1]}e{found[2] or 0}") * _FACTORS[found[3].lower()]
        if not 0 < rate < math.inf:
            self.fail(f"{value!r}; expected bytes/s above 0, such as 2.5G, 300M or 1e9", param, ctx)
        return rate


class ReadableText(click.types.StringParamType):
    """A name, such as a job id. Bytes that are not UTF-8 are replaced, as no output could represent them."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name."""
        from ....events.files import readable

        return readable(value)
