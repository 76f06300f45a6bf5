"""The greeting of a ZeroMQ peer (ZMTP 3.1, RFC 37 of ZeroMQ): what listens at an endpoint, and how it is secured."""

from __future__ import annotations

import contextlib
import socket
from typing import Final, Literal

from ..errors import IotideError

_SIGNATURE: Final = b"\xff" + bytes(8) + b"\x7f"
"""First ten bytes. The length between the first and the last does not matter."""
_VERSION: Final = b"\x03"
_MECHANISM: Final = slice(12, 32)

Obstacle = Literal["silent", "no_address", "nothing_listens", "failed", "other_protocol"]


class NoGreetingError(IotideError):
    """No ZeroMQ peer answers at an endpoint.

    Attributes:
        obstacle: kind of the cause.
    """

    def __init__(self, problem: str, obstacle: Obstacle) -> None:
        super().__init__(problem)
        self.obstacle: Obstacle = obstacle


def security_mechanism(endpoint: str, patience_s: float) -> str:
    """Return the security mechanism of the peer at a valid endpoint: ``NULL`` or ``CURVE``.

    Args:
        endpoint: ``tcp://HOST:PORT`` or ``ipc://PATH``.
        patience_s: maximum time for connection and greeting, each.

    Raises:
        NoGreetingError: there is none.
    """
    try:
        with contextlib.closing(_connected(endpoint, patience_s)) as peer:
            peer.sendall(_SIGNATURE + _VERSION)
            greeting = b""
            while len(greeting) < _MECHANISM.stop and (more := peer.recv(64)):
                greeting += more
    except TimeoutError:
        raise NoGreetingError(f"{endpoint} does not answer within {patience_s:g} s", "silent") from None
    except socket.gaierror as error:
        raise NoGreetingError(f"the host in {endpoint} has no address here: {error.strerror}", "no_address") from None
    except (ConnectionRefusedError, FileNotFoundError) as error:
        raise NoGreetingError(f"nothing listens at {endpoint}: {error.strerror}", "nothing_listens") from None
    except OSError as error:
        raise NoGreetingError(f"{endpoint} cannot be reached: {error.strerror or error}", "failed") from None
    if greeting[:1] + greeting[9:10] != _SIGNATURE[:1] + _SIGNATURE[-1:]:
        raise NoGreetingError(f"what listens at {endpoint} does not use ZeroMQ", "other_protocol")
    return greeting[_MECHANISM].rstrip(b"\0").decode(errors="replace")


def _connected(endpoint: str, patience_s: float) -> socket.socket:
    scheme, _, rest = endpoint.partition("://")
    if scheme == "ipc":
        peer = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        peer.settimeout(patience_s)
        try:
            peer.connect(f"\0{rest[1:]}" if rest.startswith("@") else rest)
        except OSError:
            peer.close()
            raise
        return peer
    host, _, port = rest.rpartition(";")[2].rpartition(":")
    return socket.create_connection((host.strip("[]"), int(port)), patience_s)
