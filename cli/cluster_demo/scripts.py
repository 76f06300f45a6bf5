"""The scripts of ``deploy/slurm`` on this machine's paths, as an operator installs them."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Final

from ...events import UnavailableError

DEPLOY: Final = Path(__file__).parents[2] / "deploy"
_NAMES: Final = ("prolog.sh", "task-prolog.sh", "epilog.sh", "cli_filter.lua")


def install_scripts(folder: Path, node_folder: Path, endpoint: str, **settings: str) -> list[str]:
    """Installs them beside slurm.conf; returns the lines for it.

    Args:
        folder: of slurm.conf.
        node_folder: on each node, for sockets and the log.
        endpoint: of the aggregator.
        settings: further ones of slurm.toml, as TOML.

    Raises:
        UnavailableError: iotide was installed without its scripts.
    """
    if not (DEPLOY / "slurm").is_dir():
        raise UnavailableError(f"{DEPLOY}/slurm is not here: it comes with iotide's sources")
    program = Path(sys.executable).parent / "iotide"
    lines = {"connect": f'"{endpoint}"', "folder": f'"{node_folder}/iotide"', "log": f'"{node_folder}/log"'} | settings
    (folder / "slurm.toml").write_text("".join(f"{name} = {value}\n" for name, value in lines.items()))
    for name in _NAMES:
        text = (DEPLOY / "slurm" / name).read_text()
        for shipped, here in (
            ("/opt/iotide/bin/iotide", str(program)),
            ("/etc/iotide/slurm.toml", str(folder / "slurm.toml")),
            ("/run/iotide/slurm", f"{node_folder}/iotide"),
        ):
            text = text.replace(shipped, here)
        (folder / name).write_text(text)
        shutil.copymode(DEPLOY / "slurm" / name, folder / name)
    return [
        f"Prolog={folder}/prolog.sh",
        f"TaskProlog={folder}/task-prolog.sh",
        f"Epilog={folder}/epilog.sh",
        "CliFilterPlugins=cli_filter/lua",
    ]
