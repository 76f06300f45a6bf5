"""What is done with the copy of calls that waited at the beginning of a run: it goes when they are archived."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Final, Protocol

from ...collectors.sources.preload.relay import RelayedSource

_LOOK_S: Final = 1.0


class Archives(Protocol):
    """Where calls are archived."""

    counters: Counter[str]

    def checkpoints(self, job: str) -> tuple[int, int]:
        """Returns how many checkpoints of a job were made, and how many of them are in its file."""
        ...


async def remove_when_archived(source: RelayedSource, archives: Archives, job: str) -> None:
    """Takes the copy away once a checkpoint that began after all of it was read is in the archive."""
    await _until(lambda: source.is_copy_read)
    enough = archives.checkpoints(job)[0] + 2  # the next one may have begun before
    await _until(lambda: archives.checkpoints(job)[1] >= enough)
    source.remove_copy()


async def _until(is_so: Callable[[], bool]) -> None:
    while not is_so():  # noqa: ASYNC110  (what tells is another thread's, and the disk's)
        await asyncio.sleep(_LOOK_S)


def keep_or_remove(
    source: RelayedSource, archives: Archives | None, archive: Path | None, say: Callable[[str], None]
) -> None:
    """Takes the copy away at the end, or says where it is when something of it may be nowhere else.

    Args:
        source: has it.
        archives: are closed.
        archive: the job's; None where nothing could be written.
        say: tells the user.
    """
    counters = {} if archives is None else archives.counters
    missing = any(reason.startswith("events_not_archived:") for reason in +Counter(counters))
    if source.unread_copy is not None and (missing or (archive is None and source.counters["events"])):
        path = source.unread_copy
        say(f"the first calls are kept in {path}: iotide archive create -o FILE.iotide {path}")
    else:
        source.remove_copy()
