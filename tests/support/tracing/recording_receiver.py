"""A receiver of what a drain takes from rings, for tests."""

from __future__ import annotations

from typing import Any

from iotide.collectors.sources.preload.records.lines import Lines
from iotide.collectors.sources.preload.rings.ended_process import ended_processes_in


class RecordingReceiver:
    """A receiver that stores its input, in order."""

    free_lines = 1 << 40

    def __init__(self) -> None:
        self.said: list[tuple[Any, ...]] = []

    def image_started(self, token: int, pid: int, header: bytes, *, follows: bool) -> None:
        self.said.append(("begun", token, pid, header, follows))

    def counters(self, token: int, rank: int, ranks: int, counts: dict[str, int]) -> None:
        self.said.append(("counters", token, rank, ranks, counts))

    def lines(self, token: int, tid: int, lines: Lines) -> None:
        self.said.append(("lines", token, tid, lines.tobytes()))

    accept_lines = lines

    def definitions(self, token: int, entries: bytes) -> None:
        self.said.append(("definitions", token, entries))

    def settled(self, token: int) -> None:
        self.said.append(("settled", token))

    def malformed(self, token: int, problem: str) -> None:
        self.said.append(("malformed", token, problem))

    def ended(self, token: int) -> None:
        self.said.append(("ended", token))

    def ended_processes(self, data: bytes) -> None:
        for ended in ended_processes_in(data):
            ended.pass_on(self)

    def still_running(self, token: int) -> None:
        self.said.append(("still_running", token))

    def unreachable(self, job: str, command: str, failure: str) -> None:
        self.said.append(("unreachable", job, command, failure))

    def refused(self, counter: str, problem: str) -> None:
        self.said.append(("refused", counter, problem))
