"""Streams of which everything has arrived, as those of short processes. Many are translated and passed on together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...events import Definitions, EventBatch, StreamInfo, concatenate
from ...events.schema import UNKNOWN_ID
from ..file_groups import copies_files
from .numbering import JobNames, mark_started


class WholeStream(NamedTuple):
    """A stream that has ended without losses: its introduction, and all events and definitions."""

    stream: str
    info: StreamInfo
    batch: EventBatch
    definitions: Definitions

    @property
    def is_usual(self) -> bool:
        """Whether it has events, no predecessor and a known clock, and defines its numbers once and in order."""
        info, definitions = self.info, self.definitions
        return bool(
            len(self.batch)
            and not info.follows
            and info.clock_offset_ns is not None
            and [number for number, _ in definitions.strings] == list(range(1, len(definitions.strings) + 1))
            and [number for number, _ in definitions.files] == list(range(1, len(definitions.files) + 1))
        )


def translated_together(names: JobNames, streams: Sequence[WholeStream]) -> EventBatch | None:
    """Return the events of usual streams in the job's numbering, one stream after the other.

    Returns:
        What ``StreamNames.translate`` returns for each; None if a stream uses undefined numbers.
    """
    batch = concatenate([each.batch for each in streams])
    calls, files, at = list[int](), list[int](), list[tuple[int, int, int, int, int]]()
    for _, info, events, definitions in streams:
        at.append((len(events), len(calls), len(definitions.strings), len(files), len(definitions.files)))
        calls.append(0)
        calls += [names.call(text) for _, text in definitions.strings]
        number_of = names.copied_file if copies_files(info.command) else names.file
        files.append(0)
        files += [number_of(file) for _, file in definitions.files]
    lengths, *places = np.array(at).T
    first_call, last_call, first_file, last_file = (np.repeat(each, lengths) for each in places)
    if (batch.call > last_call).any() or (batch.file > last_file).any():
        return None
    translated = batch.replace(
        call=np.array(calls, np.uint32)[first_call + batch.call],
        file=np.array(files, np.uint32)[first_file + batch.file],
        signature=UNKNOWN_ID,
    )
    names.mark_folders(translated)
    return mark_started(translated, names.starts) if names.any_starts else translated
