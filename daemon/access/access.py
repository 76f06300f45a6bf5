"""Everything that is asked of those who connect, wired from the settings."""

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
    from .principals import PrincipalsFile

REFUSED: Final = "access_refused:"
"""Before the reason, in the aggregator's counters."""


class Access:
    """Who may connect now.

    Args:
        settings: whether and whom to ask.
        user_of: as of ``Admission``.
        counters: get what was refused, by where.

    Attributes:
        principals: who may; None where nobody is listed.

    Raises:
        ConfigError: a file cannot be used.
    """

    def __init__(self, settings: AccessSettings, user_of: Callable[[str], str | None], counters: Counter[str]) -> None:
        self.settings = settings
        self.principals: PrincipalsFile | None = None
        self._counters = counters
        self._admission: Admission | None = None
        self._curve: CurveServer | None = None
        if settings.principals is not None:  # what few need is imported where it is needed
            from .admission import Admission
            from .principals import PrincipalsFile

            self.principals = PrincipalsFile(settings.principals)
            self._admission = Admission(user_of, self.count)

    @property
    def is_encrypted(self) -> bool:
        """Whether collectors and subscribers connect by CURVE alone."""
        return self.settings.key is not None

    def begin(self, context: zmq.asyncio.Context) -> None:
        """Reads the aggregator's key, before the first socket is bound. Raises ConfigError."""
        if self.settings.key is not None and self.principals is not None:
            from .curve_server import CurveServer

            self._curve = CurveServer(context, self.settings.key, self.principals, self.count)

    def secure(self, socket: zmq.Socket[Any], domain: str) -> None:
        """Has a socket that is not bound yet ask who connects, where that is wanted."""
        if self._curve is not None:
            self._curve.secure(socket, domain)

    def admit(self, last: zmq.Frame, frames: Sequence[Frame]) -> tuple[Sequence[Frame], list[Frame]]:
        """Judges a message by who sent it.

        Args:
            last: its last frame, which knows the sender.
            frames: all of them.

        Returns:
            What is to be taken in instead, and what is to be answered; either may be empty.
        """
        if self._curve is None or self.principals is None or self._admission is None:
            return frames, []
        from .curve_server import principal_of

        return self._admission.admit(principal_of(last, self.principals), frames)

    def keys_of_ours(self) -> ClientKeys | None:
        """Returns keys for a collector in this process, where it needs some."""
        return None if self._curve is None else self._curve.keys_of_ours()

    def renew(self) -> bool:
        """Reads files that have changed; tells whether sockets have to be bound anew.

        All who are connected then have to show again whether they may.
        """
        others = self.principals is not None and self.principals.renew()
        renewed = self._curve is not None and self._curve.renew()
        return (others and self._curve is not None) or renewed

    def count(self, where: str) -> None:
        """Counts one who was refused."""
        self._counters[REFUSED + where] += 1

    async def run(self) -> None:
        """Answers ZeroMQ's questions until cancelled."""
        if self._curve is not None:
            await self._curve.run()

    def close(self) -> None:
        """Lets nobody connect any more."""
        if self._curve is not None:
            self._curve.close()
