"""The prolog of a job that wants a collector. It starts one as the job's user, and waits until it accepts programs."""

from __future__ import annotations

import os
import pwd
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

from ...collectors.settings import TracerSettings
from ...collectors.tracer.preload_environment import traced_environment
from ...events import IotideError
from .allocation import Allocation, facts_of
from .epilog import end_collector
from .node_folder import JobFolder
from .priority import raise_priority, reset_priority
from .settings import SlurmSettings

_POLL_S: Final = 0.02
_PATH: Final = "/usr/local/bin:/usr/bin:/bin"


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
    tracer = TracerSettings(layers=settings.layers, calls=settings.calls)
    made = traced_environment({}, place.socket, name, tracer)
    lines = [f"{name}={value}\n" for name, value in made.items() if value]
    if any("\n" in value for value in made.values()):
        raise IotideError("a path of the tracing libraries has a line break")
    beside = Path(f"{place.environment}.new")
    beside.write_text("".join(lines))
    beside.chmod(0o644)
    beside.rename(place.environment)


def _is_listening(path: Path) -> bool:
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)) as tried, suppress(OSError):
        tried.connect(str(path))
        return True
    return False
