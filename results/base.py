"""The public results, the same on every channel: ZeroMQ PUB, HTTP/JSON and ``--json``.

Times are Unix seconds, periods and durations seconds, frequencies hertz, volumes bytes. Where the zero of a trace's
clock is unknown, times are those of this clock.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

MODELS_VERSION = 1


class Model(BaseModel):
    """Base of the public results: immutable; unknown fields are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="null", defer_build=True)


class Estimate(Model):
    """A value with its 90 % interval, estimated from past phases."""

    value: float
    low: float
    high: float
