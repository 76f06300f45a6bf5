"""Classification of files (program data, channels, system files), which decides which bytes count.

Signal, totals, tables, layers and texts all use this rule. It is evaluated once per file, never per event.
Programs such as tar, cp and git copy code as data, and only an interpreter executes it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from ..events import FileInfo, FileType
from ..results.prediction import CountName

if TYPE_CHECKING:
    from ..results.layers import FileGroup

_COPIERS: Final = re.compile(
    r"(?:bsd|g|s)?tar|cpio|pax|ar|cp|mv|install|dd|cat|tee|split|rsync|scp|sftp(?:-server)?|rclone|lftp|curl|wget"
    r"|git(?:-[\w-]+)?|(?:un)?zip|7z[arz]?|gzip|gunzip|pigz|p?bzip2|xz|zstd|lz4|(?:mk|un)squashfs|restic"
    r"|pftool|pfcp|dcp|dsync|dtar|[ef]?grep|rg|ag|wc|diff|cmp|sort|uniq|head|tail|sed|[gm]?awk"
    r"|(?:md5|sha\d+|b2|xxh)sum|cksum|sum"
)
"""Programs that never execute the files that they read."""
_MULTICALL: Final = frozenset({"busybox", "toybox", "coreutils"})
"""Programs that contain others. The first argument is the program's name."""
_TYPES_OF_CODE: Final = (FileType.UNKNOWN, FileType.REGULAR)
DATA: Final = 0
CHANNEL: Final = 1
"""Pipes, sockets, terminals and other devices, and memory without a file system (memfd)."""
SYSTEM: Final = 2
"""Files of the machine and its software: ``/proc``, libraries, Python modules, MPI session directories."""
GROUPS: Final[tuple[FileGroup, ...]] = ("data", "channel", "system")
GROUP_NAMES: Final = {CHANNEL: "(pipes, sockets, devices)", SYSTEM: "(files of the system)"}
"""Labels for handles on such files that the program opens."""

READS: Final = 1
"""Bit of the mask of excluded directions: reads of the file do not count."""
WRITES: Final = 2
"""Bit of the mask of excluded directions: writes to the file do not count."""

_PSEUDO: Final = ("/proc/", "/sys/")
_MEMORY: Final = ("anon_inode:", "/memfd:")
"""Names of eventfd, epoll and memfd, which have no file system. They serve other threads or processes."""
_CHANNELS: Final = frozenset({int(FileType.PIPE), int(FileType.SOCKET), int(FileType.DEVICE)})
_ON_DISK: Final = frozenset({int(FileType.UNKNOWN), int(FileType.REGULAR), int(FileType.COPIED)})
_MACHINE: Final = (
    "/bin/", "/boot/", "/etc/", "/gnu/store/", "/lib/", "/lib32/", "/lib64/", "/libx32/", "/nix/store/", "/run/",
    "/sbin/", "/snap/", "/usr/", "/var/cache/",
)  # fmt: skip
_NOT_THE_MACHINE: Final = ("/run/media/", "/run/user/", "/usr/local/", "/usr/src/")
"""Exceptions from ``_MACHINE``: paths below system folders where users keep data."""
_PREFIX: Final = r"(?:bin|etc|include|lib|lib32|lib64|libexec|man|sbin|ssl|conda-meta|pkgs)/"
_SHARED: Final = (
    r"share/(?:applications|bash-completion|ca-certificates|doc|fonts|glib-2\.0|icons|info|java|locale|man|mime|misc"
    r"|terminfo|X11|zoneinfo)/"
)
_LANGUAGES: Final = r"(?:erlang|gcc|jvm|julia|lua|ocaml|octave|perl5?|R|ruby|tcl[\d.]*|tk[\d.]*)/"
_SOFTWARE: Final = re.compile(
    r"/(?:site-packages|dist-packages|node_modules|LC_MESSAGES)/"
    rf"|/lib(?:64)?/(?:python\d|{_LANGUAGES})|/share/{_LANGUAGES}"
    # software outside the system folders: prefixes below /opt and /usr/local, conda and Spack
    rf"|^/(?:opt|usr/local)/(?:[^/]+/){{0,6}}(?:{_PREFIX}|{_SHARED})"
    rf"|/(?:(?:ana|mini)conda\d*|(?:mini|mamba)forge\d*|micromamba|envs/[^/]+|spack/opt/(?:[^/]+/){{0,5}}[^/]+)"
    rf"/(?:{_PREFIX}|share/)"
    r"|^/var/lib/(?:alternatives|apt|dbus|dpkg|pacman|rpm|snapd|sss|systemd|texmf)/"
    r"|/\.cache/(?:fontconfig|matplotlib|pip)/|/\.config/matplotlib/|/\.julia/(?:artifacts|compiled|packages)/"
    # version managers of programming languages
    r"|/\.(?:asdf|cargo|nodenv|nvm|pyenv|rbenv|rustup|sdkman)/"
)
_SOFTWARE_NAME: Final = re.compile(r"\.(?:pyi?|so(?:\.\d+)*|jar|jmod|jsa|class)$|^/pyvenv\.cfg$")
_OWN: Final = re.compile(  # module caches, MPI session directories, Java performance counters
    r"/__pycache__/|/ompi\.[^/]+/|/(?:pmix|prte)[.-][^/]*/|/\.(?:openmpi|pmix)/|^/tmp/hsperfdata_[^/]+/"
)
_OWN_NAME: Final = re.compile(r"\.py[co]$|^/ompi\.|^/(?:pmix|prte)[.-]")
_OWN_MEMORY: Final = tuple(
    f"/dev/shm/{name}"  # noqa: S108  (a path to compare with)
    for name in ("ucx_", "vader_", "mpich_", "psm2_", "Intel_MPI", "sm_segment", "open_mpi")
)


