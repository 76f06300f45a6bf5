"""Counts of one thing have its singular, in messages on losses too."""

from __future__ import annotations

import pytest
from iotide.events.counted_text import counted
from iotide.events.losses import REASONS, loss_lines


@pytest.mark.parametrize("name", REASONS)
def test_one_lost_thing_is_not_several(name: str) -> None:
    one, several = next(loss_lines({name: 1})), next(loss_lines({name: 2}))
    assert one.split()[0] == "1"
    assert one.removeprefix("1 ") != several.removeprefix("2 ")
    assert len(one.split()) == len(several.split())


@pytest.mark.parametrize(
    ("what", "one"),
    [
        ("events of POSIX that are no I/O calls", "event of POSIX that is no I/O calls"),
        ("lines or records that cannot be read", "line or record that cannot be read"),
        ("names of files, calls or handles lost", "name of files, calls or handles lost"),
        ("entries", "entry"),
        ("status of a bus", "status of a bus"),
    ],
)
def test_first_plural_is_what_is_counted(what: str, one: str) -> None:
    assert counted(1, what) == f"1 {one}"
    assert counted(2000, what) == f"2,000 {what}"
