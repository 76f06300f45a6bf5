"""The Slurm plugin, built as an operator does."""

from __future__ import annotations

import subprocess
from pathlib import Path

from support.places import ROOT

SCRIPTS = ROOT / "deploy" / "slurm"


def install_flag(folder: Path) -> list[str]:
    """Build and install the plugin that adds `--iotide` to sbatch; return the lines for slurm.conf.

    Without Slurm's headers there are no lines.
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
