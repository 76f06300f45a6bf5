"""Stopping a collector through its socket."""

from __future__ import annotations

import os
import select
import signal
import socket
from pathlib import Path

from ...events.network.credentials import credentials_of


def stop_collector(path: Path) -> str:
    """Make the collector that listens on a socket send its events and end. The function waits for its end.

    Returns:
        The reason of a failure, or "".
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as asking:
        try:
            asking.connect(str(path))
        except OSError as error:
            return f"no collector listens on {path}: {error.strerror or error}"
        # The kernel reports the listener's pid; no other process can listen there until it closes its socket.
        pid, user, _ = credentials_of(asking)
        if os.getuid() not in (user, 0):  # its process may have ended, and another one may have its number
            return (
                f"the process that listens on {path} belongs to user {user}; stop it as that user, or remove the file"
            )
        if pid <= 0:
            return f"the collector of {path} runs in another container; stop it there"
        try:
            watch = os.pidfd_open(pid)
        except ProcessLookupError:
            return ""
    try:
        signal.pidfd_send_signal(watch, signal.SIGTERM)
        ending = select.poll()  # select() does not support descriptors from 1,024 on
        ending.register(watch, select.POLLIN)
        ending.poll()
    except ProcessLookupError:
        pass
    except OSError as error:
        return f"the collector of {path}, process {pid}, cannot be stopped: {error.strerror}"
    finally:
        os.close(watch)
    return ""
