"""What a stream says of itself, as the analyzer of interactions takes it."""

from __future__ import annotations

from ...events import StreamInfo
from ...events.kernel import COMM, text_about
from ...events.programs import program_name
from ..interaction.update import Introduction
from .numbering import JobNames


def introduction(names: JobNames, info: StreamInfo, *, space: int, stream: int) -> Introduction:
    """Returns what tells an analyzer who a stream is: its process, who made that, and what it is called."""
    program = program_name(info.command)
    name = names.file(text_about(COMM, program)[1]) if program else 0
    return Introduction(space, stream, info.pid, info.rank, info.parent_pid, name)
