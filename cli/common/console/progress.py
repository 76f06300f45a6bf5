"""Progress of long work, on standard error if it is a terminal."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

_MIN_BYTES = 32 * 1024 * 1024


@contextlib.contextmanager
def reading_progress(paths: Sequence[Path]) -> Iterator[Callable[[Path, int], None]]:
    """Show the progress of reading large files; yield a function of path and bytes read."""
    sizes = {path: path.stat().st_size if os.path.isfile(path) else 0 for path in paths}
    total = sum(sizes.values())
    if not sys.stderr.isatty() or total < _MIN_BYTES:
        yield lambda path, done: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    done_of = dict.fromkeys(paths, 0)
    columns = (TextColumn("reading {task.fields[name]}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("read", total=total, name="")

        def show(path: Path, done: int) -> None:
            done_of[path] = done
            bar.update(task, completed=sum(done_of.values()), name=path.name)

        yield show


@contextlib.contextmanager
def step_progress(title: str) -> Iterator[Callable[[int, int], None]]:
    """Show the progress of several equal steps; yield a function of completed and total steps."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextlib.contextmanager
def calls_progress(title: str, streams: int, *, quiet: bool = False) -> Iterator[Callable[[int, int], None]]:
    """Show the numbers of processed streams and calls. Yield a function of processed streams and further calls."""
    if quiet or not sys.stderr.isatty():
        yield lambda done, calls: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("streams, {task.fields[calls]:,} calls"),
        TimeElapsedColumn(),
    )
    total = 0
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=streams, calls=0)

        def show(done: int, calls: int) -> None:
            nonlocal total
            total += calls
            bar.update(task, completed=done, calls=total)

        yield show
