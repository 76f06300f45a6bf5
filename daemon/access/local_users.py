"""Collectors on an ipc endpoint: the kernel identifies the user of each connection (SO_PEERCRED)."""

from __future__ import annotations

import os
import re
from typing import Final

import zmq

from ...events.network.peers import user_name

_CREDENTIALS: Final = re.compile(r".*:([0-9]+):[0-9]+:[0-9]+", re.DOTALL)
"""Address of a peer as ZeroMQ reports it for ipc. It has the name, then user, group and process id from the kernel."""
_MOST_KNOWN: Final = 4096


class LocalUsers:
    """The users of this machine, by the messages that they send.

    root and the aggregator's own user are node collectors, whose statements about users are trusted.
    """

    def __init__(self) -> None:
        self._known: dict[int, str] = {}

    def user_of(self, frame: zmq.Frame) -> str | None:
        """Return the user of a frame's sender.

        It is "" for a node collector, None if the kernel did not identify it.
        """
        try:
            found = _CREDENTIALS.fullmatch(str(frame.get("Peer-Address")))
        except zmq.ZMQError:
            return None
        return None if found is None else self._of(int(found[1]))

    def _of(self, uid: int) -> str:
        if uid in (0, os.geteuid()):
            return ""
        if (known := self._known.get(uid)) is not None:
            return known
        name = user_name(uid)
        if not name.startswith("#"):  # the name service may know it later
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[uid] = name
        return name
