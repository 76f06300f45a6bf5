"""The default state folder of an aggregator."""

from __future__ import annotations

import errno
import logging
import os
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from ...events import ConfigError

_log = logging.getLogger(__name__)
_DISK: Final = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)
"""Errors of a disk that is full or read-only."""


def default_folder(environment: Mapping[str, str]) -> Path:
    """Return the default state folder of ``iotide serve``, without creating it.

    It is the one created by systemd (``$STATE_DIRECTORY``), else a folder of this host below ``$XDG_STATE_HOME`` or
    ``~/.local/state``: nodes of a cluster may share home directories, and each has its own aggregator.
    """
    if of_unit := environment.get("STATE_DIRECTORY", "").partition(":")[0]:
        return Path(of_unit)
    base = Path(environment.get("XDG_STATE_HOME", ""))
    if not base.is_absolute():  # the specification requires that a relative path is ignored
        base = Path(environment.get("HOME") or "/") / ".local" / "state"
    return base / "iotide" / "serve" / socket.gethostname()


def folder_error(folder: Path, what: str, error: OSError) -> ConfigError:
    """Return the error of a state folder that cannot be used.

    It has folder, failed step, cause and remedy in one line.
    """
    return ConfigError(
        f"state = {folder}: {what}: {error.strerror or error}; free or repair its disk, name another folder with "
        "--state DIR, or keep nothing with --state none"
    )


def create_folder(folder: Path) -> bool:
    """Create the default folder if it is absent. Log a warning and return False if it cannot be used.

    Raises:
        ConfigError: the disk is full or read-only. The folder may contain jobs, so starting without it is refused.
    """
    reason = "it may not be written"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.statvfs(folder).f_flag & os.ST_RDONLY:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        if os.access(folder, os.W_OK | os.X_OK):
            return True
    except OSError as error:
        if error.errno in _DISK:
            raise folder_error(folder, "the folder cannot be written", error) from None
        reason = str(error.strerror)
    _log.warning(
        "jobs are lost at a restart: %s: %s; use another folder with --state DIR, or --state none without state",
        folder,
        reason,
    )
    return False
