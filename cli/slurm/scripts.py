"""The scripts of ``deploy/slurm`` with the paths of this installation, and their settings."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

from ...events import UnavailableError
from ...events.files import write_text
from ..common.settings_text import settings_text
from .settings import SlurmSettings

SHIPPED: Final = Path(__file__).parents[2] / "deploy" / "slurm"
_COMMANDS: Final = ("prolog.sh", "task-prolog.sh", "epilog.sh")
_OTHER_FILES: Final = ("cli_filter.lua", "spank_iotide.c")


def write_scripts(to: Path, program: Path, config: Path, settings: SlurmSettings) -> list[str]:
    """Write the scripts, and their settings file if it does not exist.

    Args:
        to: folder for the scripts; created if necessary.
        program: path of ``iotide`` on the nodes.
        config: path of the settings file.
        settings: further values of the scripts, and content of a new ``config``.

    Returns:
        The lines for slurm.conf.

    Raises:
        UnavailableError: iotide was installed without its scripts.
        OSError: a file cannot be written.
    """
    if not SHIPPED.is_dir():
        raise UnavailableError(f"{SHIPPED} is missing: this installation lacks the scripts of Slurm")
    to.mkdir(parents=True, exist_ok=True)
    for name in (*_COMMANDS, *_OTHER_FILES):
        text = (SHIPPED / name).read_text(encoding="utf-8")
        for shipped, here in (
            ("/opt/iotide/bin/iotide", program),
            ("/etc/iotide/slurm.toml", config),
            ("/run/iotide/slurm", settings.folder),
        ):
            text = text.replace(shipped, str(here))
        write_text(to / name, text)
        shutil.copymode(SHIPPED / name, to / name)
        if name in _COMMANDS:  # a package may have changed the mode
            (to / name).chmod(0o755)
    if not config.exists():
        config.parent.mkdir(parents=True, exist_ok=True)
        write_text(config, settings_text(settings))
    return [
        f"Prolog={to}/prolog.sh",
        f"TaskProlog={to}/task-prolog.sh",
        f"Epilog={to}/epilog.sh",
        "PrologFlags=Alloc",
    ]
