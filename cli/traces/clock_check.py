"""Checks that several inputs have a common clock. Their calls can then be put on one time axis."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ...events import InputError, StreamInfo


def check_clocks(infos: Iterable[StreamInfo], last: Path) -> None:
    """Refuse inputs without a common clock.

    Args:
        infos: descriptions of the streams of all inputs.
        last: the last input; the message names it.

    Raises:
        InputError: some times are relative and others are Unix time, or several files of ``strace -r`` are given, whose
            times count from each file's own first line.
    """
    clocks: set[bool] = set()
    relative: set[str] = set()
    for info in infos:
        clocks.add(info.clock_offset_ns is None)
        if info.source == "strace" and info.clock_offset_ns is None:
            relative.add(info.origin)
    if len(clocks) > 1:
        raise InputError(
            str(last), None, "its times are relative, and those of other inputs are Unix time", "one clock"
        )
    if len(relative) > 1:
        raise InputError(
            str(last),
            None,
            f"strace -r counts times from a file's own first line, so {len(relative)} files have no common clock",
            "one of the files alone, or a trace with Unix time: strace -ff -ttt -T -y -o FILE COMMAND",
        )
