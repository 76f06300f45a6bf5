"""Settings of the collectors of Slurm jobs."""

from __future__ import annotations

import tomllib
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ...collectors.settings import CallClass, LayerName
from ...daemon.settings_checks import check_kinds, validation_text
from ...events import ConfigError
from ...events.files import read_text
from ...events.network.endpoints import ConnectingEndpoint


class SlurmSettings(BaseModel):
    """Start and end of a job's collector on a node. The whole cluster may share one file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    connect: ConnectingEndpoint = Field("tcp://127.0.0.1:9787", description="ZeroMQ endpoint of the aggregator.")
    folder: Path = Field(
        Path("/run/iotide/slurm"),
        description="Folder for the sockets of jobs on each node; also set in the scripts. Only root may write to it.",
    )
    log: Path = Field(
        Path("/var/log/iotide-slurm.log"), description="Log file on each node: failures, and output of the collectors."
    )
    start_s: float = Field(10.0, gt=0, le=60, description="Maximum time that a job waits for its collector, s.")
    stop_s: float = Field(
        15.0, gt=0, le=120, description="Maximum time that a node waits for the end of its collector, s."
    )
    ask_s: float = Field(
        3.0,
        ge=0,
        le=30,
        description="Timeout of `squeue`, called once per job on its first node, s; 0: names, accounts and time "
        "limits that the prolog's environment lacks are not queried.",
    )
    squeue: str = Field("squeue", description="The `squeue` program.")
    spool_disk_mib: int = Field(
        0, ge=0, description="Space in files for events that wait for the aggregator, once 64 MiB of memory are full."
    )
    key: str = Field(
        "", description="Secret key of the job's user, if the aggregator requires one; `~` is the user's home."
    )
    server_key: str = Field("", description="Public key of the aggregator; required with `key`.")
    vouching: str = Field(
        "",
        description="Secret key that only root can read, with which the prolog vouches to the aggregator for the job's "
        "account (`access.vouching`).",
    )
    layers: tuple[LayerName, ...] | None = Field(
        None, description="Recorded layers if the job does not set them; by default all."
    )
    calls: tuple[CallClass, ...] | None = Field(
        None, description="Recorded classes of calls if the job does not set them."
    )


def slurm_settings(path: Path, *, required: bool) -> SlurmSettings:
    """Read a TOML file. Return the defaults if it does not exist and is not required.

    Raises:
        ConfigError: it cannot be read, or is invalid.
    """
    try:
        values = tomllib.loads(read_text(path))
        check_kinds(values, SlurmSettings)
        return SlurmSettings.model_validate(values)
    except FileNotFoundError:
        if required:
            raise ConfigError(f"there is no {path}") from None
        return SlurmSettings()
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(f"cannot read {path}: {error}") from None
    except ValidationError as error:
        raise ConfigError(f"{path}: {validation_text(error, SlurmSettings)}") from None
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None
