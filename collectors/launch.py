"""What a program's environment needs so that it is traced."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from ..events import ConfigError, UnavailableError

TRACER_VARIABLE: Final = "IOTIDE_TRACER"
LONGEST_SOCKET_PATH: Final = 107
"""sun_path of a Unix socket, without its final NUL."""

_BUILT: Final = Path(__file__).parent / "preload" / "libiotide_preload.so"


def tracer_path(environment: Mapping[str, str] = os.environ) -> Path:
    """Returns the path of the LD_PRELOAD library: that of the environment's ``IOTIDE_TRACER``, or the one built here.

    Raises:
        UnavailableError: there is no such file.
    """
    path = Path(environment.get(TRACER_VARIABLE) or _BUILT)
    if not path.is_file():
        raise UnavailableError(f"no tracer library at {path}: install a C compiler, then iotide again")
    return path


def traced_environment(
    base: Mapping[str, str], socket: Path, job: str, ring_records: int | None = None
) -> dict[str, str]:
    """Returns an environment in which programs, and what they start, are traced.

    Args:
        base: the environment to add to; an LD_PRELOAD that stands there stays, after ours.
        socket: the collector's Unix socket.
        job: job id of the streams.
        ring_records: calls that a thread can be ahead of the collector; None for the library's default.

    Raises:
        UnavailableError: the tracer library is missing.
        ConfigError: the socket's path is too long for a Unix socket.
    """
    socket = socket.absolute()  # the program may change its folder
    if len(os.fsencode(socket)) > LONGEST_SOCKET_PATH:
        raise ConfigError(f"a Unix socket's path has at most {LONGEST_SOCKET_PATH} bytes: {socket}")
    others = base.get("LD_PRELOAD", "")
    made = dict(base)
    made["LD_PRELOAD"] = f"{tracer_path(base)}:{others}" if others else str(tracer_path(base))
    made["IOTIDE_SOCKET"] = str(socket)
    made["IOTIDE_JOB"] = job
    if ring_records is not None:
        made["IOTIDE_RING_RECORDS"] = str(ring_records)
    return made
