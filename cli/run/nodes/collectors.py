"""Collectors of a run on other nodes: start, messages and end."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterable
from typing import IO, Final

import msgspec

from ....events.network.malformed import MALFORMED
from ....results.jobs.run import UnseenProgram
from .launchers import Launcher
from .messages import MAX_LINE_BYTES, Instructions, StatusMessage, encode_line

_STARTED_WITHIN_S: Final = 30.0
"""Maximum time, s, that the command waits for them. A Slurm step takes one second, on a busy controller ten."""
_ENDED_WITHIN_S: Final = 60.0
"""Maximum time for the acknowledgement of everything, s. It is three times their own timeout, and a margin."""
_KILLED_S: Final = 5.0
_POLL_S: Final = 1.0
_MAX_FORWARDED: Final = 20
"""Maximum number of forwarded output lines of the launcher."""


class NodeCollectors:
    """Starts a collector on each node of a launcher, and ends them.

    Args:
        launcher: starts programs on the nodes.
        orders: instructions for the collectors.
        say: prints a message for the user.
    """

    def __init__(self, launcher: Launcher, orders: Instructions, say: Callable[[str], None]) -> None:
        self._nodes = launcher.nodes
        self._say = say
        self._messages: dict[str, list[StatusMessage]] = {}
        self._changed = threading.Condition()
        self._forwarded = 0
        self._is_waited_for = True
        self._processes: list[subprocess.Popen[bytes]] = []
        self._process_of: dict[str, subprocess.Popen[bytes]] = {}
        self._readers: list[threading.Thread] = []
        is_for_all = len(launcher.commands) == 1
        for number, command in enumerate(launcher.commands):
            try:
                process = self._start(command, launcher, encode_line(orders))
            except OSError as error:
                say(f"{command[0]}: {error.strerror}")
            else:
                of_it = self._nodes if is_for_all else self._nodes[number : number + 1]
                self._process_of.update(dict.fromkeys(of_it, process))

    def wait_until_listening(self, within_s: float = _STARTED_WITHIN_S) -> None:
        """Wait until all nodes are ready or have failed. Print those that are not ready."""
        until_s = time.monotonic() + within_s
        with self._changed:
            while self._is_report_expected and (left_s := until_s - time.monotonic()) > 0:
                self._changed.wait(min(left_s, _POLL_S))
            self._is_waited_for = False
            ready, silent = self._nodes_in("listening", "shared"), self._silent_nodes
        if ready:
            self._say(f"collectors listen on {_node_list(ready)}, too")
        if silent:
            self._say(f"no collector yet on {_node_list(silent)}: programs that start there before it are not recorded")

    def end(self, within_s: float = _ENDED_WITHIN_S) -> int:
        """Make all collectors send their remaining events; print missing data.

        Returns:
            The number of nodes without data, or with incomplete data.
        """
        for process in self._processes:
            _close(process.stdin)
        until_s = time.monotonic() + within_s
        for process in self._processes:
            try:
                process.wait(max(until_s - time.monotonic(), 0.0))
            except subprocess.TimeoutExpired:
                self._kill(process)
        for reader in self._readers:
            reader.join(_KILLED_S)
        with self._changed:
            problems = {node: self._problem_of(self._messages.get(node, [])) for node in self._nodes}
        for node, problem in problems.items():
            if problem:
                self._say(f"not seen, or not to the end: {node}, {problem}")
        return sum(map(bool, problems.values()))

    def close(self) -> None:
        """End the remaining collectors regardless of their backlog."""
        for process in self._processes:
            _close(process.stdin)
        for process in self._processes:
            try:
                process.wait(_KILLED_S)
            except subprocess.TimeoutExpired:
                self._kill(process)

    @property
    def unseen(self) -> list[UnseenProgram]:
        """Untraced programs on these nodes; after ``end``."""
        rows = [row for news in self._messages.values() for each in news for row in each.unseen]
        return [UnseenProgram(program=row.program, reason=row.reason, times=row.times) for row in rows]

    def _start(self, command: Iterable[str], launcher: Launcher, orders: bytes) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            list(command),
            env=dict(launcher.environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # the keyboard's signals are for the command
        )
        self._processes.append(process)
        if process.stdin is not None:
            with contextlib.suppress(OSError):  # it has exited, which its end reports
                process.stdin.write(orders)
                process.stdin.flush()
        for stream, take in ((process.stdout, self._handle_line), (process.stderr, self._forward_output)):
            reader = threading.Thread(target=self._read, args=(stream, take), name="nodes", daemon=True)
            reader.start()
            self._readers.append(reader)
        return process

    def _read(self, stream: IO[bytes], take: Callable[[bytes], None]) -> None:
        with stream:
            while line := stream.readline(MAX_LINE_BYTES):
                take(line)
        with self._changed:
            self._changed.notify_all()

    def _handle_line(self, line: bytes) -> None:
        try:
            news = msgspec.json.decode(line, type=StatusMessage)
        except MALFORMED:
            self._forward_output(line)
            return
        with self._changed:
            self._messages.setdefault(news.node, []).append(news)
            self._changed.notify_all()
        if news.state == "failed":
            self._say(f"no collector on {news.node}: {news.reason}")
        elif news.state == "listening" and not self._is_waited_for:
            self._say(f"the collector of {news.node} has started: earlier calls of programs there are missing")

    def _forward_output(self, line: bytes) -> None:
        self._forwarded += 1
        if self._forwarded <= _MAX_FORWARDED and (text := line.decode(errors="replace").strip()):
            self._say(f"nodes: {text}")

    def _kill(self, process: subprocess.Popen[bytes]) -> None:
        for number in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
                os.killpg(process.pid, number)  # it has a session of its own
                process.wait(_KILLED_S)
                return

    @property
    def _is_report_expected(self) -> bool:
        """Whether a command still runs of which a node has not reported."""
        waited_for = {node: self._process_of.get(node) for node in self._silent_nodes}
        return any(process is not None and process.poll() is None for process in waited_for.values())

    @property
    def _silent_nodes(self) -> list[str]:
        return [node for node in self._nodes if node not in self._messages]

    def _nodes_in(self, *states: str) -> list[str]:
        return [node for node in self._nodes if any(each.state in states for each in self._messages.get(node, []))]

    def _problem_of(self, news: list[StatusMessage]) -> str:
        states = {each.state: each for each in news}
        if "shared" in states:
            return ""
        if ended := states.get("ended"):
            return ended.reason
        if failed := states.get("failed"):
            return failed.reason
        if not states:
            return "where no collector was started"
        return "whose collector was gone" if "heard" in states else "whose collector never reached this node"


def _node_list(nodes: list[str], most: int = 8) -> str:
    more = f" and {len(nodes) - most:,} more" if len(nodes) > most else ""
    return ", ".join(nodes[:most]) + more


def _close(stream: IO[bytes] | None) -> None:
    if stream is not None:
        with contextlib.suppress(OSError):
            stream.close()
