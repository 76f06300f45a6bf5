"""Where a socket may listen: what others on the network could reach in plain text is refused unless allowed."""

from __future__ import annotations

import contextlib
import ipaddress
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from .errors import ConfigError


def check_private(endpoint: str, *, allow: bool, permission: str = "allow_plaintext") -> None:
    """Refuses endpoints that others on the network could reach in plain text.

    Args:
        endpoint: of ZeroMQ.
        allow: whether they may.
        permission: what the user would have to set, for the message.

    Raises:
        ConfigError: the endpoint is malformed or not private.
    """
    malformed = f"{endpoint!r} is no endpoint such as tcp://127.0.0.1:9787 or ipc:///run/iotide/ingest"
    try:
        parts = urlsplit(endpoint)
    except ValueError:
        raise ConfigError(malformed) from None
    if endpoint.startswith("ipc://@") and not allow:
        raise ConfigError(f"{endpoint} has no file whose mode keeps others out; name a file, or set {permission}")
    if parts.scheme == "ipc" and endpoint != "ipc://":
        folder = Path(endpoint.removeprefix("ipc://")).parent
        if not folder.is_dir():
            raise ConfigError(f"{endpoint}: there is no folder {folder}")
        return
    if parts.scheme in ("tcp", "inproc") and endpoint.removeprefix(f"{parts.scheme}://"):
        if parts.scheme == "inproc" or allow or is_loopback(parts.hostname or ""):
            return
        raise ConfigError(f"{endpoint} is not loopback: plain text is refused there unless {permission} is set")
    raise ConfigError(malformed)


def is_loopback(host: str) -> bool:
    """Tells whether a host name or address stays on this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@contextlib.contextmanager
def private_files() -> Iterator[None]:
    """Makes files that are created meanwhile (ipc sockets) readable by their user only."""
    before = os.umask(stat.S_IRWXG | stat.S_IRWXO)
    try:
        yield
    finally:
        os.umask(before)
