"""Run a command with the restrictions of a systemd unit.

They are those of system calls and their arguments, writable and executable memory, umask, open files and, for root,
capabilities. With --writable, which needs the permission to mount, also those of the file system: DIR stands for the
unit's own folders, and the other folders are read-only.

Usage: as_unit.py UNIT [--writable DIR] COMMAND...
"""

from __future__ import annotations

import ctypes
import errno
import os
import re
import resource
import socket
import stat
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

_NO_NEW_PRIVILEGES, _MDWE, _REFUSE_EXEC_GAIN = 38, 65, 1
_DROP_CAPABILITY, _CAPABILITIES = 24, 64
_CAPABILITY = {"CAP_CHOWN": 0, "CAP_KILL": 5, "CAP_SETGID": 6, "CAP_SETUID": 7}
_ERRNO = 0x00050000
_ALLOW = 0x7FFF0000
_NE, _EQ, _GT, _MASKED = 1, 4, 6, 7
_NAMESPACES = (0x02000000, 0x08000000, 0x40000000, 0x00020000, 0x20000000, 0x10000000, 0x04000000)
_REALTIME = (os.SCHED_FIFO, os.SCHED_RR, 6)
_MAX_FAMILY = 64
_MODE_SECOND = ("chmod", "fchmod", "mkdir", "creat", "mknod")
_MODE_THIRD = ("fchmodat", "mkdirat", "mknodat")
_NEW_MOUNTS, _NEW_NAMES = 0x00020000, 0x04000000
_BIND, _REC, _PRIVATE = 4096, 16384, 1 << 18
_SET_MOUNT_ATTRIBUTES, _AT_CWD, _AT_RECURSIVE, _READ_ONLY = 442, -100, 0x8000, 1
_HIDDEN = ("/home", "/root", "/run/user", "/tmp", "/var/tmp")
"""Folders that the unit does not see. In a test they may have an installation, and then remain."""
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "shm", "pts")


class Denied(NamedTuple):
    """A system call that fails, always or if one argument matches."""

    call: str
    error: int
    argument: int = 0
    compare: int = 0
    value: int = 0
    masked: int = 0


class _Comparison(ctypes.Structure):
    _fields_ = (
        ("argument", ctypes.c_uint), ("compare", ctypes.c_int), ("value", ctypes.c_uint64), ("masked", ctypes.c_uint64)
    )  # fmt: skip


def settings_of(unit: Path) -> dict[str, list[str]]:
    """Return the settings of a unit, each with all its values."""
    found: dict[str, list[str]] = {}
    for name, value in re.findall(r"^(\w+)=(.*)$", unit.read_text(), re.MULTILINE):
        found.setdefault(name, []).append(value)
    return found


def members(group: str) -> set[str]:
    """Return the system calls of a group such as @system-service."""
    if not group.startswith("@"):
        return {group}
    told = subprocess.run(["systemd-analyze", "syscall-filter", group], capture_output=True, text=True, check=True)
    names = [line.strip() for line in told.stdout.splitlines()[1:] if line.strip() and not line.strip().startswith("#")]
    return set().union(*(members(name) for name in names))


def allowed(filters: list[str]) -> set[str]:
    """Return the system calls that the lines of SystemCallFilter allow."""
    calls = members("@default")
    for line in filters:
        listed = set().union(*(members(group) for group in line.removeprefix("~").split()))
        calls = calls - listed if line.startswith("~") else calls | listed
    return calls


def withheld(sets: list[str]) -> set[int]:
    """Return the capabilities that the lines of CapabilityBoundingSet do not allow."""
    return set(range(_CAPABILITIES)) - {_CAPABILITY[name] for line in sets for name in line.split()}


def denied(known: dict[str, list[str]]) -> list[Denied]:
    """Return the calls that fail because of their arguments."""
    found = [Denied("personality", errno.EPERM, 0, _NE, 0)] if known.get("LockPersonality") == ["yes"] else []
    if families := known.get("RestrictAddressFamilies"):
        listed = {int(getattr(socket, name)) for name in families[0].split()}
        found += [Denied("socket", errno.EAFNOSUPPORT, 0, _EQ, n) for n in range(_MAX_FAMILY) if n not in listed]
        found.append(Denied("socket", errno.EAFNOSUPPORT, 0, _GT, _MAX_FAMILY - 1))
    if known.get("RestrictNamespaces") == ["yes"]:
        found.append(Denied("clone3", errno.ENOSYS))  # its flags are in memory
        for flag in _NAMESPACES:
            found += [Denied(call, errno.EPERM, at, _MASKED, flag, flag) for call, at in (("unshare", 0), ("clone", 0))]
        found.append(Denied("setns", errno.EPERM))
    if known.get("RestrictRealtime") == ["yes"]:
        found += [Denied("sched_setscheduler", errno.EPERM, 1, _EQ, policy) for policy in _REALTIME]
    if known.get("RestrictSUIDSGID") == ["yes"]:
        found.append(Denied("openat2", errno.ENOSYS))
        for bit in (stat.S_ISUID, stat.S_ISGID):
            found += [Denied(call, errno.EPERM, 1, _MASKED, bit, bit) for call in _MODE_SECOND]
            found += [Denied(call, errno.EPERM, 2, _MASKED, bit, bit) for call in _MODE_THIRD]
    return found


