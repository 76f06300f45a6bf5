"""Processes of a node's collector: one per user, with that user's identity and rights."""

from __future__ import annotations

import contextlib
import ctypes
import logging
import os
import pwd
import signal
import socket
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Final, NoReturn

from ...collectors.sources.preload.rings.passed_peers import PassedPeers, PeerPasser
from ...events import IotideError
from ...events.network.peers import user_name

_log = logging.getLogger(__name__)
MAX_WAITING: Final = 1024
"""Maximum number of connections of a user that the user's collector has not read."""
_SHORT_LIVED_S: Final = 5.0
"""A collector that fails earlier is not replaced before the next process comes."""
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 1, 4, 38
_SERVICE_VARIABLES: Final = ("NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC")
"""Variables by which systemd addresses the node's collector alone."""

Collect = Callable[[PassedPeers], int]
"""Collects the passed processes as the present user, and returns the exit status. It handles and then unblocks the
ending signals."""
ENDING_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class UserCollector:
    """The process that collects the programs of one user.

    Args:
        uid: user id.
        gid: group id of the user's first process; the group database has the other groups.
        collect: runs in the process.
        close_others: closes the descriptors of the calling process, which the new one must not have.

    Attributes:
        peers: passes connections to the process.
        watch: pidfd of the process.

    Raises:
        OSError: the process cannot be created.
    """

    def __init__(self, uid: int, gid: int, collect: Collect, close_others: Callable[[], None]) -> None:
        self.uid, self.gid = uid, gid
        self._begun_s = time.monotonic()
        channel, peers = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET | socket.SOCK_NONBLOCK)
        self.peers = PeerPasser(channel, MAX_WAITING)
        self._reports, reports = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        parent = os.getpid()
        # The new process ends in order once it handles these signals, however early they come.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING_SIGNALS)
        try:
            with warnings.catch_warnings():
                # NumPy's matrix library may have waiting threads; the child never gives them work.
                warnings.simplefilter("ignore", DeprecationWarning)
                self._pid = os.fork()
            if self._pid == 0:
                self._close_own()
                _run(uid, gid, parent, close_others, lambda: collect(PassedPeers(peers, reports)))
            self.watch = os.pidfd_open(self._pid)
        except OSError:
            self._close_own()
            raise
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            peers.close()
            reports.close()

    @property
    def user(self) -> str:
        """Name of the user. Looking it up may take long, so it is not done for each collector."""
        return user_name(self.uid)

    @property
    def was_short_lived(self) -> bool:
        """Whether the process has just begun."""
        return time.monotonic() - self._begun_s < _SHORT_LIVED_S

    def report(self, message: bytes) -> None:
        """Pass a report of a process that cannot connect."""
        with contextlib.suppress(OSError):
            self._reports.send(message)

    def kill(self) -> None:
        """Kill the process. A service manager does so where the capability for it is withheld."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            signal.pidfd_send_signal(self.watch, signal.SIGKILL)

    def wait(self) -> int:
        """Wait for the end of the process. Return its exit status; the negative signal if one has ended it."""
        return os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])

    def close(self) -> None:
        """Close the connections and the descriptors."""
        os.close(self.watch)
        self._close_own()

    def _close_own(self) -> None:
        self.peers.close()
        self._reports.close()


def _run(uid: int, gid: int, parent: int, close_others: Callable[[], None], collect: Callable[[], int]) -> NoReturn:
    """Collect as a user in the present process, and end it."""
    status = 1
    try:
        close_others()
        signal.set_wakeup_fd(-1)
        _become(uid, gid)
        _set(_PR_SET_PDEATHSIG, signal.SIGTERM)  # after the change of the user, which resets it
        if os.getppid() == parent:
            status = collect()
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else 1
    except IotideError as error:
        _log.error("the collector of user %s cannot run: %s", user_name(uid), error)
    except BaseException:
        _log.exception("the collector of user %s failed", user_name(uid))
    finally:
        logging.shutdown()
        os._exit(status)


def _become(uid: int, gid: int) -> None:
    """Take the identity of a user for good. The kernel then protects the memory of the process from that user."""
    for name in _SERVICE_VARIABLES:
        os.environ.pop(name, None)
    os.environ["USER"] = os.environ["LOGNAME"] = user_name(uid)
    try:
        account = pwd.getpwuid(uid)
    except KeyError:
        os.environ["HOME"] = "/"
        groups = [gid]
    else:
        os.environ["HOME"] = account.pw_dir
        groups = os.getgrouplist(account.pw_name, gid)
    if uid != os.geteuid():
        os.setgroups(groups)
        os.setresgid(gid, gid, gid)
        os.setresuid(uid, uid, uid)
        _set(_PR_SET_DUMPABLE, 0)  # fs.suid_dumpable may be 1
    os.umask(0o077)
    _set(_PR_SET_NO_NEW_PRIVS, 1)


def _set(option: int, value: int) -> None:
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def make_state_folder(state: Path, uid: int, gid: int) -> Path:
    """Create the folder of a user's unacknowledged events, private to the user. Return it.

    Raises:
        OSError: it cannot be created.
    """
    folder = state / str(uid)
    folder.mkdir(mode=0o700, exist_ok=True)
    os.chown(folder, uid, gid, follow_symlinks=False)
    return folder
