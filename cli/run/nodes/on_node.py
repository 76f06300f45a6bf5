"""A collector on another node of a run. It is a separate program started by the run's launcher."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import msgspec

from ....collectors.node.file_metadata import NodeFileMetadata
from ....collectors.settings import CollectorSettings
from ....collectors.source import Origin
from ....collectors.sources.preload.source import PreloadSource
from ....collectors.transport.agent import Agent
from ....events import IotideError
from ....events.network.curve import ClientKeys, KeyPair
from ....events.network.descriptors import raise_limit
from ....events.network.key_source import FixedKeys
from ....events.network.peers import own_user
from ...common.console.logs import log_to_standard_error
from ...common.socket_folder import in_use, remove_left_over
from .launchers import own_node
from .messages import MAX_LINE_BYTES, Instructions, StatusMessage, UntracedProgram, encode_line

_DRAIN_S: Final = 10.0
_POLL_S: Final = 0.05
_MAX_UNTRACED: Final = 100
_IGNORED_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that end the command also end the run, which ends us. Until then programs may continue."""


def main() -> int:
    """Collect until the end of standard input; return the exit status.

    The only argument is the node's name in status messages. Default: Slurm's name, or the host name.
    """
    for number in _IGNORED_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    log_to_standard_error(logging.WARNING)
    node = sys.argv[1] if len(sys.argv) > 1 else own_node(os.environ)
    try:
        orders = msgspec.json.decode(_first_line(0), type=Instructions)
        if _answers(Path(orders.socket)):  # nodes on one machine, or on ours
            _print_status(StatusMessage(node=node, state="shared"))
            return 0
        raise_limit()
        with _folder_for(Path(orders.socket)):
            return asyncio.run(_collect(orders, node))
    except FileExistsError as error:
        reason = f"{error.filename} is of several nodes, on which no socket can be: set TMPDIR to a folder of the node"
    except (OSError, IotideError, msgspec.MsgspecError) as error:
        reason = str(error)
    _print_status(StatusMessage(node=node, state="failed", reason=reason))
    return 1


def _first_line(descriptor: int) -> bytes:
    """Read only the first line: after it, only the end of the input matters."""
    line = b""
    while not line.endswith(b"\n") and len(line) < MAX_LINE_BYTES and (byte := os.read(descriptor, 1)):
        line += byte
    return line


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as asking:
        try:
            asking.connect(str(path))
        except OSError:
            return False
    return True


@contextlib.contextmanager
def _folder_for(path: Path) -> Iterator[None]:
    """Create the private folder of a socket and remove it afterwards. Also remove those of killed collectors."""
    path.parent.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    remove_left_over(path.parent.parent)
    path.parent.mkdir(mode=0o700)
    try:
        with in_use(path.parent):
            yield
    finally:
        for entry in [*path.parent.iterdir(), path.parent]:
            with contextlib.suppress(OSError):
                entry.rmdir() if entry == path.parent else entry.unlink()


async def _collect(orders: Instructions, node: str) -> int:
    host = own_node(os.environ)  # the run may know it by another name or by an address
    keys = ClientKeys(KeyPair(orders.public.encode(), orders.secret.encode()), orders.server.encode())
    settings = CollectorSettings(
        endpoint=orders.endpoint,
        host=host,
        ends_at_s=orders.ends_at_s,
        ends_job=orders.job,
        batch=orders.batch,
    )
    origin = Origin(job=orders.job, host=host, user=own_user())
    source = PreloadSource(Path(orders.socket), origin, files=NodeFileMetadata(), patience_s=settings.linger_s)
    agent = Agent([source], settings, keys=FixedKeys(keys))
    try:
        _print_status(StatusMessage(node=node, state="listening"))
        running = asyncio.create_task(agent.run())
        hearing = asyncio.create_task(_until_connected(agent, node))
        on_end_of_input(0, running.cancel)
        await asyncio.wait([running])
        hearing.cancel()
        complete = await agent.drain(_DRAIN_S)
        rows = itertools.islice(source.untraced, _MAX_UNTRACED)
        unseen = [UntracedProgram(row.program, row.reason, row.times) for row in rows]
        reason = "" if complete else f"{agent.unacknowledged:,} calls were not acknowledged"
        _print_status(StatusMessage(node=node, state="ended", reason=reason, unseen=unseen))
        return 0 if complete else 1
    finally:
        agent.close()


async def _until_connected(agent: Agent, node: str) -> None:
    while agent.silence_s is None:  # noqa: ASYNC110  (the agent polls likewise)
        await asyncio.sleep(_POLL_S)
    _print_status(StatusMessage(node=node, state="heard"))


def on_end_of_input(descriptor: int, end: Callable[[], object]) -> None:
    """Have the running event loop call a function at the end of a descriptor's input."""
    loop = asyncio.get_running_loop()

    def check_input() -> None:
        if not os.read(descriptor, 4096):
            loop.remove_reader(descriptor)
            end()

    loop.add_reader(descriptor, check_input)


def _print_status(news: StatusMessage) -> None:
    with contextlib.suppress(OSError):  # the run has exited, which the end of our input also reports
        os.write(1, encode_line(news))


if __name__ == "__main__":
    sys.exit(main())
