"""Spools whose writer and reader are in one process, which closes their segments; and a receiver of their data."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

from iotide.collectors.settings import SpoolSettings
from iotide.collectors.sources.preload.records.lines import Lines
from iotide.collectors.sources.preload.rings.ended_process import ended_processes_in
from iotide.collectors.sources.preload.spool.spool import SpoolWriter
from iotide.collectors.sources.preload.spool.spool_reader import SpoolReader
from iotide.collectors.sources.preload.spool.unread_copy import UnreadCopy


@contextmanager
def open_spool(bounds: SpoolSettings, copy: UnreadCopy | None = None) -> Iterator[tuple[SpoolWriter, SpoolReader]]:
    """Yield the writer and the reader of a spool."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs, closing(SpoolReader(ours)) as reader:
        ours.setblocking(False)
        theirs.setblocking(False)
        writer = SpoolWriter(theirs, bounds, copy)
        try:
            yield writer, reader
        finally:
            close_segments(writer)


def close_segments(writer: SpoolWriter) -> None:
    """Close the segments of a writer. Outside of tests, its process ends instead."""
    kept = () if writer._unarchived is None else writer._unarchived._read.values()
    for segment in (*writer._unread.values(), *kept):
        os.close(segment.descriptor)
    for descriptor in writer._spare_descriptors:
        os.close(descriptor)


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

    def refused(self, counter: str, problem: str, job: str | None) -> None:
        self.said.append(("refused", counter, problem, job))
