"""``iotide collect --all-users``: a node's collector of root for the programs of all users."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from pathlib import Path
from typing import Final

import click

from ...collectors.node.file_metadata import NodeFileMetadata
from ...collectors.node.file_systems import FileSystems
from ...collectors.settings import CollectorSettings
from ...collectors.source import Origin
from ...collectors.sources.preload.refused_programs import RefusedPrograms
from ...collectors.sources.preload.rings.passed_peers import PassedPeers
from ...collectors.sources.preload.source import PreloadSource
from ...collectors.transport import agent  # noqa: F401  (users may not be able to read its file)
from ...events import ConfigError
from ...events.network.curve import ClientKeys
from ...events.network.key_source import KeyFiles
from ...events.network.peers import own_user
from ..common.end_signals import SignalHandler
from .collector_loop import run_collector, until_received, until_released
from .node_collector import NodeCollector
from .node_refusals import UserBound
from .node_users import ENDING_SIGNALS

_REPORT_S: Final = 3.0
"""Maximum time for refused programs to send what names their jobs, s."""


class _PassedKeys:
    """Keys that root's process passes to a user's process, which cannot read the files."""

    def __init__(self, passed: PassedPeers, first: ClientKeys | None) -> None:
        self._passed, self._first = passed, first

    @property
    def keys(self) -> ClientKeys | None:
        return ClientKeys.unpacked(self._passed.packed_keys) if self._passed.packed_keys else self._first

    def refresh(self) -> None:
        self._passed.request_keys()


def collect_all_users(gate: Path, settings: CollectorSettings, *, grace_s: float, max_users: int) -> int:
    """Collect the programs of all users until SIGINT or SIGTERM.

    Args:
        gate: path of the socket; users need access to its folder.
        settings: settings of each user's collector. ``state`` is the folder of all users' folders.
        grace_s: time without a program after which a user's collector ends, s.
        max_users: maximum number of users at once.

    Returns:
        The exit status.

    Raises:
        ConfigError: the process does not run as root, or the keys or a folder cannot be used.
        InputError: another collector listens at the path.
    """
    if os.geteuid() != 0:
        raise ConfigError("--all-users needs root, to collect the programs of each user as that user")
    keys = KeyFiles(settings.key, settings.server_key)
    os.umask(0o022)  # users need access to the folders; root's umask may be stricter
    try:
        gate.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
        if settings.state is not None:
            settings.state.mkdir(parents=True, exist_ok=True, mode=0o711)
            found = settings.state.stat()
            if found.st_uid != 0 or found.st_mode & 0o022:  # they could lead another user's events elsewhere
                raise ConfigError(f"--state {settings.state} can be changed by others; expected a folder of root")
    except OSError as error:
        raise ConfigError(f"{error.filename} cannot be used: {error.strerror}") from None

    def collect(passed: PassedPeers) -> int:
        own = _settings_of_user(settings, keeps_state=True)
        files = NodeFileMetadata(FileSystems(own.shared_filesystems, own.local_filesystems))
        ending = SignalHandler()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING_SIGNALS)
        patience_s = own.linger_s
        source = PreloadSource(
            gate, _origin(own), files=files, patience_s=patience_s, keeps=True, passed=passed, counts_untraced=True
        )
        work = run_collector(
            [source],
            own,
            ending,
            ends=lambda: until_released(source, passed, grace_s),
            keys=_PassedKeys(passed, keys.keys),
        )
        return asyncio.run(work)

    def report(passed: PassedPeers, counter: str) -> int:
        own = _settings_of_user(settings, keeps_state=False)
        ending = SignalHandler()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING_SIGNALS)
        source = RefusedPrograms(gate, _origin(own), passed, counter)
        work = run_collector(
            [source],
            own,
            ending,
            ends=lambda: until_received(source, _REPORT_S),
            keys=_PassedKeys(passed, keys.keys),
        )
        return asyncio.run(work)

    node = NodeCollector(gate, collect, report, UserBound(max_users), settings.state, keys)
    click.echo(f"iotide: collects the programs of all users at {gate}", err=True)
    return node.run()


def _settings_of_user(settings: CollectorSettings, *, keeps_state: bool) -> CollectorSettings:
    """Return the settings for the present user, whose name the log then has, too."""
    user = own_user()
    for handler in logging.getLogger().handlers:
        handler.setFormatter(logging.Formatter(f"iotide: user {user}: %(message)s"))
    state = settings.state / str(os.getuid()) if keeps_state and settings.state is not None else None
    # The user cannot read the key files, and must not: the node's keys prove who all users are.
    return settings.model_copy(update={"user": user, "state": state, "as_user": user, "key": None, "server_key": None})


def _origin(own: CollectorSettings) -> Origin:
    return Origin(job="unknown", host=own.host, user=own.user)
