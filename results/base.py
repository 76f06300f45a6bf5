"""The public results, the same on every channel: ZeroMQ PUB, HTTP/JSON and ``--json``.

Times are Unix seconds, periods and durations seconds, frequencies hertz, volumes bytes. Where the zero of a trace's
clock is unknown, times are those of this clock.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic_core import PydanticSerializationError

MODELS_VERSION = 1


class Model(BaseModel):
    """Base of the public results: immutable. Unknown fields are ignored, since a newer aggregator may add some."""

    model_config = ConfigDict(frozen=True, extra="ignore", ser_json_inf_nan="null", defer_build=True)

    def model_dump_json(self, **options: Any) -> str:
        """Return the model as JSON. Bytes of texts that are not UTF-8, such as paths, are escaped."""
        try:
            return super().model_dump_json(**options)
        except PydanticSerializationError:
            readable_copy = type(self).model_validate(_with_readable_texts(self.model_dump()))
            return BaseModel.model_dump_json(readable_copy, **options)


def _with_readable_texts(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    if isinstance(value, dict):
        return {_with_readable_texts(key): _with_readable_texts(item) for key, item in value.items()}
    return [_with_readable_texts(item) for item in value] if isinstance(value, list | tuple) else value


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
