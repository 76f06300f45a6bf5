"""Source of processes that a node's collector does not collect: their jobs report them as missing."""

from __future__ import annotations

import os
import select
from collections import Counter
from pathlib import Path

from ...node.file_metadata import NodeFileMetadata
from ...source import Origin, Problems, SourceItem
from .rings.handover_socket import Arrival, HandoverSocket
from .rings.passed_peers import PassedPeers
from .streams import Streams


class RefusedPrograms:
    """Receives processes that another process has accepted and that exceed a bound.

    Each becomes a stream without events and with a loss. Its memory is released unread.

    Args:
        path: path of the socket at which they were accepted.
        origin: facts about streams that do not state them.
        passed: receiver of the processes.
        counter: the loss of each process.
    """

    def __init__(self, path: Path, origin: Origin, passed: PassedPeers, counter: str) -> None:
        self.problems = Problems()
        self.counters: Counter[str] = Counter()
        self._passed, self._counter = passed, counter
        self._files = NodeFileMetadata()
        self._streams = Streams(str(path), origin, self._files, self.counters, self.problems, live=False)
        self._events = select.epoll()
        self._handover = HandoverSocket(path, self._events, passed=passed)
        self._closed = False

    @property
    def finished(self) -> bool:
        """True once no further process is passed and all have been received."""
        return self._closed or (self._passed.ended and not self._handover.has_waiting_peers)

    def poll(self) -> list[SourceItem]:
        """Return a stream for each new process."""
        if self._closed:
            return []
        ready = [descriptor for descriptor, _ in self._events.poll(0)]
        for arrival in self._handover.arrivals(ready):
            if isinstance(arrival, Arrival):
                self._streams.not_collected(arrival.token, arrival.pid, arrival.region.header(), self._counter)
                arrival.region.close()
                if arrival.watch >= 0:
                    os.close(arrival.watch)
        return self._streams.items()

    def close(self) -> None:
        """Release the connections that have sent nothing."""
        if self._closed:
            return
        self._closed = True
        self._handover.close()
        self._events.close()
        self._streams.close()
        self._files.close()
