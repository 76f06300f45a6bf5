"""Store the read positions of sources together with their events. Streams of the previous collector are ended."""

from __future__ import annotations

import time
from collections import Counter
from typing import Final

from ...events.losses import CUT_OFF
from ..source import Opened, ResumableSource, Source
from .shipper import Shipper
from .shipper_state import ShipperState

_FOLLOWED_WITHIN_S: Final = 120.0
"""Seconds after which a process of the previous collector counts as cut off. It did not return to this one."""


class SourceResumption:
    """Connects an agent's sources with the shipper's stored state; does nothing if nothing is stored.

    Args:
        shipper: receiver of the sources' events.
        state: state that the previous collector left; None if nothing is stored.
    """

    def __init__(self, shipper: Shipper, state: ShipperState | None) -> None:
        self._shipper = shipper
        self._unended_streams = {} if state is None else state.unended_streams
        self._is_on = state is not None
        self._positions = {} if state is None else state.file.positions()
        self._sources: list[ResumableSource] = []
        self._last_positions: dict[str, bytes | None] = {}
        self._until_s = time.monotonic() + _FOLLOWED_WITHIN_S

    def add(self, source: Source) -> None:
        """Add a source; it continues at the previous collector's position."""
        if self._is_on and isinstance(source, ResumableSource):
            source.resume_from(self._positions)
            self._sources.append(source)

    def opened(self, opened: Opened) -> None:
        """End the previous stream that a new one continues."""
        if self._unended_streams:
            follows = _process_of(opened.info.follows)
            ended = [
                name
                for name in self._unended_streams
                if name == opened.stream or (follows and _process_of(name) == follows)
            ]
            self._shipper.end_previous_streams(ended, Counter())

    def keep(self, now_s: float) -> None:
        """Store all events together with the read positions of sources."""
        if not self._is_on:
            return
        if self._unended_streams and now_s >= self._until_s:
            self.end()
        positions, self._last_positions = self._last_positions, {}
        for source in self._sources:
            positions |= source.read_positions(
                lambda streams, urgent: self._shipper.has_queued(streams, now_s, urgent=urgent)
            )
        self._shipper.keep(positions)
        for source in self._sources:
            source.positions_stored()

    def end(self) -> None:
        """End the streams that no new stream continues."""
        self._shipper.end_previous_streams(list(self._unended_streams), Counter({CUT_OFF: 1}))

    def remove(self, source: Source) -> None:
        """Record that a source was closed."""
        if self._is_on and isinstance(source, ResumableSource):
            self._sources.remove(source)
            self._last_positions |= source.read_positions(lambda streams, urgent: True)


def _process_of(name: str) -> str:
    """Return the part of the name that the streams of one process image share."""
    return name.rpartition(":")[2].partition("+")[0]
