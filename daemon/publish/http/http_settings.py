"""Limits of HTTP clients."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class HttpSettings(BaseModel):
    """Bounds of HTTP connections."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    connections: int = Field(
        256, ge=1, description="Maximum number of connections, fewer if `ulimit -n` is low; further ones get 503."
    )
    connections_per_peer: int = Field(
        128,
        ge=1,
        description="Maximum number of connections of an address, or of a user on a Unix socket; further ones get 503.",
    )
    body_bytes: int = Field(
        512 << 20,
        ge=1 << 20,
        description="Maximum number of bytes of the bodies of all requests together; further requests get 503.",
    )
    header_timeout_s: float = Field(10.0, gt=0, description="Timeout of a request's header, s.")
    body_timeout_s: float = Field(
        30.0, gt=0, description="Timeout of a request's body, and of a client that does not read, s."
    )
    idle_timeout_s: float = Field(
        75.0, gt=0, description="Time between requests after which a connection is closed, s."
    )
