"""Checks of output files before the work begins."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path

import click


def check_target(option: str, target: Path, inputs: Iterable[str | Path] = ()) -> None:
    """Refuse a file that cannot or must not be written.

    Raises:
        click.UsageError: its folder does not exist, it is not a regular file, it cannot be examined, or it is an input.
    """
    if not os.path.isdir(target.parent):
        raise click.UsageError(f"{option} {target}: there is no folder {target.parent}")
    try:
        found = target.stat()
    except FileNotFoundError:
        return
    except OSError as error:
        raise click.UsageError(f"{option} {target}: {error.strerror}") from None
    if stat.S_ISDIR(found.st_mode):
        raise click.UsageError(f"{option} {target}: that is a folder")
    if not stat.S_ISREG(found.st_mode):
        raise click.UsageError(f"{option} {target}: that is no regular file")
    if any(os.path.exists(each) and os.path.samefile(each, target) for each in inputs):  # noqa: PTH121
        raise click.UsageError(f"{option} {target}: that is an input, which is not overwritten")
