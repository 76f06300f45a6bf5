"""The beginning of ``iotide run``: collect, start the command, and only then import the analyses."""

from __future__ import annotations

import contextlib
import gc
import math
import os
import shlex
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from ...collectors.settings import SpoolSettings
from ...collectors.source import Origin
from ...collectors.sources.preload.relay import RelayedSource
from ...collectors.tracer.preload_compatibility import PreloadObstacle, obstacle_to_tracing
from ...collectors.tracer.preload_environment import rebuild_stale_libraries, traced_environment
from ...daemon.jobs.job_ids import clean_job
from ...events import ConfigError, InputError, UnavailableError
from ...events.compiled import HELPERS, REBUILD, path_of
from ...events.network.descriptors import check_limit, raise_limit
from ...events.network.peers import own_user
from ..common.job_names import safe_name
from ..common.lean_imports import lean_imports
from ..common.socket_folder import GATE, socket_folder
from .burst_deferral import BurstDeferral
from .launch import SignalPassing, outlive_interrupts, start
from .low_priority import LowPriority
from .messages import print_message
from .nodes.launchers import Launcher, address_towards, launcher_of, own_node
from .nodes.mpi_launcher import mpi_launcher, with_exports
from .run_plan import RunPlan

if TYPE_CHECKING:
    from .nodes.collectors import NodeCollectors
    from .nodes.entry import Entry
    from .run_session import Session

_POLL_S: Final = 0.005
_PAUSE_S: Final = 0.02
_IMPORTED_AFTER_S: Final = 1.5
"""Maximum time, s, for which a burst delays the import of the display."""
_OBJECTS: Final = 20_000
"""Allocations between searches for garbage cycles. Events and definitions are in no cycles, and a search per 700
allocations took 4 % of the CPU time of a build with 900 processes."""
_MAX_NAME: Final = 100
_DESCRIPTORS: Final = 12
"""Files that a run may open at once; twice as many if it opens sockets of its own."""


def run_traced(plan: RunPlan) -> int:
    """Run the command with tracing.

    Returns:
        Its return code, negative for death by a signal.

    Raises:
        LaunchError: the command cannot be started.
        ConfigError: an endpoint or an option cannot be used; the command was not started.
    """
    plan.detect.check_running()
    plan = replace(plan, job=clean_job(plan.job))
    launcher = _launcher_to_other_nodes(plan)
    with contextlib.ExitStack() as stack:
        source: RelayedSource | None = None
        try:
            check_limit(2 * _DESCRIPTORS if plan.listen or plan.publish or launcher else _DESCRIPTORS)
            folder = stack.enter_context(socket_folder(of_this_node=launcher is not None))
            source = stack.enter_context(contextlib.closing(_collector(plan, folder)))
        except (InputError, UnavailableError, OSError) as error:  # no descriptor, process, memory or space left
            print_message(f"the command runs untraced: {error}")
        if source is None:  # files of the failed attempt are closed by now
            stack.close()
            return _run_untraced(plan)
        plan, environment = _prepare(plan, folder / GATE)
        low_priority = LowPriority()
        session = None
        if launcher is not None:
            plan = _open_entry(plan, launcher, folder)
        # Before the command: endpoints may be refused, and collectors on other nodes need the endpoint.
        if plan.listen or plan.publish or plan.entry is not None:
            session = stack.enter_context(_load_analysis()(plan, source))
            if launcher is not None and plan.entry is not None:
                session.nodes = _start_collectors(launcher, plan, plan.entry, session.endpoint, folder / GATE)
                stack.callback(session.nodes.close)
        command = plan.command
        if launcher is not None and launcher.exports_by_name and session is not None and session.nodes is not None:
            command, environment = with_exports(command, os.environ, environment)
        outlive_interrupts()
        with SignalPassing() as passing:
            started = time.time()
            child = start(command, environment)
            passing.attach(child)
            raise_limit()  # only now: the command keeps our original limit
            waiting = _Waiting(child, source.finish, low_priority.command_ended)
            try:
                if session is None:
                    # This takes a quarter second of a core at the beginning of the command, which may have no other.
                    made = low_priority.run(lambda: _load_analysis(_burst_wait(plan.spool, source, low_priority)))
                    session = stack.enter_context(made(plan, source))
                with session.process_in_thread(low_priority):
                    waiting.join()
            except Exception as error:
                print_message(f"the command continues untraced: {error!r}")
                session = None
                waiting.join()
        # From here on nothing may change the exit status of the command.
        if session is not None:
            session.finish((started, waiting.ended), child.returncode)
        return child.returncode


def _launcher_to_other_nodes(plan: RunPlan) -> Launcher | None:
    if plan.this_node:
        return None
    return launcher_of(os.environ, print_message) or mpi_launcher(plan.command, os.environ, print_message)


