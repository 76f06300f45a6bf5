"""Validate endpoints: an address that others could reach in plain text is refused unless allowed."""

from __future__ import annotations

import contextlib
import ipaddress
import os
import re
import stat
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Final, TypeAlias

from pydantic import AfterValidator, ValidationInfo

from ..errors import ConfigError

_LONGEST_PATH: Final = 107
"""Size of sun_path of a Unix socket, without its final NUL."""
_HIGHEST_PORT: Final = 65_535
_HOST: Final = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.-]{0,252}[A-Za-z0-9_.])?")
_PORT: Final = re.compile(r"[0-9]{1,5}")


def check_endpoint(endpoint: str, *, connects: bool = False) -> None:
    """Refuse invalid endpoints of ZeroMQ, which itself interprets port 99999 as 34463.

    Args:
        endpoint: ``tcp://HOST:PORT``, ``ipc://PATH`` or ``inproc://NAME``.
        connects: for sockets that connect; those that listen may leave address (``*``) and port (``*`` or 0) open.

    Raises:
        ConfigError: the endpoint is invalid; the text gives the reason.
    """
    scheme, _, rest = endpoint.partition("://")
    if not rest or not rest.isprintable() or scheme not in ("tcp", "ipc", "inproc"):
        raise ConfigError(f"{endpoint!r} is no endpoint such as tcp://127.0.0.1:9787 or ipc:///run/iotide/ingest")
    if scheme == "ipc" and len(os.fsencode(rest)) > _LONGEST_PATH:
        raise ConfigError(f"{endpoint}: a Unix socket's path has at most {_LONGEST_PATH} bytes")
    if scheme == "tcp":
        source, parted, _ = rest.rpartition(";") if connects else ("", "", "")
        if parted:
            _host_and_port(source, endpoint)
        host, port = _host_and_port(_destination(rest) if connects else rest, endpoint)
        if connects and not (port and host != "*"):
            raise ConfigError(f"{endpoint}: there is no {'address' if host == '*' else 'port'} to connect to")


def check_address(address: str) -> tuple[str, int]:
    """Return host and port of ``HOST:PORT``; for port 0 the system chooses one.

    Raises:
        ConfigError: the address is malformed.
    """
    host, port = _host_and_port(address, address)
    if host == "*":
        raise ConfigError(f"{address}: name an address, such as 0.0.0.0 for all of IPv4")
    return host, port


def unix_path(address: str) -> Path | None:
    """Return the path of ``unix:PATH``; None for an address of another kind.

    Raises:
        ConfigError: the path is empty or too long for a Unix socket.
    """
    scheme, _, path = address.partition(":")
    if scheme != "unix":
        return None
    if not path or not path.isprintable() or len(os.fsencode(path)) > _LONGEST_PATH:
        raise ConfigError(f"{address!r}: a Unix socket's path has 1 to {_LONGEST_PATH} bytes, all of them printable")
    return Path(path)


def check_private(endpoint: str, *, allow: bool, permission: str = "allow_plaintext", connects: bool = False) -> None:
    """Refuse endpoints that others on the network could reach in plain text.

    Args:
        endpoint: endpoint of ZeroMQ.
        allow: whether others may reach it.
        permission: setting that would allow it, for the message.
        connects: as for ``check_endpoint``.

    Raises:
        ConfigError: the endpoint is malformed or not private.
    """
    check_endpoint(endpoint, connects=connects)
    scheme, _, rest = endpoint.partition("://")
    if scheme == "ipc":
        if rest.startswith("@") and not allow:
            raise ConfigError(f"{endpoint} has no file whose mode keeps others out; name a file, or set {permission}")
        if not rest.startswith("@") and not Path(rest).parent.is_dir():
            raise ConfigError(f"{endpoint}: there is no folder {Path(rest).parent}")
    elif scheme == "tcp" and not allow and not is_loopback(_host_and_port(_destination(rest), endpoint)[0]):
        raise ConfigError(f"{endpoint} is not loopback: plain text is refused there unless {permission} is set")


def is_ipv6(endpoint: str) -> bool:
    """Return whether an endpoint has an IPv6 address, which needs a ZeroMQ socket option."""
    return endpoint.startswith("tcp://") and ":" in _host_and_port(_destination(endpoint[6:]), endpoint)[0]


def is_loopback(host: str) -> bool:
    """Return whether a host name or address stays on this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@contextlib.contextmanager
def private_files() -> Iterator[None]:
    """Make files created inside the context (ipc sockets) accessible to their user only."""
    before = os.umask(stat.S_IRWXG | stat.S_IRWXO)
    try:
        yield
    finally:
        os.umask(before)


def _destination(rest: str) -> str:
    """Remove the source address of a connecting socket (``SOURCE;DESTINATION``)."""
    return rest.rpartition(";")[2]


def _host_and_port(text: str, whole: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or not host:
        raise ConfigError(f"{whole!r} has no HOST:PORT such as 127.0.0.1:9787")
    if port != "*" and not (_PORT.fullmatch(port) and int(port) <= _HIGHEST_PORT):
        raise ConfigError(f"{whole!r}: {port!r} is no port, which is a number from 1 to {_HIGHEST_PORT}")
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    if not (bare == "*" or _HOST.fullmatch(bare) or _is_ipv6_address(bare)):
        raise ConfigError(f"{whole!r}: {host!r} is no host, which is a name or an address such as 127.0.0.1 or [::1]")
    return bare, 0 if port == "*" else int(port)


def _is_ipv6_address(text: str) -> bool:
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return True


def _refusing(check: Callable[[str], object]) -> AfterValidator:
    """Return a validator of settings whose error names the setting."""

    def checked(value: str, info: ValidationInfo) -> str:
        try:
            check(value)
        except ConfigError as error:
            raise ConfigError(f"{info.field_name}: {error}") from None
        return value

    return AfterValidator(checked)


ListeningEndpoint: TypeAlias = Annotated[str, _refusing(check_endpoint)]
"""Endpoint of ZeroMQ in settings, for a socket that listens."""
ConnectingEndpoint: TypeAlias = Annotated[str, _refusing(partial(check_endpoint, connects=True))]
"""The same for a socket that connects."""
HttpAddress: TypeAlias = Annotated[str, _refusing(lambda address: unix_path(address) or check_address(address))]
"""HOST:PORT or unix:PATH in settings."""
