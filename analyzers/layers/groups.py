"""What files are to a program: its data, channels to others, or what comes with the machine and the program."""

from __future__ import annotations

import re
from typing import Final

from ...events import FileType
from ...events.layers import FileGroup

DATA: Final = 0
CHANNEL: Final = 1
"""Pipes, sockets, terminals and other devices: who reads from one waits for somebody else."""
SYSTEM: Final = 2
"""What comes with the machine and its software: ``/proc``, libraries, modules of Python, the folders of MPI."""
GROUPS: Final[tuple[FileGroup, ...]] = ("data", "channel", "system")
GROUP_NAMES: Final = {CHANNEL: "(pipes, sockets, devices)", SYSTEM: "(files of the system)"}
"""What the handles on such files that the program opens are called together."""

_PSEUDO: Final = ("/proc/", "/sys/")
_CHANNELS: Final = frozenset({int(FileType.PIPE), int(FileType.SOCKET), int(FileType.DEVICE)})
_SOFTWARE: Final = re.compile(
    r"/(?:site|dist)-packages/|/lib(?:64)?/python\d|/__pycache__/|\.(?:py[co]?|pth)$|\.so(?:\.\d+)*$"
    r"|/ompi\.[^/]+(?:/|$)|/(?:pmix|prte)[.-]|/\.(?:openmpi|pmix)/"  # folders of MPI
    r"|^/dev/shm/(?:ucx_|vader_|mpich_|psm2_|Intel_MPI|sm_segment|open_mpi)"
)


def group_of(path: str, kind: int, system_paths: tuple[str, ...], data_paths: tuple[str, ...] = ()) -> int:
    """Tells which group a file belongs to.

    Args:
        path: of the file.
        kind: its FileType.
        system_paths: beginnings of paths of what comes with the machine.
        data_paths: beginnings of paths of the program's data, wherever they lie.

    >>> group_of("/scratch/out.h5", 1, ("/usr/",)), group_of("/home/me/env/lib/python3.11/os.py", 1, ())
    (0, 2)
    >>> group_of("/opt/set/a.py", 1, ("/opt/",)), group_of("/opt/set/a.py", 1, ("/opt/",), ("/opt/set/",))
    (2, 0)
    >>> group_of("/tmp/ompi.n1.0/pid.7/1/out.h5_cid-4.sm", 1, ()), group_of("socket:[81]", 4, ())
    (2, 1)
    """
    if kind in _CHANNELS:
        return CHANNEL
    if path.startswith(data_paths):
        return DATA
    if path.startswith("anon_inode:"):  # eventfd and epoll wake others
        return CHANNEL
    if kind == FileType.PSEUDO or path.startswith(_PSEUDO):
        return SYSTEM
    return SYSTEM if path.startswith(system_paths) or _SOFTWARE.search(path) else DATA
