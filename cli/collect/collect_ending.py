"""How ``iotide collect`` ends: by a signal, asked through its socket, or when nobody uses it any more."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import socket
import struct
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ...collectors.sources.preload.source import PreloadSource

_LOOK_S: Final = 0.1
_CREDENTIALS: Final = struct.Struct("3i")


async def unused(source: PreloadSource, grace_s: float) -> None:
    """Returns when a process has come and for ``grace_s`` there has been none."""
    used_at_s, seen = time.monotonic(), 0
    while True:
        now_s = time.monotonic()
        if source.in_use or source.counters["processes"] != seen:
            used_at_s, seen = now_s, source.counters["processes"]
        elif seen and now_s - used_at_s >= grace_s:
            return
        await asyncio.sleep(min(_LOOK_S, grace_s / 4))


def stop_collector(path: Path) -> str:
    """Has the collector that listens on a socket send all that it has and end, and waits until it has.

    Returns:
        Why that is not possible, or "".
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as asking:
        try:
            asking.connect(str(path))
        except OSError as error:
            return f"no collector listens on {path}: {error.strerror or error}"
        # The kernel says who listens, and nobody else can listen there before that process has closed its socket.
        pid, _, _ = _CREDENTIALS.unpack(asking.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size))
        if pid <= 0:
            return f"the collector of {path} runs in another container; stop it there"
        try:
            watch = os.pidfd_open(pid)
        except ProcessLookupError:
            return ""
    try:
        signal.pidfd_send_signal(watch, signal.SIGTERM)
        ending = select.poll()  # select() has no place for descriptors from 1,024 on
        ending.register(watch, select.POLLIN)
        ending.poll()
    except ProcessLookupError:
        pass
    except OSError as error:
        return f"the collector of {path}, process {pid}, cannot be stopped: {error.strerror}"
    finally:
        os.close(watch)
    return ""
