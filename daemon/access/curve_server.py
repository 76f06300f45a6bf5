"""CURVE at listening sockets: our key, and authentication requests (ZAP, RFC 27 of ZeroMQ)."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import zmq
import zmq.asyncio
import zmq.auth

from ...events import ConfigError
from ...events.network.curve import ClientKeys, KeyPair, read_pair
from .principals import Permission, Principal, PrincipalsFile

_log = logging.getLogger(__name__)
_PERMISSION: Final[dict[str, Permission]] = {"ingest": "collect", "publish": "operate"}
"""Permission required of a peer, by the socket's ZAP domain."""
_MAX_LOGGED: Final = 20


class CurveServer:
    """Answers ZeroMQ's authentication requests. ``run`` must be active while the sockets are open.

    Args:
        context: context of the sockets.
        key: file of our secret key.
        principals: permitted principals.
        count: called with the domain for each refused peer.
        for_members: only members of our cluster may connect. They have our key, or one listed as a member's.

    Raises:
        ConfigError: the key cannot be read.
    """

    def __init__(
        self,
        context: zmq.asyncio.Context,
        key: Path,
        principals: PrincipalsFile,
        count: Callable[[str], None] = lambda _: None,
        *,
        for_members: bool = False,
    ) -> None:
        self._for_members = for_members
        self._path = key
        self._pair = read_pair(key)
        self._principals = principals
        self._count = count
        self._refused = 0
        self._authenticator = zmq.auth.Authenticator(context)
        for domain in _PERMISSION:
            self._authenticator.configure_curve_callback(domain, self)
        self._authenticator.start()

    def secure(self, socket: zmq.Socket[Any], domain: str) -> None:
        """Make a socket use our key from its next ``bind`` on. ZeroMQ refuses peers without our answer."""
        socket.setsockopt(zmq.CURVE_SERVER, 1)
        socket.setsockopt(zmq.CURVE_PUBLICKEY, self._pair.public)
        socket.setsockopt(zmq.CURVE_SECRETKEY, self._pair.secret)
        socket.setsockopt(zmq.ZAP_DOMAIN, domain.encode())
        socket.setsockopt(zmq.ZAP_ENFORCE_DOMAIN, 1)

    def local_collector_keys(self) -> ClientKeys:
        """Return keys for a collector in this process, and admit them."""
        public, secret = zmq.curve_keypair()
        self._principals.admit(Principal(name="(this process)", key=public.decode(), may=frozenset({"collect"})))
        return ClientKeys(KeyPair(public, secret), self._pair.public)

    def keys_of_members(self, key: str = "") -> ClientKeys:
        """Return keys for connections to processes of our cluster.

        Args:
            key: public key of their member; ignored unless it is listed as a member's. "": our own member.
        """
        return ClientKeys(self._pair, key.encode() if self.is_of_member(key) else self._pair.public)

    def is_of_member(self, key: str) -> bool:
        """Return whether a public key is ours, or listed as a member's."""
        if key == self._pair.public.decode():
            return True
        listed = self._principals.with_key(key)
        return listed is not None and listed.allows("member")

    def reload(self) -> bool:
        """Read our key again; return whether it changed, so that sockets must be bound again."""
        try:
            pair = read_pair(self._path)
        except ConfigError as error:
            _log.error("%s; the earlier key stays in use", error)
            return False
        if pair == self._pair:
            return False
        _log.warning("%s was read again: the aggregator's key has changed", self._path)
        self._pair = pair
        return True

    def callback(self, domain: str, key: bytes) -> bool:
        """Return to ZeroMQ whether the owner of a public key may connect to a socket."""
        refused = self._why_not(domain, key)
        if not refused:
            return True
        self._count(domain)
        self._refused += 1
        if self._refused <= _MAX_LOGGED:
            _log.warning("%s: refused %s", domain, refused)
        return False

    def _why_not(self, domain: str, key: bytes) -> str:
        """Return who is refused, and why; "" for a peer that may connect."""
        if self._for_members:
            if self.is_of_member(key.decode(errors="replace")):
                return ""
            return "a key that is neither access.key of this cluster nor listed with the permission member"
        principal = self._principals.with_key(key.decode(errors="replace"))
        if principal is None:
            return "an unknown key"
        permission = _PERMISSION[domain]
        return "" if principal.allows(permission) else f"{principal.name!r}, who may not {permission}"

    async def run(self) -> None:
        """Answer until cancelled."""
        poller = zmq.asyncio.Poller()
        poller.register(self._authenticator.zap_socket, zmq.POLLIN)
        while True:
            await poller.poll()
            await self._authenticator.handle_zap_message(self._authenticator.zap_socket.recv_multipart())

    def close(self) -> None:
        """Refuse all further connections."""
        self._authenticator.stop()


def principal_of(frame: zmq.Frame, principals: PrincipalsFile) -> Principal | None:
    """Return the sender of a frame, if it may still send."""
    try:
        key = frame.get("User-Id")
    except zmq.ZMQError:
        return None
    found = principals.with_key(str(key))
    return found if found is not None and found.allows("collect") else None
