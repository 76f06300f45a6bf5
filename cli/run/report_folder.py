"""The report folder of ``iotide run``, checked for writability before the command starts."""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

_PROBE_BYTES: Final = 65_536
"""A full file system accepts an empty file, so a few blocks are written."""
_MAX_SIBLINGS: Final = 10_000
_REPORT_FILES: Final = ("report.html", "summary.json", "predictions.jsonl", "signal.json")


@contextlib.contextmanager
def report_folder(wanted: Path, fallback_name: str, say: Callable[[str], None]) -> Iterator[Path | None]:
    """Yield a folder that is ours for the duration of the block. Remove it if it stays empty.

    A folder with an earlier report, or in use by another run, is not used: a numbered sibling is. A folder that is not
    writable is replaced by one in ``$TMPDIR``, the home folder or /tmp.

    Args:
        wanted: requested folder; created if necessary, with its parents, private to the user.
        fallback_name: name of a replacement folder.
        say: callback with a message if another folder is used.

    Yields:
        The folder; None if no folder is writable.
    """
    try:
        folder, descriptor, made = _free_folder(wanted)
    except OSError as error:
        say(f"cannot write the report to {wanted}: {error.strerror or error}")
        found = _fallback_folder(fallback_name)
        if found is None:
            say("no other folder is writable either: the run has no report")
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
            with contextlib.suppress(OSError):  # it is not empty
                path.rmdir()


def has_report(folder: Path) -> bool:
    """Return whether a run has left files in a folder."""
    return any((folder / name).exists() for name in _REPORT_FILES)


def _fallback_folder(name: str) -> tuple[Path, int, list[Path]] | None:
    roots = [Path(os.path.expanduser("~")), Path("/tmp")]  # noqa: S108, PTH111
    with contextlib.suppress(OSError):  # none is writable
        roots.insert(0, Path(tempfile.gettempdir()))
    for root in roots:
        with contextlib.suppress(OSError):
            return _free_folder(root.absolute() / name, only_new=True)  # others can write to /tmp
    return None


def _free_folder(wanted: Path, *, only_new: bool = False) -> tuple[Path, int, list[Path]]:
    """Return a folder and the descriptor with its lock.

    The third value are the folders created for it, innermost first.
    """
    for number in range(1, _MAX_SIBLINGS):
        folder = wanted if number == 1 else wanted.absolute().with_name(f"{wanted.absolute().name}-{number}")
        made = [path for path in (folder, *folder.absolute().parents) if not path.exists()]
        try:
            folder.mkdir(parents=True, mode=0o700, exist_ok=not only_new)
        except FileExistsError:
            if only_new:
                continue
            raise
        try:
            descriptor = _lock_folder(folder)
            if descriptor is not None:
                return folder, descriptor, made
        except OSError:
            for path in made:
                with contextlib.suppress(OSError):
                    path.rmdir()
            raise
    raise FileExistsError(17, f"{_MAX_SIBLINGS} folders beside it have reports")


def _lock_folder(folder: Path) -> int | None:
    """Return a descriptor that locks a folder against other runs. Return None if it is in use.

    Raises:
        OSError: the folder is not writable.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        except OSError:  # a file system without locks: only the report's files mark the folder as used
            pass
        if has_report(folder):
            os.close(descriptor)
            return None
        with tempfile.TemporaryFile(dir=folder, buffering=0) as probe:
            if probe.write(bytes(_PROBE_BYTES)) != _PROBE_BYTES:
                probe.write(bytes(1))  # which reports the reason
            os.fsync(probe.fileno())
    except OSError:
        with contextlib.suppress(OSError):
            os.close(descriptor)
        raise
    return descriptor
