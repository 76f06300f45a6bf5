"""Sending of a replay, until it is acknowledged."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import click

from ...collectors.replay_source import Replayer
from ...collectors.settings import CollectorSettings
from ...collectors.transport.agent import Agent
from ..common.console.progress import step_progress

_DRAIN_S: Final = 10.0
_POLL_S: Final = 0.2
_DROPPED: Final = "events_dropped:"


@dataclass(frozen=True, slots=True)
class Sent:
    """Result of a replay."""

    acknowledged: int
    """Calls; if some were not acknowledged, those that were sent and may have arrived."""
    dropped: dict[str, int]
    complete: bool


async def send(replayer: Replayer, settings: CollectorSettings, calls: int, patience_s: float) -> Sent:
    """Replay to the end, until an interrupt, or until the aggregator is silent.

    The limit of the silence is ``patience_s``.

    Args:
        replayer: source of the calls.
        settings: settings of the connection.
        calls: number of calls, for the progress.
        patience_s: seconds.
    """
    agent = Agent([replayer], settings, waits=True)
    loop = asyncio.get_running_loop()
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    running = asyncio.create_task(agent.run(until_finished=True))
    try:
        with step_progress("replaying") as show:
            gave_up = await _watch(
                running, stopped, agent, settings, patience_s, lambda: show(_taken_events(replayer), calls)
            )
        interrupted = stopped.is_set()
        if not running.done():
            replayer.stop()
            running.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await running
            acknowledged = not gave_up and await agent.drain(_DRAIN_S)
        else:
            await running
            acknowledged = True
        return _sent_result(agent, replayer, calls, acknowledged=acknowledged, interrupted=interrupted)
    finally:
        agent.close()


async def _watch(
    running: asyncio.Task[None],
    stopped: asyncio.Event,
    agent: Agent,
    settings: CollectorSettings,
    patience_s: float,
    show: Callable[[], None],
) -> bool:
    """Wait for the end or an interrupt. Return whether the aggregator was silent for too long."""
    begin = asyncio.get_running_loop().time()
    is_reported = False
    while not running.done() and not stopped.is_set():
        await asyncio.wait([running], timeout=_POLL_S)
        show()
        silence = agent.silence_s
        silence = asyncio.get_running_loop().time() - begin if silence is None else silence
        if silence > min(settings.away_after_s, patience_s / 2) and not is_reported:
            click.echo(f"iotide: waiting for an aggregator at {settings.endpoint}", err=True)
            is_reported = True
        if silence > patience_s:
            click.echo(f"iotide: {settings.endpoint} has not responded for {silence:.0f} s", err=True)
            return True
    return False


def _taken_events(replayer: Replayer) -> int:
    return replayer.counters["events"]


def _sent_result(agent: Agent, replayer: Replayer, calls: int, *, acknowledged: bool, interrupted: bool) -> Sent:
    counters = agent.counters()
    dropped = {
        name.removeprefix(_DROPPED): count for name, count in counters.items() if name.startswith(_DROPPED) and count
    }
    for problem in agent.problems.first:
        click.echo(f"iotide: {problem}", err=True)
    if not acknowledged:
        click.echo(
            f"iotide: {agent.unacknowledged:,} calls were not acknowledged; is the aggregator running?", err=True
        )
    if dropped:
        reasons = ", ".join(f"{count:,} ({reason})" for reason, count in dropped.items())
        click.echo(f"iotide: calls that the aggregator did not accept: {reasons}", err=True)
    sent = _taken_events(replayer) - sum(dropped.values()) if acknowledged else counters["events_sent"]
    if interrupted:
        click.echo(f"iotide: interrupted after {_taken_events(replayer):,} of {calls:,} calls", err=True)
    return Sent(sent, dropped, acknowledged and not dropped and _taken_events(replayer) == calls)
