"""OTF2 traces as read by the otf2 package and by otf2-print."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import otf2
from otf2 import events as kinds
from support.system.waiting import DEADLINE_S
from support.tracing.programs import need


@dataclass
class Region:
    """A call as returned by the reader."""

    location: str
    name: str
    start: int
    end: int
    above: Region | None
    attributes: dict[str, Any]
    errno: int = 0
    records: list[Any] = field(default_factory=list)


def regions(trace: Any) -> list[Region]:
    """Return all calls of an open trace; fail if they are not nested or a timestamp decreases."""
    stacks: dict[Any, list[Region]] = {}
    latest: dict[Any, int] = {}
    found: list[Region] = []
    for location, event in trace.events:
        stack = stacks.setdefault(location, [])
        assert event.time >= latest.get(location, 0)
        latest[location] = event.time
        if isinstance(event, kinds.Enter):
            above = stack[-1] if stack else None
            stack.append(Region(location.name, event.region.name, event.time, 0, above, named(event)))
            found.append(stack[-1])
        elif isinstance(event, kinds.Leave):
            ended = stack.pop()
            assert event.region.name == ended.name
            ended.end, ended.errno = event.time, named(event).get("errno", 0)
        else:
            stack[-1].records.append(event)
    assert not any(stacks.values())
    return found


def named(event: Any) -> dict[str, Any]:
    return {attribute.name: value for attribute, value in (event.attributes or {}).items()}


def parents(handle: Any) -> Iterator[Any]:
    """Yield the parents of a handle, the nearest first."""
    while handle.parent is not None:
        handle = handle.parent
        yield handle


def printed(folder: Path, *options: str) -> str:
    """Return the output of Debian's otf2-print for a trace; fail on any warning or error."""
    done = subprocess.run(
        [need("otf2-print"), *options, str(folder / "traces.otf2")],
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout


def opened(folder: Path) -> Any:
    """Open a trace; a context manager."""
    return otf2.reader.open(str(folder / "traces.otf2"))
