"""Preserve the processes of a collector for another one, which takes them over if the first is killed."""

from __future__ import annotations

import contextlib
import os
import time
from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

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
