"""Settings of the aggregator: read once from a TOML file and the environment."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal, Self

from pydantic import ConfigDict, Field, ValidationError, model_validator

from ..analyzers.contention.settings import ContentionSettings
from ..events import ConfigError
from ..events.files import read_toml
from ..events.network.endpoints import ConnectingEndpoint, HttpAddress, ListeningEndpoint
from .access.settings import AccessSettings
from .archiving.archive_settings import ArchiveSettings
from .cluster_settings import ClusterSettings
from .ingest.ingest_settings import IngestSettings
from .jobs.job_settings import JobSettings
from .journal.settings import JournalSettings
from .notify.notify_settings import NotifySettings
from .publish.http.http_settings import HttpSettings
from .settings_checks import check_kinds, validation_text, value_of_text

ENVIRONMENT_PREFIX: Final = "IOTIDE_SERVE_"
_MAX_CLUSTER_NAME: Final = 27
"""Maximum letters of the name of a cluster. It and a partition's number form the name of the partition's journal."""


class AggregatorSettings(JobSettings):
    """All settings of an aggregator."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    ingest: ListeningEndpoint = Field("tcp://127.0.0.1:9787", description="ZeroMQ endpoint for collectors.")
    http: HttpAddress | None = Field(
        "127.0.0.1:9788",
        description="HOST:PORT of /metrics, /healthz, /readyz and /api/v1, or unix:PATH; none disables HTTP.",
    )
    publish: ListeningEndpoint | None = Field(
        "tcp://127.0.0.1:9789", description="ZeroMQ endpoint for subscribers; none disables it."
    )
    publish_behind: int = Field(
        10_000, ge=10, description="Messages that may wait for a subscriber; one that does not read is cut off."
    )
    allow_remote: bool = Field(
        False,
        description="Allow HTTP, publishing and FTIO's protocol beyond loopback, in plain text.",
    )
    ftio_listen: ListeningEndpoint | None = Field(
        None, description="ZeroMQ endpoint for messages of FTIO's tracers, such as tcp://127.0.0.1:5555."
    )
    ftio_reply: ConnectingEndpoint | None = Field(
        None, description="ZeroMQ endpoint where a user of FTIO receives replies, such as tcp://127.0.0.1:5556."
    )
    ftio_job: str = Field("", description="Job of FTIO's messages; by default the one in the message, else ftio.")
    state: Path | None = Field(
        None,
        description="Folder that stores jobs and journal over a restart; none stores nothing. If it is not set, "
        "iotide serve uses $STATE_DIRECTORY, else iotide/serve/HOST below $XDG_STATE_HOME or "
        "~/.local/state.",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "warning", description="Least level of log lines; info includes the start and end of jobs."
    )
    log_format: Literal["text", "json"] = Field("text", description="Log lines as text, or as one JSON object each.")
    stop_within_s: float = Field(
        60.0,
        gt=0,
        description="Time limit of the shutdown on SIGTERM, s. Waiting messages are processed for at most one "
        "second and acknowledged. Jobs are stored if half of the limit is expected to suffice, "
        "otherwise the next aggregator replays the journal.",
    )
    bounds: IngestSettings = Field(
        default_factory=IngestSettings.model_construct, description="Bounds of collectors' input."
    )
    http_limits: HttpSettings = Field(
        default_factory=HttpSettings.model_construct, description="Bounds of HTTP connections."
    )
    journal: JournalSettings = Field(
        default_factory=JournalSettings.model_construct,
        description="Protection against loss of data when the daemon is killed.",
    )
    cluster: ClusterSettings = Field(
        default_factory=ClusterSettings.model_construct, description="Distribution of jobs over several aggregators."
    )
    contention: ContentionSettings = Field(
        default_factory=ContentionSettings.model_construct, description="Detection of contention between jobs."
    )
    notify: NotifySettings = Field(
        default_factory=NotifySettings.model_construct, description="Receivers of alerts over HTTP."
    )
    access: AccessSettings = Field(
        default_factory=AccessSettings.model_construct, description="Permitted peers, and visible jobs."
    )
    archive: ArchiveSettings = Field(
        default_factory=ArchiveSettings.model_construct, description="Archives of each job's calls."
    )

    @model_validator(mode="after")
    def _check_journal(self) -> Self:
        if self.journal.servers and not self.journal.on:
            raise ConfigError("journal.servers needs journal.on")
        return self

    @model_validator(mode="after")
    def _check_cluster(self) -> Self:
        if not self.cluster.on:
            return self
        if not self.journal.servers:
            raise ConfigError("cluster.on needs journal.servers, which store the jobs")
        if self.access.local_users:
            raise ConfigError("access.local_users cannot be set in a cluster: its members cannot share an ipc endpoint")
        if self.http is not None and self.http.startswith("unix:"):
            raise ConfigError(f"http = {self.http}: in a cluster, set an address that other members can connect to")
        if len(self.journal.name) > _MAX_CLUSTER_NAME:
            raise ConfigError(f"journal.name of a cluster has at most {_MAX_CLUSTER_NAME} characters")
        host = self.ingest.removeprefix("tcp://").rpartition(":")[0]
        if host in ("*", "0.0.0.0", "[::]"):  # noqa: S104 - it is refused
            raise ConfigError(
                f"ingest = {self.ingest}: in a cluster, set the address that other members can connect to"
            )
        if self.ftio_listen is not None:
            raise ConfigError(
                "ftio_listen cannot be set in a cluster; run `iotide collect` beside FTIO's tracers instead"
            )
        return self

    @model_validator(mode="after")
    def _check_notify(self) -> Self:
        if (self.notify.alertmanagers or self.notify.webhooks) and not self.contention.enabled:
            raise ConfigError("notify sends alerts on contention; set contention.enabled = true")
        return self

    @model_validator(mode="after")
    def _check_ftio(self) -> Self:
        if self.ftio_reply is not None and self.ftio_listen is None:
            raise ConfigError("ftio_reply answers messages of ftio_listen: set ftio_listen too, or remove ftio_reply")
        return self


