"""Receivers of alerts over HTTP."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Final, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from ...events import ConfigError
from ...events.network.endpoints import is_loopback

_MAX_RECEIVERS: Final = 8
_MAX_URL: Final = 2048


def checked_url(url: str) -> str:
    """Return a valid address unchanged.

    Raises:
        ConfigError: it is not an HTTP address, or contains a password, which belongs in a file.
    """
    if len(url) > _MAX_URL or not url.isascii() or not url.isprintable() or " " in url:
        raise ConfigError(f"{url[:100]!r} is no URL such as http://127.0.0.1:9093")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ConfigError(f"{url!r} is no URL such as http://127.0.0.1:9093: {error}") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise ConfigError(f"{url!r} is no URL such as http://127.0.0.1:9093")
    if parts.username is not None or parts.fragment:
        raise ConfigError(f"{shown_url(url)}: expected no user, password or fragment; a token is read from a file")
    return url


def shown_url(url: str) -> str:
    """Return an address without possible secrets: user, password and query."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _split(value: object) -> object:
    return value.split() if isinstance(value, str) else value


Urls = Annotated[tuple[Annotated[str, AfterValidator(checked_url)], ...], BeforeValidator(_split)]
"""Addresses; separated by spaces in the environment."""


class NotifySettings(BaseModel):
    """The table ``notify``. Immutable."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    alertmanagers: Urls = Field(
        (),
        max_length=_MAX_RECEIVERS,
        description="Addresses of Alertmanagers, such as http://127.0.0.1:9093; each gets all alerts.",
    )
    webhooks: Urls = Field(
        (), max_length=_MAX_RECEIVERS, description="Addresses that get alerts in the format of Alertmanager's webhooks."
    )
    alertmanager_token_file: Path | None = Field(
        None, description="File with a token for the Alertmanagers; over https, or on loopback."
    )
    webhook_token_file: Path | None = Field(
        None, description="File with a token for the webhooks; over https, or on loopback."
    )
    ca_file: Path | None = Field(
        None, description="File of CA certificates (PEM) for https; by default those of the system."
    )
    repeat_s: float = Field(
        60.0,
        ge=1,
        le=3600,
        description="Interval at which raised alerts are sent to Alertmanagers again, s; they resolve an alert "
        "after four missed repetitions.",
    )
    timeout_s: float = Field(10.0, gt=0, le=300, description="Timeout of a receiver, s.")
    max_waiting: int = Field(
        1000, ge=1, description="Maximum number of pending alerts per receiver; further ones are dropped."
    )
    labels: dict[str, str] = Field(
        default_factory=dict, description="Labels of each alert, such as the name of the cluster."
    )
    external_url: str = Field("", description="Address of this aggregator in alerts; by default its HTTP address.")
    runbooks_url: str = Field(
        "", description="Address of the runbooks in alerts; by default `/runbooks` of this aggregator."
    )

    @model_validator(mode="after")
    def _check_tokens(self) -> Self:
        for name, urls in (("alertmanager", self.alertmanagers), ("webhook", self.webhooks)):
            if getattr(self, f"{name}_token_file") is None:
                continue
            for url in urls:
                parts = urlsplit(url)
                if parts.scheme != "https" and not is_loopback(parts.hostname or ""):
                    raise ConfigError(f"{shown_url(url)}: {name}_token_file would be sent in plain text; use https")
        return self

    @model_validator(mode="after")
    def _check_labels(self) -> Self:
        for name in self.labels:
            if not name.isidentifier() or not name.isascii() or name in _RESERVED_LABELS:
                raise ConfigError(f"labels.{name}: expected letters, digits and _, and none of iotide's own labels")
        return self

    @model_validator(mode="after")
    def _check_files(self) -> Self:
        for name in ("alertmanager_token_file", "webhook_token_file", "ca_file"):
            path: Path | None = getattr(self, name)
            if path is not None and not os.access(path, os.R_OK):
                raise ConfigError(f"{name}: {path} cannot be read")
        return self


_RESERVED_LABELS: Final = frozenset({"alertname", "severity", "kind", "file_system", "job_id", "measure"})
