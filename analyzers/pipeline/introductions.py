"""Conversion of a stream's introduction for the interaction analyzer."""

from __future__ import annotations

from ...events import StreamInfo
from ...events.kernel import COMM, text_about
from ...events.programs import program_name
from ..interaction.update import Introduction
from .numbering import JobNames


def introduction(names: JobNames, info: StreamInfo, *, space: int, stream: int) -> Introduction:
    """Return the introduction of a stream: its process, parent process, and name."""
    program = program_name(info.command)
    name = names.file(text_about(COMM, program)[1]) if program else 0
    return Introduction(space, stream, info.pid, info.rank, info.parent_pid, name)
