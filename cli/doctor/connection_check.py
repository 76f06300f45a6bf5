"""Check of ``iotide doctor --cluster`` for a collector's connection to the aggregator.

It reports whether it can be made, and why not.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

import zmq
from zmq.utils.monitor import recv_monitor_message

from ...events import ConfigError
from ...events.network.curve import ClientKeys, read_client_keys
from ...events.network.endpoints import check_endpoint, is_ipv6
from ...events.network.greeting import NoGreetingError, security_mechanism
from .checks import BrokenError

_PATIENCE_S: Final = 10.0
"""Maximum time for a connection, s; a cluster's network needs milliseconds."""
_REFUSED: Final = zmq.Event.HANDSHAKE_FAILED_AUTH
_ENDS: Final = _REFUSED | zmq.Event.HANDSHAKE_SUCCEEDED | zmq.Event.HANDSHAKE_FAILED_PROTOCOL
_CUT: Final = zmq.Event.HANDSHAKE_FAILED_NO_DETAIL | zmq.Event.DISCONNECTED
_INGEST: Final = (
    "--connect must be the aggregator's `ingest`, which the first line of its log names; "
    "its default, tcp://127.0.0.1:9787, is reached from its own machine only"
)

_REMEDIES: Final[dict[str, str]] = {
    "silent": f"allow the port in the packet filters between; {_INGEST}",
    "no_address": "correct the name, or /etc/hosts or DNS",
}


def connect(endpoint: str) -> str:
    """Connect to an aggregator as a collector does, with the keys of ``IOTIDE_KEY`` and ``IOTIDE_SERVER_KEY``.

    Args:
        endpoint: endpoint for collectors.

    Returns:
        Kind of the connection.

    Raises:
        BrokenError: it cannot be made; has the cause.
        ConfigError: the endpoint or a key file is invalid.
    """
    check_endpoint(endpoint, connects=True)
    key, server_key = (os.environ.get(name) for name in ("IOTIDE_KEY", "IOTIDE_SERVER_KEY"))
    keys = read_client_keys(Path(key) if key else None, Path(server_key) if server_key else None)
    mechanism = _mechanism(endpoint)
    if mechanism == "CURVE" and keys is None:
        raise BrokenError(
            f"the aggregator at {endpoint} requires keys, and IOTIDE_KEY and IOTIDE_SERVER_KEY are not set",
            "let IOTIDE_KEY name your secret key and IOTIDE_SERVER_KEY the aggregator's public key (docs/security.md)",
        )
    if mechanism == "NULL" and keys is not None:
        raise BrokenError(
            f"the aggregator at {endpoint} has no key, and collectors with IOTIDE_KEY do not send in plain text",
            "set `access.key` in the aggregator's settings, or unset IOTIDE_KEY and IOTIDE_SERVER_KEY",
        )
    _shake_hands(endpoint, keys)
    return f"{endpoint}, {'plain text' if keys is None else 'encrypted with your key'}"


def _mechanism(endpoint: str) -> str:
    """Return the security mechanism in the greeting of the peer."""
    try:
        return security_mechanism(endpoint, _PATIENCE_S)
    except NoGreetingError as error:
        if error.obstacle == "other_protocol":
            problem = f"what listens at {endpoint} is not an aggregator's port for collectors"
            raise BrokenError(problem, f"{_INGEST}; 9788 is HTTP") from None
        raise BrokenError(str(error), _REMEDIES.get(error.obstacle, _INGEST)) from None


def _shake_hands(endpoint: str, keys: ClientKeys | None) -> None:
    """Connect with ZeroMQ; the monitor of the socket reports why a peer refuses."""
    with zmq.Context() as context, context.socket(zmq.DEALER) as peer:
        peer.linger = 0
        peer.setsockopt(zmq.IPV6, is_ipv6(endpoint))
        if keys is not None:
            keys.secure(peer)
        monitor = peer.get_monitor_socket(int(_ENDS | _CUT))
        try:
            peer.connect(endpoint)
            event = _fate(monitor)
        except zmq.ZMQError as error:
            raise ConfigError(f"{endpoint}: {error}") from None
        finally:
            peer.disable_monitor()
            monitor.close()
    if event == zmq.Event.HANDSHAKE_SUCCEEDED:
        return
    if event == _REFUSED and keys is not None:
        raise BrokenError(
            f"the aggregator does not accept your key, {keys.own.public.decode()}",
            "allow it: `iotide keys allow principals.toml --name USER --key USER.key --user USER --may collect`",
        )
    if keys is not None:
        raise BrokenError(
            "the aggregator ends the encrypted connection: IOTIDE_SERVER_KEY is not its public key, "
            "or your key is not allowed",
            "copy the aggregator's .key file (`access.key` names the file beside it), and compare both",
        )
    raise BrokenError(
        f"what listens at {endpoint} accepts no collectors: it may be the port for subscribers, `publish`",
        f"{_INGEST}; 9789 is `publish`",
    )


def _fate(monitor: zmq.Socket[Any]) -> int:
    """Return the event that decides about the connection. Return 0 if there is none within the time."""
    return int(recv_monitor_message(monitor)["event"]) if monitor.poll(int(_PATIENCE_S * 1000)) else 0
