"""What files are to a program (its data, channels to others, the machine's own), and so which bytes count.

The one rule that signal, totals, tables, layers and texts go by. It is asked once for each file, never for an event.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from ..events import FileType
from ..results.prediction import CountName

if TYPE_CHECKING:
    from ..results.layers import FileGroup

DATA: Final = 0
CHANNEL: Final = 1
"""Pipes, sockets, terminals and other devices: who reads from one waits for somebody else."""
SYSTEM: Final = 2
"""What comes with the machine and its software: ``/proc``, libraries, modules of Python, the folders of MPI."""
GROUPS: Final[tuple[FileGroup, ...]] = ("data", "channel", "system")
GROUP_NAMES: Final = {CHANNEL: "(pipes, sockets, devices)", SYSTEM: "(files of the system)"}
"""What the handles on such files that the program opens are called together."""

READS: Final = 1
"""Bit of what is left out of a file: what is read of it."""
WRITES: Final = 2
"""Bit of what is left out of a file: what is written to it."""

_PSEUDO: Final = ("/proc/", "/sys/")
_CHANNELS: Final = frozenset({int(FileType.PIPE), int(FileType.SOCKET), int(FileType.DEVICE)})
_ON_DISK: Final = frozenset({int(FileType.UNKNOWN), int(FileType.REGULAR)})
_MACHINE: Final = (
    "/bin/", "/boot/", "/etc/", "/gnu/store/", "/lib/", "/lib32/", "/lib64/", "/libx32/", "/nix/store/", "/run/",
    "/sbin/", "/snap/", "/usr/", "/var/cache/",
)  # fmt: skip
_NOT_THE_MACHINE: Final = ("/run/media/", "/run/user/", "/usr/local/", "/usr/src/")
"""Below folders of the machine, and yet places for what users put there."""
_PREFIX: Final = r"(?:bin|etc|include|lib|lib32|lib64|libexec|man|sbin|ssl|conda-meta|pkgs)/"
_SHARED: Final = (
    r"share/(?:applications|bash-completion|ca-certificates|doc|fonts|glib-2\.0|icons|info|java|locale|man|mime|misc"
    r"|terminfo|X11|zoneinfo)/"
)
_LANGUAGES: Final = r"(?:erlang|gcc|jvm|julia|lua|ocaml|octave|perl5?|R|ruby|tcl[\d.]*|tk[\d.]*)/"
_SOFTWARE: Final = re.compile(
    r"/(?:site-packages|dist-packages|node_modules|LC_MESSAGES)/"
    rf"|/lib(?:64)?/(?:python\d|{_LANGUAGES})|/share/{_LANGUAGES}"
    # software that is installed apart from the machine's: prefixes below /opt and /usr/local, those of conda and Spack
    rf"|^/(?:opt|usr/local)/(?:[^/]+/){{0,6}}(?:{_PREFIX}|{_SHARED})"
    rf"|/(?:(?:ana|mini)conda\d*|(?:mini|mamba)forge\d*|micromamba|envs/[^/]+|spack/opt/(?:[^/]+/){{0,5}}[^/]+)"
    rf"/(?:{_PREFIX}|share/)"
    r"|^/var/lib/(?:alternatives|apt|dbus|dpkg|pacman|rpm|snapd|sss|systemd|texmf)/"
    r"|/\.cache/(?:fontconfig|matplotlib|pip)/|/\.config/matplotlib/|/\.julia/(?:artifacts|compiled|packages)/"
    # what keeps the versions of languages
    r"|/\.(?:asdf|cargo|nodenv|nvm|pyenv|rbenv|rustup|sdkman)/"
)
_SOFTWARE_NAME: Final = re.compile(r"\.(?:pyi?|so(?:\.\d+)*|jar|jmod|jsa|class)$|^/pyvenv\.cfg$")
_OWN: Final = re.compile(  # caches of modules, folders of MPI, counters of Java
    r"/__pycache__/|/ompi\.[^/]+/|/(?:pmix|prte)[.-][^/]*/|/\.(?:openmpi|pmix)/|^/tmp/hsperfdata_[^/]+/"
)
_OWN_NAME: Final = re.compile(r"\.py[co]$|^/ompi\.|^/(?:pmix|prte)[.-]")
_OWN_MEMORY: Final = tuple(
    f"/dev/shm/{name}"  # noqa: S108  (a path to compare with)
    for name in ("ucx_", "vader_", "mpich_", "psm2_", "Intel_MPI", "sm_segment", "open_mpi")
)


def _kind_of_folder(folder: str) -> tuple[bool, bool]:
    """Tells whether a folder (with a slash at its end) is of software, and whether software writes it for itself."""
    own = bool(_OWN.search(folder))
    machine = folder.startswith(_MACHINE) and not folder.startswith(_NOT_THE_MACHINE)
    return own or machine or bool(_SOFTWARE.search(folder)), own


_kind_of_parent: Final = lru_cache(4096)(_kind_of_folder)
"""The same for the folders that files lie in, of which many lie in one."""


def _kind_of(path: str) -> tuple[bool, bool]:
    cut = path.rfind("/")
    software, own = _kind_of_parent(path[: cut + 1])
    if not own:  # the path may be such a folder itself: folders are listed and looked up, too
        itself, own = _kind_of_folder(f"{path}/")
        software = software or itself
    name = path[max(cut, 0) :]
    own = own or bool(_OWN_NAME.search(name)) or path.startswith(_OWN_MEMORY)
    named = _SOFTWARE_NAME.search(name) or path.endswith("/lib/modules")  # the classes of Java
    return software or own or bool(named), own


class CountRule(Struct, frozen=True):
    """Says of each file what group it belongs to, and whether what is read of it and written to it counts.

    Attributes:
        count: ``data`` leaves out channels and what comes with the machine; ``files`` leaves out channels alone;
            ``everything`` leaves out nothing.
        data_paths: beginnings of paths of the program's data, wherever they lie.
        system_paths: further beginnings of paths of what comes with the machine.
    """

    count: CountName = "data"
    data_paths: tuple[str, ...] = ()
    system_paths: tuple[str, ...] = ()

    def group(self, path: str, kind: int) -> int:
        """Returns DATA, CHANNEL or SYSTEM.

        Args:
            path: of the file, as its program or the kernel spells it; "" where it is not known.
            kind: its FileType.

        >>> rule = CountRule(data_paths=("/opt/set/",))
        >>> rule.group("/scratch/out.h5", 1), rule.group("/home/me/env/lib/python3.11/os.py", 1)
        (0, 2)
        >>> rule.group("/opt/tool/lib/a.txt", 1), rule.group("/opt/set/lib/a.py", 1), rule.group("/opt/in/a.bin", 1)
        (2, 0, 0)
        >>> rule.group("/tmp/ompi.n1.0/pid.7/1/out.h5_cid-4.sm", 1), rule.group("socket:[81]", 4)
        (2, 1)
        """
        if kind in _CHANNELS:
            return CHANNEL
        if self.data_paths and path.startswith(self.data_paths):
            return DATA
        if path.startswith("anon_inode:"):  # eventfd and epoll wake others
            return CHANNEL
        if kind == FileType.PSEUDO or f"{path}/".startswith((*_PSEUDO, *self.system_paths)):
            return SYSTEM
        return SYSTEM if _kind_of(path)[0] else DATA

    def left_out(self, path: str, kind: int) -> int:
        """Returns what does not count of a file: READS, WRITES, both (their sum) or nothing (0).

        What a program writes to a file counts wherever the file lies, but for what software writes for itself.

        >>> rule = CountRule()
        >>> rule.left_out("/usr/lib/libz.so", 1), rule.left_out("/a/__pycache__/b.pyc", 1), rule.left_out("/a/b.nc", 1)
        (1, 3, 0)
        """
        if self.count == "everything":
            return 0
        if kind not in _ON_DISK:
            return READS | WRITES
        if self.count == "files":
            return 0
        group = self.group(path, kind)
        if group == DATA:
            return 0
        own = group == CHANNEL or f"{path}/".startswith((*_PSEUDO, *self.system_paths)) or _kind_of(path)[1]
        return READS | WRITES if own else READS
