"""Output files and folders of commands: private, and complete or absent."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile, mkdtemp
from typing import IO, Final

import click

_MAX_NAME: Final = 100


@contextmanager
def complete_file(target: Path) -> Iterator[Path]:
    """Yield a temporary path beside a file; what is written there replaces the file when it is complete.

    Raises:
        click.ClickException: it cannot be written.
    """
    partial = target.with_name(f"{temporary_prefix(target)}{os.getpid()}")
    try:
        yield partial
        partial.replace(target)
    except OSError as error:
        raise click.ClickException(f"{target} cannot be written: {error.strerror or error}") from error
    finally:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)


def temporary_prefix(target: Path) -> str:
    """Return the prefix of a file's temporary name, valid for a name of any length."""
    return f".{os.fsdecode(os.fsencode(target.name)[:_MAX_NAME])}."


@contextmanager
def private_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a new file that only its user may read. It replaces an existing file when it is complete.

    Raises:
        OSError: it cannot be written, or the name belongs to something other than a file, such as a device.
    """
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISREG(path.stat().st_mode):
            raise FileExistsError(errno.EEXIST, "it exists and is no regular file", str(path))
    with NamedTemporaryFile(dir=path.absolute().parent, prefix=temporary_prefix(path), delete=False) as file:
        written = Path(file.name)
        try:
            yield file
            file.flush()
            written.replace(path)
        except BaseException:
            written.unlink(missing_ok=True)
            raise


@contextmanager
def private_folder(path: Path, is_ours: Callable[[Path], bool]) -> Iterator[Path]:
    """Create a new folder that only its user may read. It gets its name when it is complete.

    Args:
        path: its name. An empty folder of that name is replaced, and one for which ``is_ours`` is true.
        is_ours: returns whether a folder may be removed.

    Raises:
        FileExistsError: the name is taken by something else.
    """
    made = Path(mkdtemp(dir=path.absolute().parent, prefix=temporary_prefix(path)))
    try:
        yield made
        if path.is_symlink() or (path.exists() and not path.is_dir()):
            raise FileExistsError(17, "something that is no folder has that name", str(path))
        if path.is_dir() and any(path.iterdir()):
            if not is_ours(path):
                raise FileExistsError(17, "a folder with other things in it has that name", str(path))
            shutil.rmtree(path)
        made.replace(path)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise


def size_of(path: Path) -> int:
    """Return the size of a file, or of all files in a folder, bytes."""
    if path.is_dir():
        return sum(each.stat().st_size for each in path.rglob("*") if each.is_file())
    return path.stat().st_size
