"""What clients of HTTP may take."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class HttpSettings(BaseModel):
    """Bounds of HTTP's connections."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    connections: int = Field(
        256, ge=1, description="Connections at once, fewer where `ulimit -n` is low; further ones get 503."
    )
    header_timeout_s: float = Field(10.0, gt=0, description="Time that a client has for a request's head, s.")
    body_timeout_s: float = Field(
        30.0, gt=0, description="Time that a client has for a request's body, and for reading what stalls, s."
    )
    idle_timeout_s: float = Field(75.0, gt=0, description="Time between requests after which a connection ends, s.")
