"""Numbers on the command line."""

from __future__ import annotations

import math
import re
from typing import Any, Final

import click

_FACTORS: Final = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}
_FORM: Final = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(?:e([+-]?\d{1,3}))?\s*([kmgt]?)(?:b(?:/s)?)?", re.IGNORECASE)


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