def load_filter(library: ctypes.CDLL, default: int, allowed: Iterable[str], denied: Iterable[Denied]) -> None:
    """Filter the system calls of this process, in addition to earlier filters."""
    library.seccomp_init.restype = ctypes.c_void_p
    context = ctypes.c_void_p(library.seccomp_init(default))
    for name in allowed:
        number = library.seccomp_syscall_resolve_name(name.encode())
        if number >= 0:
            library.seccomp_rule_add(context, _ALLOW, number, 0)
    for rule in denied:
        number = library.seccomp_syscall_resolve_name(rule.call.encode())
        compared = _Comparison(rule.argument, rule.compare, rule.value, rule.masked)
        count = 1 if rule.compare else 0
        if library.seccomp_rule_add_array(context, _ERRNO | rule.error, number, count, ctypes.byref(compared)):
            raise OSError(f"no rule for {rule}")
    if library.seccomp_load(context):
        raise OSError("the filter was not loaded")


class Mounts:
    """Changes the mounts of this process alone."""

    def __init__(self, libc: ctypes.CDLL) -> None:
        self._libc = libc
        self._check(libc.unshare(_NEW_MOUNTS | _NEW_NAMES), "unshare")
        self.mount("none", "/", None, _REC | _PRIVATE)

    def mount(self, source: str, target: str, kind: str | None, flags: int = 0, data: str | None = None) -> None:
        """Mount as mount(2)."""
        words = [None if each is None else each.encode() for each in (source, target, kind, data)]
        self._check(self._libc.mount(words[0], words[1], words[2], ctypes.c_ulong(flags), words[3]), target)

    def set_read_only(self, path: str, *, on: bool = True, recursive: bool = False) -> None:
        """Make a mount read-only, or writable."""
        attributes = (ctypes.c_uint64 * 4)(_READ_ONLY if on else 0, 0 if on else _READ_ONLY)
        words = (path.encode(), _AT_RECURSIVE if recursive else 0, attributes, ctypes.sizeof(attributes))
        self._check(self._libc.syscall(_SET_MOUNT_ATTRIBUTES, _AT_CWD, *words), path)

    def hide_devices(self) -> None:
        """Replace /dev by one with few devices."""
        kept = {name: os.open(f"/dev/{name}", os.O_PATH) for name in _DEVICES if Path(f"/dev/{name}").exists()}
        self.mount("none", "/dev", "tmpfs")
        for name, descriptor in kept.items():
            target = Path("/dev", name)
            (target.mkdir if name in ("shm", "pts") else target.touch)()
            self.mount(f"/proc/self/fd/{descriptor}", str(target), None, _BIND)
            self.set_read_only(str(target), on=False)
            os.close(descriptor)
        self.set_read_only("/dev")

    def _check(self, result: int, what: str) -> None:
        if result:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), what)


def isolate(known: dict[str, list[str]], writable: Path, libc: ctypes.CDLL) -> None:
    """Restrict the view of the file system."""
    mounts = Mounts(libc)
    mounts.mount(str(writable), str(writable), None, _BIND)
    needed = {Path(sys.base_prefix), Path(sys.prefix), Path(__file__), writable}
    for folder in map(Path, _HIDDEN):
        if folder.is_dir() and not any(folder in path.parents for path in needed):
            mounts.mount("none", str(folder), "tmpfs")
    mounts.set_read_only("/", recursive=True)
    mounts.set_read_only(str(writable), on=False)
    if known.get("ProcSubset") == ["pid"]:
        mounts.mount("none", "/proc", "proc", 0, "hidepid=invisible,subset=pid")
    if known.get("PrivateDevices") == ["yes"]:
        mounts.hide_devices()


def main() -> None:
    """Restrict this process and exec the command."""
    unit, *command = sys.argv[1:]
    known = settings_of(Path(unit))
    calls = allowed(known["SystemCallFilter"])
    libc, library = ctypes.CDLL(None, use_errno=True), ctypes.CDLL("libseccomp.so.2")
    if command[0] == "--writable":
        writable, command = Path(command[1]), command[2:]
        isolate(known, writable, libc)
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    for number in withheld(known["CapabilityBoundingSet"]):
        libc.prctl(_DROP_CAPABILITY, number, 0, 0, 0)  # fails if we are not root, and have none
    os.umask(int(known["UMask"][0], 8))
    limit = int(known["LimitNOFILE"][0])
    if limit <= resource.getrlimit(resource.RLIMIT_NOFILE)[1]:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    load_filter(library, _ALLOW, (), denied(known))
    load_filter(library, _ERRNO | errno.EPERM, calls | {"execve"}, ())
    if known.get("MemoryDenyWriteExecute") == ["yes"]:
        libc.prctl(_MDWE, _REFUSE_EXEC_GAIN, 0, 0, 0)  # a kernel before 6.3 does not know it
    os.execvp(command[0], command)


main()
