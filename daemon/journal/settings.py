"""How a journal is kept."""

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
        raise ConfigError(f"{address!r} is no NATS server such as nats://127.0.0.1:4222 or tls://nats1:4222")
    return address


def _monitor(address: str) -> str:
    parts = urllib.parse.urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(f"{address!r} is no monitoring address of a NATS server such as http://127.0.0.1:8222")
    return address


class JournalSettings(BaseModel):
    """What an aggregator that has a folder for its state does for the case that it is killed."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    on: bool = Field(True, description="Acknowledge what came once it is on disk below `state`; needs `state`.")
    snapshot_s: float = Field(
        60.0,
        gt=0,
        description="Seconds between snapshots of all jobs, after which what was journalled before them is removed; "
        "longer where they take more than a twentieth of it.",
    )
    recovery_s: float = Field(
        2.0,
        gt=0,
        description="CPU time of work, s, after which a snapshot is made sooner: about as long does the next daemon "
        "take for what is journalled behind it.",
    )
    segment_bytes: int = Field(
        2**26, ge=2**16, description="Bytes of one file; a snapshot is also made once four files are full."
    )
    quota_bytes: int = Field(
        2**32,
        ge=2**20,
        description="Bytes that all files may take; beyond it what comes is taken in and acknowledged with the next "
        "snapshot.",
    )
    servers: tuple[Annotated[str, AfterValidator(_server)], ...] = Field(
        (),
        description="NATS servers, such as nats://127.0.0.1:4222: journal and snapshots are kept there by JetStream, "
        "and of all aggregators that name the same journal one has the jobs while the others wait to take over.",
    )
    name: str = Field(
        "main",
        pattern=r"^[A-Za-z0-9_-]{1,32}$",
        description="Which journal it is, of those at the same servers: each has jobs of its own.",
    )
    replicas: int = Field(
        3,
        ge=1,
        le=5,
        description="Servers that keep each message; fewer than 3 only where all have `sync_interval: always`.",
    )
    monitors: tuple[Annotated[str, AfterValidator(_monitor)], ...] = Field(
        (),
        description="Monitoring addresses of the servers, such as http://127.0.0.1:8222, where they are asked about "
        "that; needed for fewer than 3 replicas.",
    )
    credentials: Path | None = Field(None, description="Credentials file for the NATS servers.")
    token: Path | None = Field(None, description="File with the token that the NATS servers ask for.")
    authority: Path | None = Field(
        None, description="Certificates, as PEM, that those of the NATS servers are signed by; the system's otherwise."
    )
    lease_s: float = Field(
        3.0,
        ge=1,
        le=60,
        description="Seconds for which an aggregator may not be heard of before another one takes over.",
    )
    allow_plaintext: bool = Field(
        False, description="Speak to NATS servers beyond loopback in plain text (on a trusted network only)."
    )

    @model_validator(mode="after")
    def _private(self) -> Self:
        for server in self.servers:
            parts = urllib.parse.urlsplit(server)
            if parts.scheme != "tls" and not self.allow_plaintext and not is_loopback(parts.hostname or ""):
                raise ConfigError(
                    f"journal.servers: {server} would be spoken to in plain text; use tls://, or set "
                    "journal.allow_plaintext on a trusted network"
                )
        return self
