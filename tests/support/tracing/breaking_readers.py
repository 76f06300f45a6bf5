"""Readers with one fault each; run in a separate process."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

from iotide.collectors.source import Input, Opened, SourceItem
from iotide.events import StreamInfo


def begin(about: Input) -> list[SourceItem]:
    about.counters["events"] += 1
    return [Opened("s", StreamInfo(job=about.origin.job, source="test"))]


def crashing(path: Path, about: Input) -> Iterator[list[SourceItem]]:
    yield begin(about)
    print("it hurts", file=sys.stderr, flush=True)
    os.kill(os.getpid(), signal.SIGSEGV)


def hanging(path: Path, about: Input) -> Iterator[list[SourceItem]]:
    yield begin(about)
    signal.pause()


def raising(path: Path, about: Input) -> Iterator[list[SourceItem]]:
    yield begin(about)
    raise RuntimeError("out of order")


def printing_garbage(path: Path, about: Input) -> Iterator[list[SourceItem]]:
    yield begin(about)
    for descriptor in range(3, 32):
        try:
            os.write(descriptor, b"m" + b"\xff" * 64)
        except OSError:
            continue
    yield []
