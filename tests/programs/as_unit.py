"""Run a command with the restrictions of a systemd unit.

They are those of system calls, writable and executable memory, umask and, for root, capabilities.

Usage: as_unit.py UNIT COMMAND...
"""

from __future__ import annotations

import ctypes
import errno
import os
import re
import subprocess
import sys
from pathlib import Path

_NO_NEW_PRIVILEGES, _MDWE, _REFUSE_EXEC_GAIN = 38, 65, 1
_DROP_CAPABILITY, _CAPABILITIES = 24, 64
_CAPABILITY = {"CAP_CHOWN": 0, "CAP_KILL": 5, "CAP_SETGID": 6, "CAP_SETUID": 7}
_ERRNO = 0x00050000
_ALLOW = 0x7FFF0000


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


def restrict(calls: set[str]) -> None:
    """Forbid all other system calls to this process."""
    library = ctypes.CDLL("libseccomp.so.2")
    library.seccomp_init.restype = ctypes.c_void_p
    context = ctypes.c_void_p(library.seccomp_init(_ERRNO | errno.EPERM))
    for name in calls:
        number = library.seccomp_syscall_resolve_name(name.encode())
        if number >= 0:
            library.seccomp_rule_add(context, _ALLOW, number, 0)
    if library.seccomp_load(context):
        raise OSError("the filter was not loaded")


def main() -> None:
    """Restrict this process and exec the command."""
    unit, *command = sys.argv[1:]
    known = settings_of(Path(unit))
    calls = allowed(known["SystemCallFilter"])
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    for number in withheld(known["CapabilityBoundingSet"]):
        libc.prctl(_DROP_CAPABILITY, number, 0, 0, 0)  # fails if we are not root, and have none
    os.umask(int(known["UMask"][0], 8))
    restrict(calls | {"execve"})
    if known.get("MemoryDenyWriteExecute") == ["yes"]:
        libc.prctl(_MDWE, _REFUSE_EXEC_GAIN, 0, 0, 0)  # a kernel before 6.3 does not know it
    os.execvp(command[0], command)


main()
