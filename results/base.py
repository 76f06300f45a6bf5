"""The public results, the same on every channel: ZeroMQ PUB, HTTP/JSON and ``--json``.

Times are Unix seconds, periods and durations seconds, frequencies hertz, volumes bytes. A trace whose clock has
no known zero keeps its own.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

MODELS_VERSION = 1


class Model(BaseModel):
    """Base of the public results: immutable, and closed to fields that it does not name."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="null", defer_build=True)


class Estimate(Model):
    """A number and the interval that holds it in 90 % of cases, as far as past phases tell."""

    value: float
    low: float
    high: float
