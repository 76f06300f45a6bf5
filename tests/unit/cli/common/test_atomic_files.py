"""Output files of commands: complete or absent."""

from __future__ import annotations

import contextlib
from pathlib import Path

import click
import pytest
from iotide.cli.common.atomic_files import complete_file


def test_a_file_appears_when_it_is_complete(tmp_path: Path) -> None:
    target = tmp_path / ("n" * 250)  # a temporary name that is longer would not be valid
    target.write_text("before")
    with complete_file(target) as temporary:
        temporary.write_text("after")
        assert target.read_text() == "before"
    assert target.read_text() == "after"
    assert list(tmp_path.iterdir()) == [target]


def test_a_failed_write_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.write_text("before")
    with contextlib.suppress(ZeroDivisionError), complete_file(target) as temporary:
        temporary.write_text("half")
        raise ZeroDivisionError
    assert [path.read_text() for path in tmp_path.iterdir()] == ["before"]


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    target = tmp_path / "absent" / "out"
    with (
        pytest.raises(click.ClickException, match=r"absent/out cannot be written: No such file"),
        complete_file(target) as at,
    ):
        at.write_text("x")
