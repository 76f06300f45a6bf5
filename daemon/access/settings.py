"""What is asked of those who connect."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ...events import ConfigError


class AccessSettings(BaseModel):
    """Keys, the list of who may connect, and whose jobs they see; files are read again when they change."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    key: Path | None = Field(
        None,
        description="Secret key of the aggregator, as `iotide keys new` writes it: collectors and subscribers connect "
        "by CURVE alone.",
    )
    principals: Path | None = Field(
        None,
        description="List of who may connect, by key or token, and for what; `iotide keys allow` writes it.",
    )
    visibility: Literal["all", "own"] = Field(
        "all", description="Jobs that a user without the permission `operate` sees: all, or those of that user."
    )
    operators: tuple[str, ...] = Field(
        (), description="Users of this machine that see all over a Unix socket, beside root and the aggregator's own."
    )
    certificate: Path | None = Field(None, description="Certificate chain of HTTP as PEM; switches TLS on.")
    certificate_key: Path | None = Field(None, description="Private key of the certificate as PEM, without a password.")

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.key is not None and self.principals is None:
            raise ConfigError("access.key needs access.principals, the list of who may connect")
        if (self.certificate is None) != (self.certificate_key is None):
            raise ConfigError("access.certificate and access.certificate_key go together")
        return self

    @property
    def is_open(self) -> bool:
        """Whether HTTP is answered without asking who asks, and all is shown."""
        return self.principals is None and self.visibility == "all"
