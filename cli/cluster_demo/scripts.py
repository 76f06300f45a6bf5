"""Slurm scripts for a cluster on this machine, written as by an operator."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

from ..slurm.scripts import write_scripts
from ..slurm.settings import SlurmSettings


def install_scripts(folder: Path, node_folder: Path, endpoint: str, **settings: str) -> list[str]:
    """Write them to the folder of slurm.conf; return its further lines.

    Args:
        folder: folder of slurm.conf.
        node_folder: folder on each node, for sockets and the log.
        endpoint: endpoint of the aggregator.
        settings: further settings of slurm.toml, as TOML.

    Raises:
        UnavailableError: iotide was installed without its scripts.
    """
    chosen = tomllib.loads("".join(f"{name} = {value}\n" for name, value in settings.items()))
    places = {"connect": endpoint, "folder": node_folder / "iotide", "log": node_folder / "log"}
    program = Path(sys.executable).parent / "iotide"
    made = SlurmSettings.model_validate(places | chosen)
    lines = write_scripts(folder, program, folder / "slurm.toml", made)
    return [*lines[:-1], "CliFilterPlugins=cli_filter/lua"]
