"""Preserve the processes of a collector for another one, which takes them over if the first is killed.

Or store what was read of them before the space is released, so that the other one sends it.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from .....events import ProtocolError
from .handover_socket import Arrival
from .keeper import Keeper, Notes, PreservedRegion, started
from .process_image import ProcessImage
from .region import Region
from .watching import GONE, UNWATCHED


class Inherited(NamedTuple):
    """One process that was taken over."""

    token: int
    process: ProcessImage
    definitions: bytes
    """Definitions that were taken out of it before."""
    kept: list[PreservedRegion]
    """Its regions, with open descriptors."""


def take_over(left: Iterable[PreservedRegion]) -> list[Inherited]:
    """Map the previous collector's regions, and signal the processes; unreadable regions are released."""
    of_token: defaultdict[int, list[PreservedRegion]] = defaultdict(list)
    for kept in left:
        of_token[kept.token].append(kept)
    found = []
    for regions in of_token.values():
        regions.sort(key=lambda kept: kept.extent)
        try:
            found.append(_mapped(regions))
        except (ProtocolError, OSError, ValueError):
            for kept in regions:
                with contextlib.suppress(OSError):
                    os.close(kept.region)
    return found


def _mapped(regions: list[PreservedRegion]) -> Inherited:
    first = regions[0]
    if first.extent or first.notes < 0:
        raise ProtocolError("its first region is not there")
    mapped = [Region(kept.region) for kept in regions]
    process = ProcessImage(first.pid, mapped[0], _watched(first))
    process.regions = mapped
    process.predecessors = first.predecessors
    process.notes = Notes(first.notes)
    process.reported_before = process.notes.counters()
    mapped[0].mark_read(time.monotonic_ns())
    return Inherited(first.token, process, process.notes.definitions(), regions)


def _watched(first: PreservedRegion) -> int:
    """Return a pidfd of the process. GONE if it has ended, even if its pid was reused."""
    try:
        watch = os.pidfd_open(first.pid)
    except OSError:
        return GONE if started(first.pid) != first.started else UNWATCHED
    if started(first.pid) == first.started:
        return watch
    os.close(watch)
    return GONE


def preserve(keeper: Keeper | None, process: ProcessImage, arrival: Arrival) -> None:
    """Pass a region to the keeper, if there is a descriptor for its notes; close the region's descriptor."""
    if keeper is None or arrival.descriptor < 0:
        return
    with contextlib.suppress(OSError):
        if process.notes is None and arrival.region.extent == 0 and keeper.has_regions:
            process.notes = Notes()
        if process.notes is not None:
            first = arrival.region.extent == 0
            notes = process.notes.descriptor if first else -1
            begun = started(process.pid) if first else 0
            had = process.predecessors + 1
            extent, descriptor = arrival.region.extent, arrival.descriptor
            keeper.preserve(PreservedRegion(arrival.token, process.pid, begun, extent, had, 0, descriptor, notes))
    os.close(arrival.descriptor)


class DeferredRelease:
    """Release of ring space, once it is requested, only when its data is stored elsewhere.

    Args:
        processes: processes of a drain, by token.
        inherited: processes of the previous collector that the drain has not begun to read.
        keeper: process that preserves the regions.
    """

    def __init__(
        self, processes: Mapping[int, ProcessImage], inherited: Sequence[Inherited], keeper: Keeper | None
    ) -> None:
        self.is_deferred = False
        self._processes = processes
        self._inherited = inherited
        self._keeper = keeper
        self._unstored: dict[int, None] = {}
        self._final_positions: dict[int, bytes] = {}  # positions of processes that have ended, by token

    def defer(self, positions: Mapping[int, bytes]) -> list[int]:
        """Make ring space be released only by ``mark_stored`` from now on.

        Args:
            positions: positions that the previous collector had reached, by token.

        Returns:
            The tokens of processes that are not there.
        """
        self.is_deferred = True
        for process in (*self._processes.values(), *(left.process for left in self._inherited)):
            process.defer_release()
        inherited = {left.token: left.process for left in self._inherited}
        for token in positions.keys() & inherited.keys():
            with contextlib.suppress(msgspec.MsgspecError):
                inherited[token].resume_from(positions[token])
        return [token for token in positions if token not in inherited]

    def note(self, token: int) -> None:
        """Record that data of a process was taken."""
        if self.is_deferred:
            self._unstored[token] = None

    def note_end(self, token: int, process: ProcessImage) -> None:
        """Record that a process has ended."""
        if self.is_deferred:
            self._final_positions[token] = process.read_position()
            self._unstored[token] = None
        elif self._keeper is not None and process.notes is not None:
            self._keeper.forget(token)

    def unstored_processes(self) -> list[tuple[int, bool]]:
        """Return the processes with data taken since ``mark_stored``, and whether storing it is urgent."""
        return [
            (token, process is None or process.is_short_of_space)
            for token, process in ((token, self._processes.get(token)) for token in self._unstored)
        ]

    def read_position(self, token: int) -> bytes:
        """Return the read position of a process."""
        process = self._processes.get(token)
        return self._final_positions[token] if process is None else process.read_position()

    def mark_stored(self, token: int) -> bool:
        """Record that everything taken from a process so far is stored. Returns whether the process has ended."""
        self._unstored.pop(token, None)
        if (process := self._processes.get(token)) is not None:
            process.release()
            return False
        self._final_positions.pop(token, None)
        if self._keeper is not None:
            self._keeper.forget(token)
        return True
