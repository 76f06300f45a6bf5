"""``iotide slurm``: commands for Slurm's prolog and epilog, and installation of these scripts."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

if TYPE_CHECKING:
    from .allocation import Allocation
    from .settings import SlurmSettings

_HELP = """Start and end the collectors of Slurm's jobs.

`iotide slurm scripts FOLDER` writes the prolog, TaskProlog and epilog that call the other commands, and prints the
lines for slurm.conf. A job opts in by `--comment=iotide`. Settings are read from --config, by default from
/etc/iotide/slurm.toml if it exists. Failures are written to the log of the settings.

\b
Examples:
  iotide slurm scripts --connect tcp://10.1.0.1:9787 /etc/slurm/iotide
  sbatch --comment=iotide job.sh

Exit status: of prolog and epilog 0, also if a job gets no collector, as Slurm would drain the node otherwise; of
scripts 1 failed, 2 bad usage.
"""
_CONFIG: Final = Path("/etc/iotide/slurm.toml")


class NodeLog:
    """Appends lines to a file, each with time, node, job and script. Errors on writing are ignored."""

    def __init__(self, path: Path, script: str, node: str, job: str) -> None:
        self._path = path
        self._about = f"{node or '-'} job {job} {script}"

    def write(self, text: str) -> None:
        """Append a line."""
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S%z")
        printable = "".join(character if character.isprintable() else "?" for character in text)
        try:
            descriptor = os.open(
                self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o640
            )
        except OSError:
            return
        try:
            os.write(descriptor, f"{stamp} {self._about}: {printable}\n".encode(errors="replace"))
        except OSError:
            pass
        finally:
            os.close(descriptor)


@click.group("slurm", help=_HELP)
def command() -> None:
    """Group the sub-commands."""


def _with_config(function: Callable[..., None]) -> Callable[..., None]:
    return click.option(
        "--config",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help=f"Settings as TOML. Default: {_CONFIG}, if it is there.",
    )(function)


@command.command("prolog")
@_with_config
def prolog(config: Path | None) -> None:
    """Start the collector of a job as its user, in the environment of a prolog."""
    from .prolog_epilog import start_collector

    _guarded("prolog", config, start_collector)


@command.command("epilog")
@_with_config
def epilog(config: Path | None) -> None:
    """End the collector when everything is acknowledged, in the environment of an epilog."""
    from .node_folder import JobFolder
    from .prolog_epilog import end_collector

    def end(allocation: Allocation, settings: SlurmSettings, say: Callable[[str], None]) -> None:
        end_collector(JobFolder(settings.folder, allocation.job), settings.stop_s, say)

    _guarded("epilog", config, end)


@command.command("scripts")
@click.argument("folder", metavar="FOLDER", type=click.Path(path_type=Path, file_okay=False))
@click.option("--connect", metavar="ENDPOINT", help="Endpoint of the aggregator, for a new settings file.")
@click.option(
    "--config",
    type=click.Path(path_type=Path, dir_okay=False),
    default=_CONFIG,
    show_default=True,
    metavar="FILE",
    help="Settings file for the scripts; created with explanations of all options if it does not exist.",
)
def scripts(folder: Path, connect: str | None, config: Path) -> None:
    """Write prolog, TaskProlog, epilog, filter and plugin for this installation to FOLDER."""
    import sys

    from pydantic import ValidationError

    from ...events import ConfigError, UnavailableError
    from ...events.files import readable
    from .scripts import write_scripts
    from .settings import SlurmSettings, slurm_settings

    for path in (folder.absolute(), config.absolute()):
        if readable(path) != str(path):
            raise click.UsageError(f"{path}: the scripts cannot name a path that is not UTF-8")
    if connect is not None and config.exists():
        raise click.UsageError(f"{config} is there already: change `connect` in it")
    try:
        given = {} if connect is None else {"connect": connect}
        settings = slurm_settings(config, required=True) if config.exists() else SlurmSettings.model_validate(given)
        program = Path(sys.executable).parent / "iotide"
        lines = write_scripts(folder.absolute(), program, config.absolute(), settings)
    except ValidationError as error:
        raise ConfigError("; ".join(row["msg"] for row in error.errors())) from None
    except OSError as error:
        raise UnavailableError(f"{error.filename}: {error.strerror}") from None
    click.echo(f"# Settings: {config.absolute()}. For slurm.conf, and then `scontrol reconfigure`:")
    click.echo("\n".join(lines))


def _guarded(
    script: str,
    config: Path | None,
    work: Callable[[Allocation, SlurmSettings, Callable[[str], None]], object],
) -> None:
    """Run the work of a script. Failures are only logged, as the node must stay usable."""
    from ...events import IotideError
    from .allocation import allocation_of
    from .settings import SlurmSettings, slurm_settings

    job, node = os.environ.get("SLURM_JOB_ID", "-")[:20], os.environ.get("SLURMD_NODENAME", "")
    log = NodeLog(SlurmSettings().log, script, node, job)
    try:
        settings = slurm_settings(config or _CONFIG, required=config is not None)
        log = NodeLog(settings.log, script, node, job)
        work(allocation_of(os.environ), settings, log.write)
    except Exception as error:
        reason = str(error) if isinstance(error, OSError | IotideError) else repr(error)
        log.write(f"failed, the job goes on without: {reason}")
        click.echo(f"iotide: {reason}", err=True)