def _kind_of_folder(folder: str) -> tuple[bool, bool]:
    """Return whether a folder (with trailing slash) belongs to software.

    The second flag is whether software writes there for itself.
    """
    own = bool(_OWN.search(folder))
    machine = folder.startswith(_MACHINE) and not folder.startswith(_NOT_THE_MACHINE)
    return own or machine or bool(_SOFTWARE.search(folder)), own


_kind_of_parent: Final = lru_cache(4096)(_kind_of_folder)
"""Cached variant for parent folders, since many files share one."""


@lru_cache(4096)  # it is needed twice per file, and most jobs of a machine open the same libraries
def _kind_of(path: str) -> tuple[bool, bool]:
    cut = path.rfind("/")
    software, own = _kind_of_parent(path[: cut + 1])
    if not own:  # the path itself may be a folder that is listed or looked up
        itself, own = _kind_of_folder(f"{path}/")
        software = software or itself
    name = path[max(cut, 0) :]
    own = own or bool(_OWN_NAME.search(name)) or path.startswith(_OWN_MEMORY)
    named = _SOFTWARE_NAME.search(name) or path.endswith("/lib/modules")  # class archive of Java
    return software or own or bool(named), own


class CountRule(Struct, frozen=True):
    """Classifies files, and decides whether reads from and writes to a file count.

    Attributes:
        count: ``data`` excludes channels and system files; ``files`` excludes channels only; ``everything`` excludes
            nothing.
        data_paths: path prefixes of the program's data, also below system folders.
        system_paths: additional path prefixes of system files.
    """

    count: CountName = "data"
    data_paths: tuple[str, ...] = ()
    system_paths: tuple[str, ...] = ()

    def group(self, path: str, kind: int) -> int:
        """Return DATA, CHANNEL or SYSTEM.

        Args:
            path: path of the file as the program or the kernel spells it; "" if unknown.
            kind: FileType of the file.

        >>> rule = CountRule(data_paths=("/opt/set/",))
        >>> rule.group("/scratch/out.h5", 1), rule.group("/home/me/env/lib/python3.11/os.py", 1)
        (0, 2)
        >>> rule.group("/opt/tool/lib/a.txt", 1), rule.group("/opt/set/lib/a.py", 1), rule.group("/opt/in/a.bin", 1)
        (2, 0, 0)
        >>> rule.group("/tmp/ompi.n1.0/pid.7/1/out.h5_cid-4.sm", 1), rule.group("socket:[81]", 4)
        (2, 1)
        """
        if kind == FileType.COPIED:
            return DATA
        if kind in _CHANNELS:
            return CHANNEL
        if self.data_paths and path.startswith(self.data_paths):
            return DATA
        if path.startswith(_MEMORY):
            return CHANNEL
        if kind == FileType.PSEUDO or f"{path}/".startswith((*_PSEUDO, *self.system_paths)):
            return SYSTEM
        return SYSTEM if _kind_of(path)[0] else DATA

    def is_code(self, path: str) -> bool:
        """Return whether a file counts as system only because it is code. Such code lies outside the machine's folders.

        >>> rule = CountRule()
        >>> rule.is_code("/scratch/src/a.py"), rule.is_code("/usr/lib/python3/a.py"), rule.is_code("/scratch/a.nc")
        (True, False, False)
        """
        if self.group(path, int(FileType.REGULAR)) != SYSTEM or path.startswith(("anon_inode:", *_OWN_MEMORY)):
            return False
        if f"{path}/".startswith((*_PSEUDO, *self.system_paths)):
            return False
        return not path.startswith(_MACHINE) or path.startswith(_NOT_THE_MACHINE)

    def left_out(self, path: str, kind: int) -> int:
        """Return the mask of directions that do not count for a file. It is READS, WRITES, their sum, or 0.

        Writes by a program count for every file, except files that software writes for itself.

        >>> rule = CountRule()
        >>> rule.left_out("/usr/lib/libz.so", 1), rule.left_out("/a/__pycache__/b.pyc", 1), rule.left_out("/a/b.nc", 1)
        (1, 3, 0)
        """
        if self.count == "everything":
            return 0
        if kind not in _ON_DISK or path.startswith(_MEMORY):
            return READS | WRITES
        if self.count == "files":
            return 0
        group = self.group(path, kind)
        if group == DATA:
            return 0
        own = group == CHANNEL or f"{path}/".startswith((*_PSEUDO, *self.system_paths)) or _kind_of(path)[1]
        return READS | WRITES if own else READS


def copies_files(command: str) -> bool:
    """Return whether a command line is of a program that reads all files as data.

    >>> copies_files("/usr/bin/tar -cf a.tar src"), copies_files("python3 tar.py"), copies_files("busybox cp a b")
    (True, False, True)
    """
    words = [word.rpartition("/")[2] for word in command.split(maxsplit=2)[:2]]
    if words and words[0] in _MULTICALL:
        words = words[1:]
    return bool(words) and _COPIERS.fullmatch(words[0]) is not None


def as_copied(info: FileInfo, rule: CountRule) -> FileInfo:
    """Return a file as a copying program reads it. Code outside the machine's folders has the type COPIED.

    Args:
        info: a file of a stream for which ``copies_files`` holds.
        rule: defines which files are code.
    """
    if info.type in _TYPES_OF_CODE and rule.is_code(info.path):
        return replace(info, type=FileType.COPIED)
    return info
