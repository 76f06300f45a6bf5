"""Access checks of peers, as configured by the settings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from ...events.network.wire import Frame
from .settings import AccessSettings

if TYPE_CHECKING:
    import zmq
    import zmq.asyncio

    from ...events.network.curve import ClientKeys
    from .admission import Admission
    from .curve_server import CurveServer
    from .local_users import LocalUsers
    from .principals import PrincipalsFile
    from .projects import Projects

REFUSED: Final = "access_refused:"
"""Prefix of a reason in the aggregator's counters."""


class Access:
    """Access control of the aggregator.

    Args:
        settings: keys and permitted principals.
        user_of: as for ``Admission``.
        counters: counters of refused peers by place.
        behind_gateways: collectors and subscribers connect to gateways, and only these connect here.

    Attributes:
        principals: permitted principals; None without a list.
        projects: members of projects; None unless ``visibility`` is ``project``.

    Raises:
        ConfigError: a file cannot be used.
    """

    def __init__(
        self,
        settings: AccessSettings,
        user_of: Callable[[str], str | None],
        counters: Counter[str],
        *,
        behind_gateways: bool = False,
    ) -> None:
        self.settings = settings
        self._behind_gateways = behind_gateways
        self.principals: PrincipalsFile | None = None
        self._counters = counters
        self._admission: Admission | None = None
        self._curve: CurveServer | None = None
        self._members: frozenset[str] = frozenset()
        self.projects: Projects | None = None
        if settings.principals is not None:  # rarely needed modules are imported here
            from .admission import Admission
            from .principals import PrincipalsFile

            self.principals = PrincipalsFile(settings.principals)
            self._admission = Admission(user_of, self.count)
            self._members = self.principals.keys_of("member")
        self._local: LocalUsers | None = None
        if settings.local_users:
            from .admission import Admission
            from .local_users import LocalUsers

            self._admission, self._local = Admission(user_of, self.count), LocalUsers()
        if settings.visibility == "project" and settings.projects is not None and settings.vouching is not None:
            from .projects import Projects

            self.projects = Projects(settings.projects, settings.vouching, self.count)

    @property
    def is_encrypted(self) -> bool:
        """Whether collectors and subscribers can connect only by CURVE."""
        return self.settings.key is not None

    def load(self, context: zmq.asyncio.Context) -> None:
        """Read the aggregator's key, before the first socket is bound. Raises ConfigError."""
        if self.settings.key is not None and self.principals is not None:
            from .curve_server import CurveServer

            given = context, self.settings.key, self.principals, self.count
            self._curve = CurveServer(*given, for_members=self._behind_gateways)

    def secure(self, socket: zmq.Socket[Any], domain: str) -> None:
        """Require authentication at a socket that is not bound yet, if configured."""
        if self._curve is not None:
            self._curve.secure(socket, domain)

    def admit(self, last: zmq.Frame, frames: Sequence[Frame]) -> tuple[Sequence[Frame], list[Frame]]:
        """Check a message by its sender.

        Args:
            last: its last frame, which identifies the sender.
            frames: all frames.

        Returns:
            The frames to process instead, and the frames of an answer; either may be empty.
        """
        if self._admission is None or (self._local is None and self._curve is None):
            return frames, []
        return self._admission.admit(self.user_of(last), frames)

    def admit_from(self, user: str, frames: Sequence[Frame]) -> tuple[Sequence[Frame], list[Frame]]:
        """Check a message as ``admit`` does, for a sender that a gateway has identified.

        Args:
            user: user of the sender; "" for a node.
            frames: all frames.
        """
        return (frames, []) if self._admission is None else self._admission.admit(user, frames)

    def user_of(self, last: zmq.Frame) -> str | None:
        """Return the user for whom the sender of a frame acts. It is "" for a node, None if it may not send."""
        if self._local is not None:
            return self._local.user_of(last)
        if self._curve is None or self.principals is None:
            return ""
        from .curve_server import principal_of

        sender = principal_of(last, self.principals)
        return None if sender is None else sender.user

    def keys_of_members(self, key: str = "") -> ClientKeys | None:
        """Return keys for connections between processes of a cluster; None without CURVE.

        Args:
            key: public key of the member to connect to; "" for one's own.
        """
        return None if self._curve is None else self._curve.keys_of_members(key)

    def is_of_member(self, key: str) -> bool:
        """Return whether a member with a public key ("" without CURVE) can exchange messages with this one."""
        return not key if self._curve is None else self._curve.is_of_member(key)

    def local_collector_keys(self) -> ClientKeys | None:
        """Return keys for a collector in this process, if it needs any."""
        return None if self._curve is None else self._curve.local_collector_keys()

    def reload(self) -> bool:
        """Read changed files; return whether sockets must be bound again.

        Binding again makes all connected peers authenticate again.
        """
        others = self.principals is not None and self.principals.reload()
        renewed = self._curve is not None and self._curve.reload()
        if others and self.principals is not None and self._behind_gateways:  # only members connect
            before, self._members = self._members, self.principals.keys_of("member")
            others = bool(before - self._members)
        return (others and self._curve is not None) or renewed

    def count(self, where: str) -> None:
        """Count a refused peer."""
        self._counters[REFUSED + where] += 1

    async def run(self) -> None:
        """Answer ZeroMQ's authentication requests until cancelled."""
        if self._curve is not None:
            await self._curve.run()

    def close(self) -> None:
        """Refuse all further connections."""
        if self._curve is not None:
            self._curve.close()
