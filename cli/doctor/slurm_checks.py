"""Check of ``iotide doctor --cluster`` that Slurm starts collectors on this node for this aggregator."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Final

from ..slurm.settings import slurm_settings

_ASKED_S: Final = 60.0
_NAMES: Final = ("Prolog", "TaskProlog", "Epilog")
_LARGEST: Final = 1 << 16


def slurm_scripts(ingest: str) -> str:
    """Return the scripts that Slurm calls.

    Args:
        ingest: endpoint for collectors.

    Raises:
        RuntimeError: slurm.conf lacks a script, or one would not start a collector for this endpoint.
        ConfigError: their settings are invalid.
    """
    told = subprocess.run(["scontrol", "show", "config"], capture_output=True, text=True, timeout=_ASKED_S, check=False)
    if told.returncode:
        raise RuntimeError(told.stderr.strip()[:200] or "scontrol does not answer")
    named = dict(re.findall(r"^(Prolog|TaskProlog|Epilog)\s*=\s*(\S+)", told.stdout, re.MULTILINE))
    if missing := [name for name in _NAMES if named.get(name, "(null)") == "(null)"]:
        raise RuntimeError(f"slurm.conf has no {', '.join(missing)}")
    for name in _NAMES:
        _check_script(name, named[name], ingest)
    return ", ".join(f"{name} {named[name]}" for name in _NAMES)


def _check_script(name: str, path: str, ingest: str) -> None:
    """Check a script of iotide; a foreign one may call ours, and is not checked."""
    if any(letter in path for letter in "*?["):
        if not any(os.access(each, os.X_OK) for each in Path("/").glob(path.lstrip("/"))):
            raise RuntimeError(f"{name}: no executable file is called {path} on this node")
        return
    if not os.access(path, os.X_OK):
        raise RuntimeError(f"{name}: {path} cannot be run on this node, or is not there")
    with Path(path).open(errors="replace") as file:
        text = file.read(_LARGEST)
    program, settings = (re.search(rf"^{word}=(\S+)$", text, re.MULTILINE) for word in ("iotide", "settings"))
    if program is not None and not os.access(program[1], os.X_OK):
        raise RuntimeError(f"{name}: {path} calls {program[1]}, which is not on this node")
    if settings is None:
        return
    connect = slurm_settings(Path(settings[1]), required=True).connect
    if connect != ingest:
        raise RuntimeError(f"{settings[1]}: connect is {connect}, and collectors are to reach {ingest}")
