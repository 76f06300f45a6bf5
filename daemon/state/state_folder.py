"""Where an aggregator keeps its jobs when nobody says where."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Mapping
from pathlib import Path

_log = logging.getLogger(__name__)


def default_folder(environment: Mapping[str, str]) -> Path:
    """Returns the folder that ``iotide serve`` uses unless it is given one; nothing is made.

    It is the one that systemd made (``$STATE_DIRECTORY``), else one of this host below ``$XDG_STATE_HOME`` or
    ``~/.local/state``: nodes of a cluster share home directories, and each has an aggregator of its own.
    """
    if of_unit := environment.get("STATE_DIRECTORY", "").partition(":")[0]:
        return Path(of_unit)
    base = Path(environment.get("XDG_STATE_HOME", ""))
    if not base.is_absolute():  # the specification has a relative one ignored
        base = Path(environment.get("HOME") or "/") / ".local" / "state"
    return base / "iotide" / "serve" / socket.gethostname()


def made(folder: Path) -> bool:
    """Makes the default folder where it is not there; False, with a warning, where nothing can be kept in it."""
    reason = "it may not be written"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.access(folder, os.W_OK | os.X_OK):
            return True
    except OSError as error:
        reason = str(error.strerror)
    _log.warning(
        "jobs are not kept over a restart: %s: %s; --state DIR names another folder, --state none switches this off",
        folder,
        reason,
    )
    return False
