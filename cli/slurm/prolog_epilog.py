"""Prolog and epilog of a job with a collector: start it as the job's user before the job, and end it after the job."""

from __future__ import annotations

import contextlib
import os
import pwd
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

from ...collectors.settings import TracerSettings
from ...events import IotideError
from .allocation import Allocation, facts_of
from .node_folder import JobFolder
from .settings import SlurmSettings

_POLL_S: Final = 0.02
_PATH: Final = "/usr/local/bin:/usr/bin:/bin"
WAITED_FOR: Final = -15
"""Niceness while the node waits for the collector. The scripts of ``deploy/slurm`` have the same."""
_SESSION: Final = -10
"""Niceness of the collector's session meanwhile, on systems whose sessions share the cores."""
_PASSES: Final = 8
"""Maximum number of passes over the threads. A thread that starts during one inherits the earlier niceness."""
_RETRY_S: Final = 0.05


def start_collector(allocation: Allocation, settings: SlurmSettings, say: Callable[[str], None]) -> bool:
    """Start the collector of a job on this node.

    Args:
        allocation: the job.
        settings: settings of the collector.
        say: callback with failures.

    Returns:
        Whether it accepts programs.

    Raises:
        IotideError, OSError, KeyError: it cannot be started.
    """
    place = JobFolder(settings.folder, allocation.job)
    end_collector(place, settings.stop_s, say)  # of a requeued job whose epilog did not complete
    user = pwd.getpwuid(allocation.uid)
    place.create(user.pw_uid, user.pw_gid)
    _write_environment(place, allocation.name, settings)
    facts = facts_of(allocation, settings.squeue, settings.ask_s, say)
    own = user.pw_uid == os.geteuid()
    log = os.open(place.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        collector = subprocess.Popen(
            _command(allocation, settings, place, user),
            cwd="/",
            env=_environment(facts, user) | _voucher(allocation.name, facts, user, settings, say),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,  # slurmd may end our process group after a timeout
            user=None if own else user.pw_uid,
            group=None if own else user.pw_gid,
            extra_groups=None if own else os.getgrouplist(user.pw_name, user.pw_gid),
        )
    finally:
        os.close(log)
    place.save_process(collector.pid)
    raise_priority(collector.pid)
    try:
        return _wait_for_listener(collector, place, settings.start_s, say)
    finally:
        if collector.poll() is None:  # else its number may be another's
            reset_priority(collector.pid)


def _wait_for_listener(
    collector: subprocess.Popen[bytes], place: JobFolder, within_s: float, say: Callable[[str], None]
) -> bool:
    latest_s = time.monotonic() + within_s
    while not _is_listening(place.socket):
        if collector.poll() is not None:
            say(f"the collector ended at once, status {collector.returncode}: {' '.join(place.log_tail())[:500]}")
            place.environment.unlink(missing_ok=True)
            return False
        if time.monotonic() >= latest_s:
            say(f"the collector did not start within {within_s:g} s: earlier calls of programs are missing")
            return False
        time.sleep(_POLL_S)
    return True


def _command(allocation: Allocation, settings: SlurmSettings, place: JobFolder, user: pwd.struct_passwd) -> list[str]:
    command = [sys.executable, "-I", "-m", "iotide", "collect"]
    command += ["--socket", str(place.socket), "--connect", settings.connect, "--job", allocation.name]
    if allocation.node:
        command += ["--host", allocation.node]
    if settings.spool_disk_mib:
        command += ["--spool-disk", str(settings.spool_disk_mib)]
    for option, value in (("--key", settings.key), ("--server-key", settings.server_key)):
        if value:
            command += [option, user.pw_dir + value[1:] if value.startswith("~/") else value]
    return command


def _environment(facts: Mapping[str, str], user: pwd.struct_passwd) -> dict[str, str]:
    """Return the collector's environment, without variables of slurmd that users must not see."""
    own = {"PATH": _PATH, "HOME": user.pw_dir, "USER": user.pw_name, "LOGNAME": user.pw_name}
    return own | {name: value for name, value in facts.items() if name != "SLURM_CONF"}


def _voucher(
    job: str, facts: Mapping[str, str], user: pwd.struct_passwd, settings: SlurmSettings, say: Callable[[str], None]
) -> dict[str, str]:
    """Return the variable with the voucher for the job's account.

    Return none without a key, or if the account is unknown.
    """
    account = facts.get("SLURM_JOB_ACCOUNT", "")
    if not settings.vouching or not account:
        return {}
    from ...events.network.curve import read_pair
    from ...events.network.vouchers import VARIABLE, Voucher

    try:
        return {VARIABLE: Voucher(job, user.pw_name, account).text(read_pair(Path(settings.vouching)).secret)}
    except IotideError as error:
        say(f"its account is not vouched for: {error}")
        return {}


def _write_environment(place: JobFolder, name: str, settings: SlurmSettings) -> None:
    """Write the environment for tasks.

    Raises:
        IotideError: the tracing libraries are missing.
    """
    from ...collectors.tracer.preload_environment import traced_environment  # an epilog does not need it

    tracer = TracerSettings(layers=settings.layers, calls=settings.calls)
    made = traced_environment({}, place.socket, name, tracer)
    lines = [f"{name}={value}\n" for name, value in made.items() if value]
    if any("\n" in value for value in made.values()):
        raise IotideError("a path of the tracing libraries has a line break")
    beside = Path(f"{place.environment}.new")
    beside.write_text("".join(lines), encoding="utf-8")
    beside.chmod(0o644)
    beside.rename(place.environment)


def _is_listening(path: Path) -> bool:
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)) as tried, suppress(OSError):
        tried.connect(str(path))
        return True
    return False


