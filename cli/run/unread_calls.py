"""Handling of the copy of early calls of a run, and of later calls that are kept until they are archived."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Final, Protocol

from ...collectors.sources.preload.relay import RelayedSource
from .burst_deferral import MIN_BURST_CALLS

_FIRST_POLL_S: Final = 0.1
_POLL_S: Final = 1.0


class Archives(Protocol):
    """The archives of calls."""

    counters: Counter[str]

    def checkpoints(self, job: str) -> tuple[int, int]:
        """Return the number of checkpoints of a job. It also returns how many of them are in its file."""
        ...


async def release_when_archived(source: RelayedSource, archives: Archives, job: str) -> None:
    """Remove the copy when its calls are archived, and then allow later ones to be forgotten when they are archived.

    It is continued until the archive has a checkpoint and few calls wait to be read: an analysis that gets little of a
    core archives its first calls many seconds after it has read them. Then a checkpoint that began after the copy was
    read completely must be in the archive.
    """
    await _wait_until(lambda: archives.checkpoints(job)[1] > 0 and source.waiting_calls <= MIN_BURST_CALLS)
    source.end_copy()
    await _wait_until(lambda: source.is_copy_read)
    await _wait_for_checkpoint(archives, job)
    source.remove_copy()
    while True:
        read = source.read_segments
        await _wait_for_checkpoint(archives, job)
        source.mark_archived(read)


async def _wait_for_checkpoint(archives: Archives, job: str) -> None:
    """Wait until all calls that are read by now are in the archive."""
    enough = archives.checkpoints(job)[0] + 2  # the next checkpoint may have begun before
    await _wait_until(lambda: archives.checkpoints(job)[1] >= enough)


async def _wait_until(is_so: Callable[[], bool]) -> None:
    pause_s = _FIRST_POLL_S
    while not is_so():
        await asyncio.sleep(pause_s)
        pause_s = min(1.5 * pause_s, _POLL_S)


def keep_or_remove(
    source: RelayedSource, archives: Archives | None, archive: Path | None, say: Callable[[str], None]
) -> None:
    """Remove the copy at the end, and what else is kept.

    If the copy may contain calls that are stored nowhere else, print its path instead.

    Args:
        source: source with the copy.
        archives: closed archives.
        archive: the job's archive; None if it could not be written.
        say: prints a message for the user.
    """
    counters = {} if archives is None else archives.counters
    missing = any(reason.startswith("events_not_archived:") for reason in +Counter(counters))
    if source.unread_copy is not None and (missing or (archive is None and source.counters["events"])):
        path = source.unread_copy
        say(f"the first calls are kept in {path}: iotide archive create -o FILE.iotide {path}")
    else:
        source.remove_copy()
    source.mark_archived()
