"""The public results, the same on every channel: ZeroMQ PUB, HTTP/JSON and ``--json``.

Times are Unix seconds, periods and durations seconds, frequencies hertz, volumes bytes. Where the zero of a trace's
clock is unknown, times are those of this clock.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

MODELS_VERSION = 1


class Model(BaseModel):
    """Base of the public results: immutable. Unknown fields are ignored, since a newer aggregator may add some."""

    model_config = ConfigDict(frozen=True, extra="ignore", ser_json_inf_nan="null", defer_build=True)


class Request(Model):
    """Base of what clients send to the aggregator. Unknown fields are refused: an ignored one might matter."""

    model_config = ConfigDict(extra="forbid")


class Estimate(Model):
    """A value with its 90 % interval, estimated from past phases."""

    value: float
    low: float
    high: float


class RequestError(Model):
    """What was wrong, and what is expected instead."""

    error: str
    expected: str