def raise_priority(pid: int) -> None:
    """Give a process a high priority, as far as the system allows it."""
    _set(pid, WAITED_FOR, _SESSION)


def reset_priority(pid: int) -> None:
    """Give all threads of a process the normal priority. The job's programs use the same cores."""
    _set(pid, 0, 0)


def _set(pid: int, niceness: int, session: int) -> None:
    done: set[str] = set()
    for _ in range(_PASSES):
        with contextlib.suppress(OSError):
            fresh = set(os.listdir(f"/proc/{pid}/task")) - done  # noqa: PTH208
            if not fresh:
                break
            for thread in fresh:
                with contextlib.suppress(OSError):
                    os.setpriority(os.PRIO_PROCESS, int(thread), niceness)
            done |= fresh
    for _ in range(_PASSES):
        try:
            Path(f"/proc/{pid}/autogroup").write_text(str(session), encoding="utf-8")
        except BlockingIOError:  # without CAP_SYS_ADMIN the kernel permits ten changes per second on the whole machine
            time.sleep(_RETRY_S)
            continue
        except OSError:
            pass
        break


_KILLED_S: Final = 5.0


def end_collector(place: JobFolder, timeout_s: float, say: Callable[[str], None]) -> bool:
    """End the collector of a job on this node, if there is one.

    Args:
        place: its files, which are removed.
        timeout_s: maximum time for acknowledgements, s; then it is killed.
        say: callback with the collector's output, and with failures.

    Returns:
        Whether it ended by itself, or there was none.
    """
    place.environment.unlink(missing_ok=True)  # first: no task may look for a collector that ends
    ended, was_there = True, False
    if (watch := place.opened_process()) is not None:
        try:
            if was_there := not _has_ended(watch, 0.0):  # it may have ended without being reaped
                raise_priority(place.pid)  # also if other jobs use all cores
                ended = _end(watch, timeout_s)
        finally:
            os.close(watch)
    if not ended:
        say(f"the collector had not ended after {timeout_s:g} s, and was killed")
    elif not was_there and place.process.exists():
        say("the collector had ended before its job")
    for line in place.log_tail():
        say(line)
    place.remove()
    return ended


def _end(watch: int, timeout_s: float) -> bool:
    for number, wait_s in ((signal.SIGTERM, timeout_s), (signal.SIGKILL, _KILLED_S)):
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(watch, number)
        if _has_ended(watch, wait_s):
            return number == signal.SIGTERM
    return False


def _has_ended(watch: int, within_s: float) -> bool:
    ending = select.poll()
    ending.register(watch, select.POLLIN)
    return bool(ending.poll(within_s * 1000))
