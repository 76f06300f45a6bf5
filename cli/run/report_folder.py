"""Where ``iotide run`` leaves its report: a folder that takes files, tried before the command starts."""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

_PROBE_BYTES: Final = 65_536
"""A folder on a file system without room takes an empty file, so a few blocks are tried."""
_MOST_SIBLINGS: Final = 10_000
_REPORT_FILES: Final = ("report.html", "summary.json", "predictions.jsonl", "signal.json")


@contextlib.contextmanager
def report_folder(wanted: Path, fallback_name: str, say: Callable[[str], None]) -> Iterator[Path | None]:
    """Yields a folder that is ours while the block runs, and takes it away again if nothing was put into it.

    A folder that has an earlier report, or that another run uses, is left alone: a sibling with a number is taken. A
    folder that takes no files is replaced by one in ``$TMPDIR``, the home folder or /tmp.

    Args:
        wanted: the folder asked for; made where it is missing, with its parents, private to the user.
        fallback_name: what a folder elsewhere is called.
        say: told when another folder than the one wanted is taken, and why.

    Yields:
        The folder; None when no folder takes files.
    """
    try:
        folder, descriptor, made = _first_free(wanted)
    except OSError as error:
        say(f"cannot write the report to {wanted}: {error.strerror or error}")
        found = _elsewhere(fallback_name)
        if found is None:
            say("no other folder takes it either: the run leaves no report")
            yield None
            return
        folder, descriptor, made = found
        say(f"the report goes to {folder}")
    else:
        if folder != wanted:
            say(f"{wanted} has an earlier report, or another run uses it: the report goes to {folder}")
    try:
        yield folder
    finally:
        os.close(descriptor)
        for path in made:
            with contextlib.suppress(OSError):  # something is in it
                path.rmdir()


def has_report(folder: Path) -> bool:
    """Tells whether a run has left something in a folder."""
    return any((folder / name).exists() for name in _REPORT_FILES)


def _elsewhere(name: str) -> tuple[Path, int, list[Path]] | None:
    roots = [Path(os.path.expanduser("~")), Path("/tmp")]  # noqa: S108, PTH111
    with contextlib.suppress(OSError):  # none takes files
        roots.insert(0, Path(tempfile.gettempdir()))
    for root in roots:
        with contextlib.suppress(OSError):
            return _first_free(root.absolute() / name, only_new=True)  # others can write to /tmp
    return None


def _first_free(wanted: Path, *, only_new: bool = False) -> tuple[Path, int, list[Path]]:
    """Returns a folder, the descriptor that keeps it ours, and the folders that were made for it, innermost first."""
    for number in range(1, _MOST_SIBLINGS):
        folder = wanted if number == 1 else wanted.absolute().with_name(f"{wanted.absolute().name}-{number}")
        made = [path for path in (folder, *folder.absolute().parents) if not path.exists()]
        try:
            folder.mkdir(parents=True, mode=0o700, exist_ok=not only_new)
        except FileExistsError:
            if only_new:
                continue
            raise
        try:
            descriptor = _ours(folder)
            if descriptor is not None:
                return folder, descriptor, made
        except OSError:
            for path in made:
                with contextlib.suppress(OSError):
                    path.rmdir()
            raise
    raise FileExistsError(17, f"{_MOST_SIBLINGS} folders beside it have reports")


def _ours(folder: Path) -> int | None:
    """Returns a descriptor that keeps other runs out of a folder; None when it is taken.

    Raises:
        OSError: the folder takes no files.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        except OSError:  # a file system without locks: the names of reports have to do
            pass
        if has_report(folder):
            os.close(descriptor)
            return None
        with tempfile.TemporaryFile(dir=folder, buffering=0) as probe:
            if probe.write(bytes(_PROBE_BYTES)) != _PROBE_BYTES:
                probe.write(bytes(1))  # which says why
            os.fsync(probe.fileno())
    except OSError:
        with contextlib.suppress(OSError):
            os.close(descriptor)
        raise
    return descriptor