def _open_entry(plan: RunPlan, launcher: Launcher, folder: Path) -> RunPlan:
    """Return the plan with an endpoint for collectors of other nodes. It has none if none can be made."""
    from .nodes.entry import make_entry

    try:
        return replace(plan, entry=make_entry(folder, address_towards(launcher.address)))
    except (ConfigError, UnavailableError, OSError) as error:
        print_message(f"programs on other nodes are not seen: {error}")
        return plan


def _start_collectors(launcher: Launcher, plan: RunPlan, entry: Entry, endpoint: str, gate: Path) -> NodeCollectors:
    """Return collectors on other nodes, ready for programs unless they are late."""
    from .nodes.collectors import NodeCollectors
    from .nodes.messages import Instructions

    orders = Instructions(
        endpoint=endpoint,
        public=entry.public,
        secret=entry.secret,
        server=entry.server,
        socket=str(gate),
        job=plan.job,
        ends_at_s=plan.ends_at_s,
        batch=plan.batch,
    )
    collectors = NodeCollectors(launcher, orders, print_message)
    collectors.wait_until_listening()
    return collectors


def _run_untraced(plan: RunPlan) -> int:
    """Run the command without tracing; return its return code."""
    with SignalPassing() as passing:
        child = start(plan.command, dict(os.environ))
        passing.attach(child)
        return child.wait()


class _Waiting(threading.Thread):
    """Waits for a command. Stores the time of its end even if the main thread is busy, and calls ``over``.

    The main thread may still import the analyses then, while processes that outlive the command go on recording.
    """

    def __init__(self, child: subprocess.Popen[bytes], *over: Callable[[], None]) -> None:
        super().__init__(name="waiting", daemon=True)
        self.ended = math.nan
        self._child = child
        self._over = over
        self.start()

    def run(self) -> None:
        """Wait."""
        self._child.wait()
        self.ended = time.time()
        for each in self._over:
            each()


def _collector(plan: RunPlan, folder: Path) -> RelayedSource:
    """Start collecting; it forks, so it must precede the start of threads."""
    origin = Origin(job=plan.job, host=own_node(os.environ), user=own_user())
    stem = None
    if plan.output is not None and plan.archive:
        name = f"{safe_name(plan.job)[:_MAX_NAME]}-{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}"
        stem = plan.output.resolve() / name
    return RelayedSource(
        folder / GATE, origin, plan.spool, awaits_ends=plan.tracer.ring_records is None, copy_stem=stem
    )


def _burst_wait(bounds: SpoolSettings, source: RelayedSource, low_priority: LowPriority) -> Callable[[], None]:
    """Return a function that waits, for a bounded time, while a burst uses all cores. For the calling thread."""
    holding_back = BurstDeferral(bounds, _IMPORTED_AFTER_S)
    looked_s = time.monotonic()

    def pause() -> None:
        nonlocal looked_s
        if time.monotonic() - looked_s < _POLL_S:
            return
        source.listen()
        while holding_back.update(source.waiting_calls) and not low_priority.wait(_PAUSE_S):
            source.listen()
        looked_s = time.monotonic()

    return pause


def _load_analysis(
    pause: Callable[[], None] | None = None,
) -> Callable[[RunPlan, RelayedSource], AbstractContextManager[Session]]:
    gc.set_threshold(_OBJECTS)  # before the imports, whose modules stay, too
    with lean_imports(pause):
        from .run_session import open_session

    return open_session


def _prepare(plan: RunPlan, gate: Path) -> tuple[RunPlan, dict[str, str]]:
    """Return the plan and the command's environment.

    If the command cannot be traced, the reason is in the plan and is printed.
    """
    plain = dict(os.environ)
    if absent := [name for name in HELPERS if not path_of(name).exists()]:
        print_message(
            f"not built: {', '.join(absent)}; Python does their work, many times slower. To fix it, {REBUILD}"
        )
    rebuild_stale_libraries(plan.tracer, print_message, plain)
    try:
        traced = traced_environment(plain, gate, plan.job, plan.tracer)
    except UnavailableError as error:
        print_message(f"{error}; the command runs untraced")
        return replace(plan, obstacle=PreloadObstacle(plan.command[0], f"was not traced: {error}", breaks=True)), plain
    obstacle = obstacle_to_tracing(plan.command[0], plain)
    if obstacle is None:
        return plan, traced
    print_message(
        f"{obstacle.program} {obstacle.reason}: {'it runs' if obstacle.breaks else 'what it does itself is'} untraced; "
        f"strace sees it: strace -f -ttt -T -y -o app.st {shlex.join(plan.command)}; iotide detect app.st"
    )
    return replace(plan, obstacle=obstacle), plain if obstacle.breaks else traced
