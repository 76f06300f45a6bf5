"""Journal settings."""

from __future__ import annotations

import urllib.parse
from pathlib import Path
from typing import Annotated, Final, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from ...events import ConfigError
from ...events.network.endpoints import is_loopback

_SCHEMES: Final = ("nats", "tls")


def _server(address: str) -> str:
    parts = urllib.parse.urlsplit(address)
    try:
        is_one = parts.scheme in _SCHEMES and bool(parts.hostname) and parts.port != 0 and "@" not in parts.netloc
    except ValueError:
        is_one = False
    if not is_one or parts.path or parts.query or parts.fragment:
        raise ConfigError(
            f"{address!r} is no address of a NATS server, such as nats://127.0.0.1:4222 or tls://nats1:4222"
        )
    return address


def _monitor(address: str) -> str:
    parts = urllib.parse.urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(f"{address!r} is no monitoring address of a NATS server, such as http://127.0.0.1:8222")
    return address


class JournalSettings(BaseModel):
    """Protection of an aggregator with a state folder against being killed."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    on: bool = Field(True, description="Acknowledge messages when they are on disk below `state`; needs `state`.")
    snapshot_s: float = Field(
        60.0,
        gt=0,
        description="Seconds between snapshots of all jobs, after which earlier journal records are removed; "
        "longer if a snapshot takes more than a twentieth of it.",
    )
    recovery_s: float = Field(
        2.0,
        gt=0,
        description="CPU time of work, s, after which a snapshot is made sooner; a replay of the journal takes "
        "about as long.",
    )
    segment_bytes: int = Field(
        2**26, ge=2**16, description="Size of one file, bytes; a snapshot is also made once four files are full."
    )
    quota_bytes: int = Field(
        2**32,
        ge=2**20,
        description="Bytes that all files may take; beyond it what comes is taken in and acknowledged with the next "
        "snapshot.",
    )
    servers: tuple[Annotated[str, AfterValidator(_server)], ...] = Field(
        (),
        description="NATS servers, such as nats://127.0.0.1:4222, that store journal and snapshots by JetStream. "
        "Of all aggregators with the same journal, one owns the jobs, and the others wait to take "
        "over.",
    )
    name: str = Field(
        "main",
        pattern=r"^[A-Za-z0-9_-]{1,32}$",
        description="Name of the journal at these servers; each journal has its own jobs.",
    )
    replicas: int = Field(
        3,
        ge=1,
        le=5,
        description="Number of servers that store each message; fewer than 3 only if all have `sync_interval: always`.",
    )
    monitors: tuple[Annotated[str, AfterValidator(_monitor)], ...] = Field(
        (),
        description="Monitoring addresses of the servers, such as http://127.0.0.1:8222, for checking this; "
        "needed for fewer than 3 replicas.",
    )
    credentials: Path | None = Field(None, description="Credentials file for the NATS servers.")
    token: Path | None = Field(None, description="File with the token for the NATS servers.")
    authority: Path | None = Field(
        None, description="CA certificates (PEM) for the NATS servers; by default those of the system."
    )
    certificate: Path | None = Field(
        None, description="Certificate chain, as PEM, that NATS servers with `verify` ask for."
    )
    certificate_key: Path | None = Field(
        None, description="Private key of this certificate, as PEM, without a password."
    )
    lease_s: float = Field(
        3.0,
        ge=1,
        le=60,
        description="Silence of an aggregator after which another one takes over, s.",
    )
    allow_plaintext: bool = Field(
        False, description="Connect to NATS servers beyond loopback in plain text (on a trusted network only)."
    )

    @model_validator(mode="after")
    def _private(self) -> Self:
        if (self.certificate is None) != (self.certificate_key is None):
            raise ConfigError("journal.certificate and journal.certificate_key need each other: set both")
        for server in self.servers:
            parts = urllib.parse.urlsplit(server)
            if parts.scheme != "tls" and not self.allow_plaintext and not is_loopback(parts.hostname or ""):
                raise ConfigError(
                    f"journal.servers: {server} is not encrypted; use tls://, or set journal.allow_plaintext "
                    "on a trusted network"
                )
        return self
