"""Source that receives the shared memory of traced processes."""

from __future__ import annotations

import math
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

from ...node.file_metadata import NodeFileMetadata
from ...source import Origin, Problems, SourceItem
from .rings.drain import Drain
from .rings.keeper import Keeper
from .rings.passed_peers import PassedPeers
from .rings.region import Region
from .streams import Streams
from .untraced import UntracedPrograms

_POSITION_PREFIX: Final = "preload:"
_ENDING_S: Final = 0.5
"""Seconds for which processes may end after the collector: a job that is cancelled ends both at once."""


class PreloadSource:
    """Listens on a Unix socket for processes that the preload library traces. Each becomes a stream.

    Args:
        path: path of the socket.
        origin: facts about streams that do not state them.
        files: file metadata of the node; closed with the source.
        patience_s: time for which a few events wait for more, because reading them costs more than making them.
        clock: a steady clock, s.
        keeps: preserve unread data for the next collector if this one is killed; forks the process.
        passed: receiver of this user's processes that another process has accepted at the path; by default the source
            listens there.
        counts_untraced: report untraced programs as losses of their jobs.
    """

    def __init__(
        self,
        path: Path,
        origin: Origin,
        *,
        files: NodeFileMetadata | None = None,
        patience_s: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
        keeps: bool = False,
        passed: PassedPeers | None = None,
        counts_untraced: bool = False,
    ) -> None:
        self.problems = Problems()
        self.counters: Counter[str] = Counter()
        self._files = files or NodeFileMetadata()
        self._patience_s = patience_s
        self._closed = False
        self._clock = clock
        self._reads_on_until_s = 0.0  # 0 before the end
        self._stores_positions: list[int] = []
        self._stored: set[int] = set()
        self._ended: list[int] = []  # streams whose positions are not needed any more
        # The processes of several users at one path have a keeper each.
        kept = path if passed is None else path.with_name(f"{path.name}.{os.getuid()}")
        self._drain = Drain(path, clock, keeper=Keeper(kept) if keeps else None, passed=passed)
        self._streams = Streams(
            str(path),
            origin,
            self._files,
            self.counters,
            self.problems,
            clock,
            self._drain.stop_reading,
            counts_untraced=counts_untraced,
        )

    @property
    def untraced(self) -> UntracedPrograms:
        """Programs that traced processes started and that are not traced, with reasons."""
        return self._streams.untraced

    @property
    def finished(self) -> bool:
        """True once closed: until then another process may arrive."""
        return self._closed

    @property
    def in_use(self) -> bool:
        """Whether there are processes that have not ended or whose rings are not completely read."""
        return self._drain.in_use

    def poll(self) -> list[SourceItem]:
        """Accept new processes, and return what all have recorded since the last poll."""
        self._drain.poll(self._streams, self._patience_s)
        if 0.0 < self._reads_on_until_s <= self._clock():
            self._reads_on_until_s = math.inf
            for token in self._drain.running():
                self._streams.still_running(token)
        return self._streams.items()

    @property
    def is_waiting(self) -> bool:
        """Whether processes may still end after the end was requested. A later poll counts those that did not."""
        return 0.0 < self._reads_on_until_s < math.inf and bool(self._drain.running())

    def resume_from(self, positions: Mapping[str, bytes]) -> None:
        """Continues after the stored positions. Ring space is released only when its data is stored elsewhere."""
        tokens = {_token_of(name): value for name, value in positions.items() if name.startswith(_POSITION_PREFIX)}
        self._ended = self._drain.release.defer(tokens)
        self._stored.update(tokens)

    def read_positions(self, is_queued: Callable[[Iterable[str], bool], bool]) -> dict[str, bytes | None]:
        """Return the read positions of rings."""
        found: dict[str, bytes | None] = {_name_of(token): None for token in self._ended}
        self._stores_positions, self._ended = [], []
        for token, is_urgent in self._drain.release.unstored_processes():
            stream = self._streams.emptied_stream(token)
            if stream is not None and (not stream or is_queued([stream], is_urgent)):
                found[_name_of(token)] = self._drain.release.read_position(token)
                self._stores_positions.append(token)
        self._stored.update(self._stores_positions)
        if self._closed:
            found.update((_name_of(token), None) for token in self._stored)
        return found

    def positions_stored(self) -> None:
        """Releases the space of stored data."""
        for token in self._stores_positions:
            if self._drain.release.mark_stored(token):
                self._stored.discard(token)
                self._ended.append(token)
        self._stores_positions = []

    def images(self) -> dict[int, list[Region]]:
        """Return the regions of running processes, by token; may be called by another thread."""
        return self._drain.images()

    def sleep(self) -> bool:
        """Enable notification through ``fileno``; False: some processes cannot notify."""
        return self._drain.sleep() and not self._streams.is_waiting

    def fileno(self) -> int:
        """Return a descriptor that becomes readable when there is work.

        Much data waits, or a process arrives or ends.
        """
        return self._drain.events.fileno()

    def stop_buffering(self) -> None:
        """Make each later poll return all available data, because the collector ends."""
        self._patience_s = 0.0
        self._reads_on_until_s = self._clock() + _ENDING_S
        if self._streams.untraced_after_s < math.inf:
            self._streams.untraced_after_s = 0.0

    def close(self) -> None:
        """Stop listening and release the processes' memory. They continue, and hand over to the next collector."""
        if self._closed:
            return
        self._closed = True
        self._drain.close(self._streams)
        self._streams.close()
        self._files.close()


def _name_of(token: int) -> str:
    return f"{_POSITION_PREFIX}{token:016x}"


def _token_of(name: str) -> int:
    try:
        return int(name.removeprefix(_POSITION_PREFIX), 16)
    except ValueError:
        return 0
