"""HTTP sockets and the TLS certificate."""

from __future__ import annotations

import contextlib
import logging
import socket
import ssl
import stat
from pathlib import Path
from typing import Final

from ....events import ConfigError
from ....events.network.endpoints import check_address, is_loopback, private_files

_log = logging.getLogger(__name__)
_ALL_USERS_MODE: Final = 0o666


def bind_tcp(address: str, *, is_remote_allowed: bool, scheme: str) -> tuple[socket.socket, str]:
    """Bind a TCP socket.

    Returns:
        The socket, and the URL with the port chosen by the system.

    Raises:
        ConfigError: it cannot be bound, or others could connect.
    """
    host, port = check_address(address)
    if not is_remote_allowed and not is_loopback(host):
        raise ConfigError(
            f"{address} is not loopback: HTTP is refused there without access.certificate and access.principals, "
            "unless allow_remote is set"
        )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise ConfigError(f"cannot listen on {address}: {error.strerror}") from None
    shown = f"[{host}]" if family == socket.AF_INET6 else host
    return listener, f"{scheme}://{shown}:{listener.getsockname()[1]}"


def bind_unix(path: Path, *, for_all: bool) -> socket.socket:
    """Bind a Unix socket; a leftover socket is replaced.

    Args:
        path: path of its file.
        for_all: whether other users of this machine may connect.

    Raises:
        ConfigError: it cannot be bound.
    """
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        if _is_stale(path):
            path.unlink()
        with private_files():
            listener.bind(str(path))
        if for_all:
            path.chmod(_ALL_USERS_MODE)
    except OSError as error:
        listener.close()
        raise ConfigError(f"cannot listen on unix:{path}: {error.strerror}") from None
    return listener


class Certificate:
    """A certificate and its key, reread when they change.

    Raises:
        ConfigError: they cannot be used.
    """

    def __init__(self, chain: Path, key: Path | None) -> None:
        self._chain, self._key = chain, key
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.minimum_version = ssl.TLSVersion.TLSv1_2
        self._file_stamps = self._stamps_of_files()
        try:
            self._load(self.context)
        except (OSError, ValueError) as error:  # OSError: also of ssl
            raise ConfigError(f"access.certificate = {chain}: {getattr(error, 'strerror', None) or error}") from None

    def reload(self) -> bool:
        """Read the files again if they have changed. On errors, which are logged, the old ones stay in use.

        Returns:
            Whether others are in use now.
        """
        if (mark := self._stamps_of_files()) == self._file_stamps:
            return False
        self._file_stamps = mark
        try:
            # checked separately: half a pair would break the one in use
            self._load(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER))
            self._load(self.context)
        except (OSError, ValueError) as error:
            _log.error("%s: %s; the earlier certificate stays in use", self._chain, error)
            return False
        _log.warning("%s was read again", self._chain)
        return True

    def _load(self, context: ssl.SSLContext) -> None:
        context.load_cert_chain(self._chain, self._key, password=_no_password)

    def _stamps_of_files(self) -> list[tuple[int, int]]:
        marks = []
        for path in (self._chain, self._key):
            with contextlib.suppress(OSError):
                if path is not None:
                    marks.append((path.stat().st_ino, path.stat().st_mtime_ns))
        return marks


def _no_password() -> str:
    raise ValueError("the key has a password; use a key without one")


def _is_stale(path: Path) -> bool:
    """Return whether there is a socket without a listener."""
    try:
        if not stat.S_ISSOCK(path.lstat().st_mode):
            return False
    except FileNotFoundError:
        return False
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            return True
        except OSError:
            return False
    return False
