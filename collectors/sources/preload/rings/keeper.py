"""Process that preserves the memory of traced processes. Another collector uses it if this one is killed.

The collector sends it a descriptor of each region, and of a file with data that was taken out of the region and is
still needed: definitions, and the process's counters.
"""

from __future__ import annotations

import contextlib
import errno
import json
import logging
import os
import resource
import socket
import struct
from pathlib import Path
from typing import Final, NamedTuple

from .descriptor_keeper import DescriptorKeeper, Kept, keeper_address

_log = logging.getLogger(__name__)
_ABOUT: Final = struct.Struct("<QIIQ")
"""Start, pid, predecessors and taken records of a ``PreservedRegion``."""
_COUNTS_BYTES: Final = 8192
"""Size of the counters in the notes, before the definitions."""
_LEFT_FREE: Final = 64
"""Descriptors that notes leave free for processes."""


class PreservedRegion(NamedTuple):
    """A region of a previous collector; the receiver owns the descriptors."""

    token: int
    pid: int
    started: int
    """Start time of the process from /proc; 0: unknown."""
    extent: int
    predecessors: int
    """Number of collectors that have had the region."""
    taken: int
    """For a process's first region: records taken out of it before the last of these collectors began."""
    region: int
    notes: int
    """Descriptor of ``Notes``; -1 for further regions of a process."""


class Notes:
    """Data that a collector took from a process, in memory that outlives the collector.

    Args:
        descriptor: descriptor of a previous collector's notes; by default a new file.

    Raises:
        OSError: no descriptor is available.
    """

    def __init__(self, descriptor: int = -1) -> None:
        if descriptor < 0:
            descriptor = os.memfd_create("iotide-notes", os.MFD_CLOEXEC)
            if descriptor >= resource.getrlimit(resource.RLIMIT_NOFILE)[0] - _LEFT_FREE:
                os.close(descriptor)
                raise OSError(errno.EMFILE, "descriptors are for processes")
        self.descriptor = descriptor

    def store_definitions(self, entries: bytes) -> None:
        """Store definitions before they are removed from the log."""
        with contextlib.suppress(OSError):  # no memory is left: another collector will not have them
            at = max(os.lseek(self.descriptor, 0, os.SEEK_END), _COUNTS_BYTES)
            os.pwrite(self.descriptor, entries, at)

    def store_counters(self, counts: dict[str, int]) -> None:
        """Store the process's counters at their last report."""
        with contextlib.suppress(OSError):
            os.pwrite(self.descriptor, json.dumps(counts).encode().ljust(_COUNTS_BYTES), 0)

    def definitions(self) -> bytes:
        """Return all definitions."""
        return os.pread(self.descriptor, max(os.fstat(self.descriptor).st_size - _COUNTS_BYTES, 0), _COUNTS_BYTES)

    def counters(self) -> dict[str, int]:
        """Return the counters."""
        with contextlib.suppress(ValueError):
            found = json.loads(os.pread(self.descriptor, _COUNTS_BYTES, 0).rstrip(b"\0 "))
            if isinstance(found, dict):
                return {str(name): int(count) for name, count in found.items()}
        return {}

    def close(self) -> None:
        """Close the descriptor; a keeper may still have the memory."""
        os.close(self.descriptor)


class Keeper:
    """The collector's end: takes over a previous collector's regions, and sends regions to the keeper.

    Args:
        gate: path of the traced processes' socket; no collector may listen there.

    Attributes:
        inherited: regions of the previous collector.
    """

    def __init__(self, gate: Path) -> None:
        self.inherited: list[PreservedRegion] = []
        self._keeper: DescriptorKeeper | None = None
        if _is_listened_to(gate):
            return
        try:
            self._keeper = DescriptorKeeper(keeper_address(gate), "unread calls")
        except OSError as error:
            _log.warning("unread calls will be lost if this collector is killed: %s", error)
            return
        self.inherited.extend(filter(None, map(_region_of, self._keeper.inherited)))
        self._keeper.start()

    @property
    def has_regions(self) -> bool:
        """Whether regions are preserved."""
        return self._keeper is not None and self._keeper.keeps

    def preserve(self, kept: PreservedRegion) -> None:
        """Preserves a region, replacing earlier data about it; the caller keeps its descriptors."""
        if self._keeper is not None:
            descriptors = [each for each in (kept.region, kept.notes) if each >= 0]
            about = _ABOUT.pack(kept.started, kept.pid, kept.predecessors, kept.taken)
            self._keeper.keep(kept.token, kept.extent, about, descriptors)

    def has_inherited(self) -> None:
        """End the previous keeper, because the new one has everything."""
        if self._keeper is not None:
            self._keeper.has_inherited()

    def forget(self, token: int) -> None:
        """Releases the regions of a process."""
        if self._keeper is not None:
            self._keeper.forget(token)

    def close(self) -> None:
        """Releases everything, because nothing remains to be read."""
        if self._keeper is not None:
            self._keeper.close()


def started(pid: int) -> int:
    """Return the start of a process in ticks since boot. Returns 0 if there is no such process."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(
            Path(f"/proc/{pid}/stat").read_text(errors="replace", encoding="utf-8").rpartition(")")[2].split()[19]
        )
    return 0


def _region_of(kept: Kept) -> PreservedRegion | None:
    """Return a region; None if it has no descriptor or is of another version."""
    if not kept.descriptors or len(kept.about) != _ABOUT.size:
        for descriptor in kept.descriptors:
            os.close(descriptor)
        return None
    begun, pid, had, taken = _ABOUT.unpack(kept.about)
    region, notes = (*kept.descriptors, -1)[:2]
    return PreservedRegion(kept.key, pid, begun, kept.part, had, taken, region, notes)


def _is_listened_to(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as probe, contextlib.suppress(OSError):
        return probe.connect_ex(str(path)) == 0
    return False
