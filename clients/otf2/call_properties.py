"""OTF2 properties of a call, derived from its signature."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

READ_ONLY: Final = 0
WRITE_ONLY: Final = 1
READ_WRITE: Final = 2

_APPEND: Final = 1 << 1
_CLOSE_ON_EXEC: Final = 1
_CREATE: Final = 1
_TRUNCATE: Final = 2
_EXCLUSIVE: Final = 8

_CREATION: Final = {
    "O_CREAT": 1, "O_TRUNC": 2, "O_DIRECTORY": 4, "O_EXCL": 8, "O_NOCTTY": 16, "O_NOFOLLOW": 32, "O_PATH": 64,
    "O_TMPFILE": 128, "O_LARGEFILE": 256, "MPI_MODE_CREATE": 1, "MPI_MODE_EXCL": 8, "MPI_MODE_SEQUENTIAL": 512,
    "MPI_MODE_UNIQUE_OPEN": 1024,
}  # fmt: skip
_STATUS: Final = {
    "O_CLOEXEC": 1, "O_APPEND": 2, "O_NONBLOCK": 4, "O_ASYNC": 8, "O_SYNC": 16, "O_DSYNC": 32, "O_DIRECT": 64,
    "O_NOATIME": 128, "MPI_MODE_APPEND": 2, "MPI_MODE_DELETE_ON_CLOSE": 256,
}  # fmt: skip
_ACCESS: Final = {
    "O_RDONLY": READ_ONLY, "O_WRONLY": WRITE_ONLY, "O_RDWR": READ_WRITE, "MPI_MODE_RDONLY": READ_ONLY,
    "MPI_MODE_WRONLY": WRITE_ONLY, "MPI_MODE_RDWR": READ_WRITE,
}  # fmt: skip
_LINUX_STATUS: Final = {
    0o2000: 2, 0o4000: 4, 0o20000: 8, 0o4010000: 16, 0o10000: 32, 0o40000: 64, 0o1000000: 128, 0o2000000: 1,
}  # fmt: skip
"""Flag of open(2) on x86-64 and ARM -> flag of OTF2. O_SYNC before the O_DSYNC that it contains."""
_SEEKS: Final = {"SET": 0, "CUR": 1, "END": 2, "DATA": 3, "HOLE": 4}

_flag_words = re.compile(r"\b(?:O|MPI_MODE)_[A-Z_]+")
_stream_mode = re.compile(r"\bmode=([rwa])([a-z+,=0-9]*)")
_hdf5_flags = re.compile(r"^H5F(create|open)\w*\(flags=0x([0-9a-f]+)")
_whence = re.compile(r"SEEK_([A-Z]+)")
_seek_by = re.compile(r"\b(?:by|offset|position)=(-?\d+)")
_set_flags = re.compile(r"command=F_SET(FL|FD), argument=(0x[0-9a-f]+|\d+)")
_group = re.compile(r"=@([0-9a-f]{1,16})\b")
_operation = re.compile(r"\boperation=(\d{1,18})\b")
_request = re.compile(r"^[al]io_\w+\(.*\bid=(\d{1,18})\b")


class Opened(NamedTuple):
    """Mode in which a handle was opened, in OTF2's numbers. ``known`` is False if the call does not report it."""

    access: int = READ_WRITE
    creation: int = 0
    status: int = 0
    known: bool = False


class SeekArguments(NamedTuple):
    """Arguments of a seek."""

    by: int | None
    whence: int | None


@lru_cache(maxsize=4096)
def open_mode(signature: str) -> Opened:
    """Return the open mode of a handle from the signature of the call.

    >>> open_mode("open(flags=O_WRONLY|O_CREAT|O_APPEND, mode=0644) = 3")
    Opened(access=1, creation=1, status=2, known=True)
    >>> open_mode("H5Dopen2(loc_id=#3, name=rows)").known
    False
    """
    words = _flag_words.findall(signature)
    if words:
        access = [_ACCESS[word] for word in words if word in _ACCESS]
        creation = sum({_CREATION.get(word, 0) for word in words})
        status = sum({_STATUS.get(word, 0) for word in words})
        return Opened(access[0] if access else READ_WRITE, creation, status, bool(access))
    if found := _hdf5_flags.match(signature):
        number = int(found[2], 16)
        if found[1] == "create":
            return Opened(READ_WRITE, _CREATE | (_TRUNCATE if number & 2 else _EXCLUSIVE), 0, True)
        return Opened(READ_WRITE if number & 1 else READ_ONLY, 0, 0, True)
    if found := _stream_mode.search(signature):
        first, rest = found[1], found[2]
        access_of = READ_WRITE if "+" in rest else READ_ONLY if first == "r" else WRITE_ONLY
        creation = {"r": 0, "w": _CREATE | _TRUNCATE, "a": _CREATE}[first] | (_EXCLUSIVE if "x" in rest else 0)
        status = (_APPEND if first == "a" else 0) | (_CLOSE_ON_EXEC if "e" in rest else 0)
        return Opened(access_of, creation, status, True)
    return Opened()


def inherited_mode(flags: int) -> Opened:
    """Return the open mode of an inherited descriptor from its flags of open(2)."""
    return Opened(min(flags & 3, READ_WRITE), 0, _otf2_status(flags), True)


@lru_cache(maxsize=4096)
def seek_arguments(signature: str) -> SeekArguments:
    """Return offset and origin of a seek; None if the signature lacks them.

    >>> seek_arguments("lseek(fd=3, by=-16, whence=SEEK_END)")
    SeekArguments(by=-16, whence=2)
    """
    by, whence = _seek_by.search(signature), _whence.search(signature)
    return SeekArguments(int(by[1]) if by else None, _SEEKS.get(whence[1]) if whence else None)


@lru_cache(maxsize=4096)
def status_flags(signature: str) -> int | None:
    """Return the status flags that a call sets on a handle. Return None if it sets none that OTF2 knows.

    >>> status_flags("fcntl(fd=7, command=F_SETFD, argument=0x1) = 0")
    1
    """
    found = _set_flags.search(signature)
    if found is None:
        return None
    number = int(found[2], 0)
    return (number & _CLOSE_ON_EXEC) if found[1] == "FD" else _otf2_status(number)


@lru_cache(maxsize=4096)
def group_of(signature: str) -> int:
    """Return the number shared by the ranks that opened a file together; 0 if there is none."""
    found = _group.search(signature)
    return int(found[1], 16) if found else 0


def operation_of(signature: str) -> int:
    """Return the number of the non-blocking operation that a call begins or completes; 0: none.

    >>> operation_of("MPI_Wait(fh=@1f, operation=2)"), operation_of("aio_error(id=3) = 0"), operation_of("read(fd=3)")
    (2, 3, 0)
    """
    found = _operation.search(signature) or _request.match(signature)
    return int(found[1]) if found else 0


def _otf2_status(flags: int) -> int:
    made = 0
    for bits, flag in _LINUX_STATUS.items():
        if flags & bits == bits and not (flag == 32 and made & 16):
            made |= flag
    return made
