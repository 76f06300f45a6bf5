"""Access settings."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ...events import ConfigError


class AccessSettings(BaseModel):
    """Keys, the list of permitted principals, and visibility of jobs. Files are reread when they change."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    key: Path | None = Field(
        None,
        description="Secret key of the aggregator, as written by `iotide keys new`: collectors and subscribers "
        "must connect by CURVE.",
    )
    principals: Path | None = Field(
        None,
        description="List of permitted principals, by key or token, with their permissions; `iotide keys allow` "
        "writes it.",
    )
    visibility: Literal["all", "own", "project"] = Field(
        "all",
        description="Jobs visible to a user without the permission `operate`: all, those of that user, or also those "
        "of that user's projects.",
    )
    projects: Path | None = Field(
        None, description="List of the members of projects, by users and Unix groups, for `visibility` = `project`."
    )
    vouching: Path | None = Field(
        None,
        description="Secret key, as written by `iotide keys new`, by which root of the nodes vouches for the accounts "
        "of jobs.",
    )
    local_users: bool = Field(
        False,
        description="Let all users of this machine send to `ingest`, which must be `ipc://PATH`. The kernel identifies "
        "the user of each connection, to whom its streams belong.",
    )
    operators: tuple[str, ...] = Field(
        (),
        description="Users of this machine who see all jobs over a Unix socket, in addition to root and the "
        "aggregator's user.",
    )
    certificate: Path | None = Field(None, description="Certificate chain of HTTP as PEM; enables TLS.")
    certificate_key: Path | None = Field(None, description="Private key of the certificate as PEM, without a password.")

    @model_validator(mode="after")
    def _check_complete(self) -> Self:
        if self.key is not None and self.principals is None:
            raise ConfigError("access.key needs access.principals, the list of principals that may connect")
        if (self.certificate is None) != (self.certificate_key is None):
            raise ConfigError("access.certificate and access.certificate_key need each other: set both")
        if self.local_users and self.key is not None:
            raise ConfigError("access.local_users and access.key exclude each other: the kernel or keys identify peers")
        if self.visibility == "project" and (self.projects is None or self.vouching is None):
            raise ConfigError(
                'access.visibility = "project" needs access.projects, the members of projects, and access.vouching, '
                "the key of the nodes that vouch for accounts"
            )
        return self

    @property
    def is_open(self) -> bool:
        """Whether HTTP is served without authentication and shows everything."""
        return self.principals is None and self.visibility == "all"
