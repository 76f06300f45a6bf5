"""Check of ``iotide doctor --cluster`` that Slurm starts collectors on this node for this aggregator."""

from __future__ import annotations

import contextlib
import os
import re
import stat
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from ..slurm.settings import slurm_settings
from .checks import BrokenError

_TIMEOUT_S: Final = 30.0
_CONTROLLER: Final = "run this on a node of Slurm, where SLURM_CONF or /etc/slurm/slurm.conf names a running slurmctld"
_NAMES: Final = ("Prolog", "TaskProlog", "Epilog")
_MAX_BYTES: Final = 1 << 16
_RECENT_S: Final = 86_400.0
"""Maximum age of a failure in the node's log that is reported, s."""
_OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH


def slurm_scripts(ingest: str) -> str:
    """Return the scripts that Slurm calls.

    Args:
        ingest: endpoint for collectors.

    Raises:
        BrokenError: Slurm does not answer, or a collector failed; has the remedy.
        RuntimeError: slurm.conf lacks a script, or one would not start a collector for this endpoint.
        ConfigError: their settings are invalid.
    """
    try:
        done = subprocess.run(
            ["scontrol", "show", "config"],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise BrokenError(f"slurmctld does not answer within {_TIMEOUT_S:g} s", _CONTROLLER) from None
    if done.returncode:
        error_lines = done.stderr.strip().splitlines()
        raise BrokenError(error_lines[-1][:200] if error_lines else "scontrol does not answer", _CONTROLLER)
    named = dict(re.findall(r"^(Prolog|TaskProlog|Epilog)\s*=\s*(\S+)", done.stdout, re.MULTILINE))
    if missing := [name for name in _NAMES if named.get(name, "(null)") == "(null)"]:
        raise RuntimeError(f"slurm.conf has no {', '.join(missing)}")
    folders: dict[str, str] = {}
    files: list[str] = []
    for name in _NAMES:
        text = _script(name, named[name])
        for folder in _assigned("folder", text):
            folders[named[name]] = folder
        files += _assigned("settings", text)
    for file in dict.fromkeys(files):
        _check_settings(Path(file), ingest, folders)
    return ", ".join(f"{name} {named[name]}" for name in _NAMES)


def _script(name: str, path: str) -> str:
    """Return the text of a script that can run; "" for a pattern of several. A foreign one may call ours."""
    if any(letter in path for letter in "*?["):
        if not any(os.access(each, os.X_OK) for each in Path("/").glob(path.lstrip("/"))):
            raise RuntimeError(f"{name}: no executable file is called {path} on this node")
        return ""
    if not os.access(path, os.X_OK):
        raise RuntimeError(f"{name}: {path} cannot be run on this node, or is not there")
    with Path(path).open(errors="replace", encoding="utf-8") as file:
        text = file.read(_MAX_BYTES)
    for program in _assigned("iotide", text):
        if not os.access(program, os.X_OK):
            raise RuntimeError(f"{name}: {path} calls {program}, which is not on this node")
    return text


def _assigned(variable: str, text: str) -> list[str]:
    return re.findall(rf"^{variable}=(\S+)$", text, re.MULTILINE)


def _check_settings(file: Path, ingest: str, folders: Mapping[str, str]) -> None:
    """Check the settings of the scripts.

    Args:
        file: settings file.
        ingest: endpoint for collectors.
        folders: folder for sockets in each script that has one, by the script's path.
    """
    settings = slurm_settings(file, required=True)
    if settings.connect != ingest:
        raise RuntimeError(f"{file}: connect is {settings.connect}, and collectors are to reach {ingest}")
    for path, folder in folders.items():
        if Path(folder) != settings.folder:
            raise BrokenError(
                f"{path} looks for jobs in {folder}, and {file} names {settings.folder}",
                "write the scripts again: `iotide slurm scripts`",
            )
    _check_folder(settings.folder)
    for key in (settings.key, settings.server_key):
        if key and not os.access(Path(key).expanduser(), os.R_OK):
            raise BrokenError(f"{file} names {key}, which you cannot read", "create the key: docs/security.md")
    _check_log(settings.log)


def _check_folder(folder: Path) -> None:
    """Check the mode of the folder for sockets, if it exists. The prolog refuses one that others may write to."""
    with contextlib.suppress(FileNotFoundError):
        state = folder.stat()
        if state.st_uid not in (0, os.geteuid()) or state.st_mode & _OTHERS_WRITE:
            raise BrokenError(
                f"{folder} is writable by other users (mode {stat.S_IMODE(state.st_mode):o}, uid {state.st_uid}): "
                "the prolog starts no collector",
                f"as root: chown root {folder}; chmod 755 {folder}",
            )


def _check_log(log: Path) -> None:
    """Report the last failure in the node's log, if it is recent and readable. Only root may read it."""
    try:
        recent = time.time() - log.stat().st_mtime < _RECENT_S
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - _MAX_BYTES))
            lines = file.read(_MAX_BYTES).decode(errors="replace").splitlines()
    except OSError:
        return
    if recent and lines:
        raise BrokenError(
            f"the last line of {log}: {lines[-1][:300]}", "see 'When something is wrong' in docs/slurm.md"
        )
