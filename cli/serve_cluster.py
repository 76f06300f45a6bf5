"""Main loop of ``iotide serve --cluster`` and ``--workers``: one member of a cluster."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..daemon.settings import ENVIRONMENT_PREFIX, AggregatorSettings
from ..events import ConfigError
from .common.console.logs import write_line
from .common.end_signals import SignalHandler
from .common.service_manager import ServiceManager
from .common.settings_text import settings_text

if TYPE_CHECKING:
    from ..daemon.cluster.partitions import Partition

BEHIND_GATEWAYS: Final = "--behind-gateways"
_SET_DEATH_SIGNAL: Final = 1
"""PR_SET_PDEATHSIG of prctl(2)."""


def run_member(settings: AggregatorSettings, state: Path, ending: SignalHandler) -> None:
    """Serve a part of the partitions until ``ending`` is requested."""
    asyncio.run(_serve(settings, state, ending))


def run_workers(settings: AggregatorSettings, state: Path, count: int, ending: SignalHandler) -> None:
    """Serve all jobs of one machine with ``count`` processes, and a NATS server between them."""
    asyncio.run(_serve_alone(settings, state, count, ending))


def end_with_parent() -> None:
    """Have the kernel terminate this process with SIGTERM when its parent exits."""
    import ctypes
    import signal

    parent = os.environ.get("IOTIDE_MEMBER", "")
    ctypes.CDLL(None).prctl(_SET_DEATH_SIGNAL, int(signal.SIGTERM), 0, 0, 0)
    if parent and parent != str(os.getppid()):  # the parent exited before the prctl call
        os.kill(os.getpid(), signal.SIGTERM)


def partition_from(text: str) -> Partition:
    """Return the partition that a member names on the command line of its process."""
    from ..daemon.cluster.partitions import TOKEN_VARIABLE, Partition

    cluster, _, number = text.rpartition("/")
    return Partition(cluster, int(number), os.environ.pop(TOKEN_VARIABLE, ""))


async def _serve_alone(settings: AggregatorSettings, state: Path, count: int, ending: SignalHandler) -> None:
    from ..daemon.cluster.own_nats import OwnNats

    nats = OwnNats(state / "nats")
    await nats.start()
    running = asyncio.create_task(nats.run())
    try:
        given = settings.model_dump(mode="json", exclude_unset=True)
        given["journal"] = {
            **given.get("journal", {}),
            "servers": [nats.url],
            "replicas": 1,
            "monitors": [nats.monitor],
            "token": str(nats.token),
        }
        given["cluster"] = {**given.get("cluster", {}), "on": True, "partitions": count}
        await _serve(AggregatorSettings.model_validate(given), state, ending)
    finally:
        running.cancel()
        await nats.stop()


async def _serve(settings: AggregatorSettings, state: Path, ending: SignalHandler) -> None:
    try:
        from ..daemon.cluster.http_serving import serve_http
        from ..daemon.cluster.member import join
    except ImportError:
        raise ConfigError("a cluster needs nats-py and httpx: pip install 'iotide[jetstream]'") from None
    manager = ServiceManager()
    joining = asyncio.create_task(join(settings, lambda number: _worker(settings, state, number)))
    ending.on_end(joining.cancel)  # servers that are not ready are waited for
    try:
        member = await joining
    except asyncio.CancelledError:
        return
    try:
        endpoint = member.bind()
        async with serve_http(member, settings):
            listens = (
                f"ingest {endpoint}, http {member.http_url or 'off'}, publish {member.publish_endpoint or 'off'}, "
                f"{settings.cluster.partitions} partitions"
            )
            write_line(listens, settings.log_format)
            running = asyncio.create_task(member.run())
            ending.on_end(running.cancel)
            manager.ready(listens)
            feeding = asyncio.create_task(manager.feed_watchdog(lambda: ""))
            try:
                await running
            except asyncio.CancelledError:
                manager.stopping()
            finally:
                feeding.cancel()
    finally:
        await member.stop()


def _worker(settings: AggregatorSettings, state: Path, number: int) -> tuple[Sequence[str], Mapping[str, str]]:
    """Return command and environment of a partition's process; its settings are in a separate file."""
    from ..daemon.cluster.workers import folder_of, worker_settings
    from ..daemon.state.state_folder import folder_error

    folder = folder_of(state, number)
    path = folder / "serve.toml"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(0o600)
        path.write_text(settings_text(worker_settings(settings, folder, number)), encoding="utf-8")
    except OSError as error:
        raise folder_error(state, f"{path} cannot be written", error) from None
    partition = f"{settings.journal.name}/{number}"
    command = [sys.executable, "-m", "iotide", "serve", "--config", str(path), BEHIND_GATEWAYS, partition]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(ENVIRONMENT_PREFIX)}
    return command, {**environment, "IOTIDE_MEMBER": str(os.getpid())}
