"""Keys of CURVE, ZeroMQ's encryption and authentication (RFC 26 of ZeroMQ).

Key files are ZeroMQ's certificates: ``NAME.key`` has the public key, ``NAME.key_secret`` both.
"""

from __future__ import annotations

import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import zmq
import zmq.auth

from ..errors import ConfigError
from ..files import open_regular
from .endpoints import private_files

SECRET: Final = ".key_secret"  # noqa: S105  (the end of a name)
PUBLIC: Final = ".key"
_LARGEST: Final = 65_536
_KEY_BYTES: Final = 40
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


@dataclass(frozen=True, slots=True)
class KeyPair:
    """Both keys of one peer, each 40 characters of Z85."""

    public: bytes
    secret: bytes


@dataclass(frozen=True, slots=True)
class ClientKeys:
    """Keys of a connecting socket. They are its own pair, and the public key of the trusted server."""

    own: KeyPair
    server: bytes

    def secure(self, socket: zmq.Socket[Any]) -> None:
        """Set the keys of a socket that is not connected yet."""
        socket.setsockopt(zmq.CURVE_SERVERKEY, self.server)
        socket.setsockopt(zmq.CURVE_PUBLICKEY, self.own.public)
        socket.setsockopt(zmq.CURVE_SECRETKEY, self.own.secret)

    def packed(self) -> bytes:
        """Return the keys as bytes, for a process that cannot read their files."""
        return self.own.public + self.own.secret + self.server

    @classmethod
    def unpacked(cls, packed: bytes) -> ClientKeys:
        """Return the keys in the bytes of ``packed``."""
        public, secret, server = (packed[at : at + _KEY_BYTES] for at in range(0, 3 * _KEY_BYTES, _KEY_BYTES))
        return cls(KeyPair(public, secret), server)


def read_client_keys(secret_key: Path | None, server_key: Path | None) -> ClientKeys | None:
    """Return the keys of a connecting socket; None if neither file is named.

    Raises:
        ConfigError: only one is named, or a file is not a valid key file.
    """
    if secret_key is None and server_key is None:
        return None
    if secret_key is None or server_key is None:
        raise ConfigError("CURVE needs both keys: one's own secret key and the public key of the aggregator")
    return ClientKeys(read_pair(secret_key), read_public(server_key))


def read_pair(path: Path) -> KeyPair:
    """Return the keys of a file that is private to its user.

    Raises:
        ConfigError: others may read the file, or it is not a key file.
    """
    public, secret = _read(path)
    if secret is None:
        raise ConfigError(f"{path} has no secret key: name the file that ends with {SECRET}")
    if path.stat().st_mode & _OTHERS:
        raise ConfigError(
            f"{path} is accessible to other users: `chmod 600` it, and make a new key if another user read it"
        )
    return KeyPair(public, secret)


def read_public(path: Path) -> bytes:
    """Return the public key of a file of either kind.

    Raises:
        ConfigError: the file is not a key file.
    """
    return _read(path)[0]


def make_keys(folder: Path, name: str) -> tuple[Path, Path]:
    """Write a new pair of keys.

    Returns:
        The files of the public key and of both keys, the latter private to its user.

    Raises:
        ConfigError: such a file exists already, or it cannot be written.
    """
    public, secret = folder / f"{name}{PUBLIC}", folder / f"{name}{SECRET}"
    for path in (public, secret):
        if path.exists() or path.is_symlink():
            raise ConfigError(f"{path} is there already: remove it first, or choose another name")
    try:
        with private_files():
            zmq.auth.create_certificates(folder, name)
        public.chmod(0o644)
    except OSError as error:
        raise ConfigError(f"{folder}: the keys cannot be written: {error.strerror}") from None
    return public, secret


def is_public_key(text: str) -> bool:
    """Return whether a text is a key of 40 characters of Z85."""
    try:
        return len(text) == _KEY_BYTES and len(zmq.utils.z85.decode(text)) == 32
    except (KeyError, ValueError, UnicodeError):
        return False


def _read(path: Path) -> tuple[bytes, bytes | None]:
    try:
        with open_regular(path) as file:
            if len(file.read(_LARGEST + 1)) > _LARGEST:
                raise ConfigError(f"{path} is not a key file of `iotide keys new`")
        public, secret = zmq.auth.load_certificate(path)
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}") from None
    except (ValueError, UnicodeDecodeError):
        raise ConfigError(f"{path} is not a key file of `iotide keys new`") from None
    for key in (public, secret):
        if key is not None and not is_public_key(key.decode(errors="replace")):
            raise ConfigError(f"{path}: a key has 40 characters of Z85")
    return public, secret
