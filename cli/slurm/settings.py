"""What can be chosen about the collectors of Slurm's jobs."""

from __future__ import annotations

import tomllib
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ...collectors.settings import CallClass, LayerName
from ...events import ConfigError
from ...events.files import read_text
from ...events.network.endpoints import ConnectingEndpoint


class SlurmSettings(BaseModel):
    """How a job's collector is started and ended on a node; the whole cluster may have one file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    connect: ConnectingEndpoint = Field("tcp://127.0.0.1:9787", description="ZeroMQ endpoint of the aggregator.")
    folder: Path = Field(
        Path("/run/iotide/slurm"),
        description="Where jobs have their sockets, on each node; the scripts have it, too. Root's alone to write.",
    )
    log: Path = Field(
        Path("/var/log/iotide-slurm.log"), description="What went wrong, and what the collectors said, on each node."
    )
    start_s: float = Field(10.0, gt=0, le=60, description="Longest time that a job waits for its collector, s.")
    stop_s: float = Field(15.0, gt=0, le=120, description="Longest time that a node waits for its collector's end, s.")
    ask_s: float = Field(
        3.0,
        ge=0,
        le=30,
        description="Longest time that `squeue` is waited for, once a job on its first node, s; 0: names, accounts and "
        "time limits that the prolog's environment lacks are not asked for.",
    )
    squeue: str = Field("squeue", description="The program that is asked.")
    spool_disk_mib: int = Field(
        0, ge=0, description="Room in files for events that wait for the aggregator, once 64 MiB of memory are full."
    )
    key: str = Field(
        "", description="Secret key of the job's user, for an aggregator that asks for one; `~` is the user's home."
    )
    server_key: str = Field("", description="Public key of the aggregator, which goes with it.")
    layers: tuple[LayerName, ...] | None = Field(
        None, description="Layers whose calls are recorded where the job does not say it; by default all."
    )
    calls: tuple[CallClass, ...] | None = Field(
        None, description="Classes of calls that are recorded where the job does not say it."
    )


def slurm_settings(path: Path, *, required: bool) -> SlurmSettings:
    """Reads a TOML file; the defaults where there is none and none is required.

    Raises:
        ConfigError: it cannot be read, or says what cannot be.
    """
    try:
        return SlurmSettings.model_validate(tomllib.loads(read_text(path)))
    except FileNotFoundError:
        if required:
            raise ConfigError(f"there is no {path}") from None
        return SlurmSettings()
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"cannot read {path}: {error}") from None
    except ValidationError as error:
        raise ConfigError(f"{path}: {error}") from None
