"""Processes of a node's collector: one per user, with that user's identity and rights."""

from __future__ import annotations

import contextlib
import ctypes
import logging
import math
import os
import pwd
import select
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
from .node_keeper import KeptUser

_log = logging.getLogger(__name__)
MAX_WAITING: Final = 1024
"""Maximum number of connections of a user that the user's collector has not read."""
_SHORT_LIVED_S: Final = 5.0
"""A collector that fails earlier is not replaced before the next process comes, s."""
_PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 4, 38
_BEGIN: Final = b"\2"
"""First message of a channel."""
_SERVICE_VARIABLES: Final = ("NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC")
"""Variables by which systemd addresses the node's collector alone."""

Collect = Callable[[PassedPeers], int]
"""Collects the passed processes as the present user, and returns the exit status. It handles and then unblocks the
ending signals."""
ENDING_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class UserCollector:
    """The process that collects the programs of one user.

    It continues when this process is killed. It ends when no process has the other end of its channel any more.

    Args:
        kept: user, group and descriptors of the process.
        on_read: called with the number of each connection that the process has read.
        pid: the process, if it is a child of this one.

    Attributes:
        peers: passes connections to the process.
        watch: pidfd of the process.
    """

    def __init__(self, kept: KeptUser, on_read: Callable[[int], object], pid: int = 0) -> None:
        self.uid, self.gid, self.watch = kept.uid, kept.gid, kept.watch
        self.peers = PeerPasser(kept.channel, MAX_WAITING, on_read)
        self._reports, self._pid = kept.reports, pid
        self._begun_s = time.monotonic() if pid else -math.inf

    @property
    def descriptors(self) -> tuple[int, int, int]:
        """Descriptors to keep for another collector of the node."""
        return self.peers.fileno(), self._reports.fileno(), self.watch

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

    def wait(self) -> int | None:
        """Wait for the end of the process. Return its exit status; the negative signal if one has ended it.

        The status of a process that another one has started is unknown (None).
        """
        if not self._pid:
            return None
        return os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])

    def close(self) -> None:
        """Close the connections and the descriptors."""
        os.close(self.watch)
        self.peers.close()
        self._reports.close()


def begin_collector(
    uid: int, gid: int, collect: Collect, close_others: Callable[[], None], on_read: Callable[[int], object]
) -> UserCollector:
    """Start the process of a user.

    Args:
        uid: user id.
        gid: group id of the user's first process; the group database has the other groups.
        collect: runs in the process.
        close_others: closes the descriptors of the calling process, which the new one must not have.
        on_read: called with the number of each connection that the process has read.

    Raises:
        OSError: the process cannot be created.
    """
    channel, peers = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET | socket.SOCK_NONBLOCK)
    reports, their_reports = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
    pid = 0
    # The new process ends in order once it handles these signals, however early they come.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING_SIGNALS)
    try:
        with warnings.catch_warnings():
            # NumPy's matrix library may have waiting threads; the child never gives them work.
            warnings.simplefilter("ignore", DeprecationWarning)
            pid = os.fork()
        if pid == 0:
            channel.close()
            reports.close()
            _run(uid, gid, close_others, peers, lambda: collect(PassedPeers(peers, their_reports)))
        watch = os.pidfd_open(pid)
        channel.send(_BEGIN)
    except OSError:
        channel.close()
        reports.close()
        if pid:
            os.waitpid(pid, 0)  # it ends at once, as its channel is closed
        raise
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        peers.close()
        their_reports.close()
    return UserCollector(KeptUser(uid, gid, channel, reports, watch), on_read, pid)


def _run(
    uid: int, gid: int, close_others: Callable[[], None], peers: socket.socket, collect: Callable[[], int]
) -> NoReturn:
    """Collect as a user in the present process, and end it."""
    status = 1
    try:
        close_others()
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # root's process reloads
        if _has_begun(peers):
            _become(uid, gid)
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


def _has_begun(peers: socket.socket) -> bool:
    """Return whether the parent knows this process; False if it failed or was killed before."""
    asking = select.poll()
    asking.register(peers, select.POLLIN)
    asking.poll()
    return peers.recv(len(_BEGIN)) == _BEGIN


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
