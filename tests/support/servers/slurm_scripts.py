"""The plugin of Slurm, as an operator builds it."""

from __future__ import annotations

import subprocess
from pathlib import Path

from support.places import ROOT

SCRIPTS = ROOT / "deploy" / "slurm"


def install_flag(folder: Path) -> list[str]:
    """Builds and installs the plugin that gives sbatch `--iotide`; returns the lines for slurm.conf.

    There are none where Slurm's headers are absent.
    """
    plugin, source = folder / "spank_iotide.so", SCRIPTS / "spank_iotide.c"
    flags = ["-Wall", "-Wextra", "-Werror", "-O2", "-shared", "-fPIC"]
    has_header = subprocess.run(
        ["gcc", "-E", "-x", "c", "-"], input=b"#include <slurm/spank.h>", capture_output=True, check=False
    )
    if has_header.returncode:
        return []
    subprocess.run(["gcc", *flags, "-o", str(plugin), str(source)], check=True)
    (folder / "plugstack.conf").write_text(f"required {plugin}\n")
    return [f"PlugStackConfig={folder}/plugstack.conf"]