def load_settings(
    path: Path | None, environment: Mapping[str, str], default_state: Path | None = None, **given: Any
) -> AggregatorSettings:
    """Read the settings: defaults, overridden by a TOML file, then ``IOTIDE_SERVE_*``, then ``given``.

    Nested values are tables in TOML and have two underscores in the environment (``IOTIDE_SERVE_DETECT__MODE=write``).
    ``default_state`` is the state folder, or ``none``, if none of them sets one.

    Raises:
        ConfigError: the file cannot be read, or a value is unknown or out of its limits; the text names it.
    """
    values = {} if path is None else read_toml(path)
    try:
        check_kinds(values, AggregatorSettings)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None
    _set_from_environment(values, environment)
    for name, value in given.items():
        if isinstance(value, dict):
            values[name] = {**values.get(name, {}), **value}
        elif value is not None:
            values[name] = value
    values.setdefault("state", default_state)
    for name in ("http", "publish", "ftio_listen", "ftio_reply", "state"):
        if str(values.get(name)) == "none":
            values[name] = None
    try:
        return AggregatorSettings.model_validate(values)
    except ValidationError as error:
        raise ConfigError(f"{path or 'settings'}: {validation_text(error, AggregatorSettings)}") from None
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}" if path is not None else str(error)) from None


def _set_from_environment(values: dict[str, Any], environment: Mapping[str, str]) -> None:
    """Set the values of ``IOTIDE_SERVE_*``; two underscores separate a table from its value."""
    for name, text in environment.items():
        if name.startswith(ENVIRONMENT_PREFIX):
            *tables, last = name.removeprefix(ENVIRONMENT_PREFIX).lower().split("__")
            inner = values
            for table in tables:
                inner = inner.setdefault(table, {})
                if not isinstance(inner, dict):
                    raise ConfigError(f"{name}: {table} is not a table")
            inner[last] = value_of_text(name, text)
