"""Main loop of ``iotide collect``. It follows the sources until the end, then sends the remaining events."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, Final

import click

from ...events import InputError
from ..common.end_signals import SignalHandler
from ..common.service_manager import ServiceManager

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence
    from pathlib import Path

    from ...collectors.pacing.pacer import Pacer
    from ...collectors.settings import CollectorSettings
    from ...collectors.source import Source
    from ...collectors.sources.preload.rings.passed_peers import PassedPeers
    from ...collectors.sources.preload.source import PreloadSource
    from ...collectors.transport.agent import Agent
    from ...events.network.key_source import KeySource

_DRAIN_S: Final = 10.0
_POLL_S: Final = 0.1
_REPORT_S: Final = 1.0


async def run_collector(
    sources: list[Source],
    settings: CollectorSettings,
    ending: SignalHandler,
    *,
    replayed: Sequence[Path] = (),
    ends: Callable[[], Coroutine[Any, Any, None]] | None = None,
    pacer: Pacer | None = None,
    keys: KeySource | None = None,
) -> int:
    """Collect until the end, then send the remaining events.

    Args:
        sources: sources to follow.
        settings: destination and limits.
        ending: requests the end.
        replayed: the files of ``sources`` if all are finished: the collector ends when all are read.
        ends: returns a coroutine whose return ends the collector; None for no such end.
        pacer: delays traced programs.
        keys: origin of the connection's keys; by default the files that the settings name.

    Returns:
        The exit status.
    """
    from ...collectors.transport.agent import Agent

    waits = bool(replayed)  # a finished file can wait for the aggregator
    agent = Agent(sources, settings, waits=waits, pacer=pacer, keys=keys)
    report = _ProblemReport(agent)
    running = asyncio.create_task(agent.run(until_finished=bool(replayed)))
    ending.on_end(running.cancel)
    manager = ServiceManager()
    manager.ready(f"connects to {settings.endpoint}")
    feeding = asyncio.create_task(manager.feed_watchdog(lambda: "" if not running.done() else "it drains"))
    reporting = asyncio.create_task(report.print_periodically())
    tasks = [running] if ends is None else [running, asyncio.create_task(ends())]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        if not running.cancelled():
            running.result()
        manager.stopping()
        complete = await agent.drain(_DRAIN_S)
        if not complete:
            left = "is the aggregator running?"
            if settings.state is not None:
                left = f"the next collector with --state {settings.state} sends them"
            click.echo(f"iotide: {agent.unacknowledged:,} calls were not acknowledged; {left}", err=True)
        if replayed and agent.unread:
            click.echo(f"iotide: {agent.unread} of {len(replayed)} files were not read to their end", err=True)
        without = [path for path, source in zip(replayed, sources, strict=False) if not source.counters["events"]]
        for path in without:
            agent.problems.add(InputError(str(path), None, "no event was read", "at least one I/O call"))
        report.print_new()
        if replayed and len(without) == len(replayed):
            return 2
        counters = agent.counters()
        failed = bool(counters["sources_failed"] or counters["inputs_unread"])
        failed = failed or bool(replayed and (agent.problems.total or agent.unread))
        return 1 if failed or not complete else 0
    finally:
        feeding.cancel()
        reporting.cancel()
        agent.close()


class _ProblemReport:
    """Prints the problems of the sources while they occur, each text once: a collector may run for months."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._printed = 0
        self._is_full = False

    async def print_periodically(self) -> None:
        while True:
            await asyncio.sleep(_REPORT_S)
            self.print_new()

    def print_new(self) -> None:
        problems = self._agent.problems
        known = set(map(str, problems.first[: self._printed]))
        for text in dict.fromkeys(map(str, problems.first[self._printed :])):
            if text not in known:
                click.echo(f"iotide: {text}", err=True)
        self._printed = len(problems.first)
        if problems.total > self._printed and not self._is_full:
            self._is_full = True
            click.echo("iotide: further problems are only counted (iotide_input_malformed_total)", err=True)


class UnusedTime:
    """Time since a source was last used.

    It is counted only while it is checked, because a stall of this process must not count.

    Args:
        longest_s: maximum counted time between two checks.
    """

    def __init__(self, longest_s: float) -> None:
        self._longest_s = longest_s
        self._updated_at_s: float | None = None
        self._last_processes = 0
        self._unused_s = 0.0

    def update(self, now_s: float, processes: int, *, in_use: bool) -> float:
        """Take in the number of processes so far, and whether any is running. Return the seconds."""
        if in_use or processes != self._last_processes or self._updated_at_s is None:
            self._unused_s = 0.0
        elif processes:
            self._unused_s += min(now_s - self._updated_at_s, self._longest_s)
        self._updated_at_s, self._last_processes = now_s, processes
        return self._unused_s


async def until_unused(source: PreloadSource, grace_s: float) -> None:
    """Return when at least one process has come and none has been running for ``grace_s``."""
    every_s = min(_POLL_S, grace_s / 4)
    unused_time = UnusedTime(2 * every_s)
    while True:
        processes = source.counters["processes"]
        if unused_time.update(time.monotonic(), processes, in_use=source.in_use) >= grace_s and processes:
            return
        await asyncio.sleep(every_s)


async def until_released(source: PreloadSource, passed: PassedPeers, grace_s: float) -> None:
    """Return when no process has been running for ``grace_s`` and none is passed any more.

    Args:
        source: source of the processes.
        passed: receiver of its processes. It is asked to end first, so that none is lost.
        grace_s: time without a process, s.
    """
    every_s = min(_POLL_S, grace_s / 4)
    unused_time = UnusedTime(2 * every_s)
    # A collector that replaces a killed one may have no process, and must end, too.
    while not passed.ended:  # it ends, too, when the process that passes connections is gone
        if unused_time.update(time.monotonic(), source.counters["processes"] + 1, in_use=source.in_use) >= grace_s:
            passed.request_end()
        await asyncio.sleep(every_s)


async def until_received(source: Source, most_s: float) -> None:
    """Return when a source is finished, or after ``most_s``."""
    until_s = time.monotonic() + most_s
    while not source.finished:
        if time.monotonic() >= until_s:
            return
        await asyncio.sleep(_POLL_S)
