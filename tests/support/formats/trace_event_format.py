"""A reader of Chrome's trace-event format, written from its published rules and independent of our code."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from typing import Any

PHASES = set("BEXiICbneSTpFstfPNODMVvRc(),")
METADATA = {
    "process_name": "name", "process_labels": "labels", "process_sort_index": "sort_index", "thread_name": "name",
    "thread_sort_index": "sort_index",
}  # fmt: skip
PARTS = {
    "traceEvents", "displayTimeUnit", "systemTraceEvents", "otherData", "stackFrames", "samples",
    "controllerTraceDataKey", "powerTraceAsString",
}  # fmt: skip


def read(text: str) -> list[dict[str, Any]]:
    """Return the complete events of a document; fail if it violates a rule."""
    document = json.loads(text, parse_constant=_no_number)
    assert set(document) <= PARTS
    assert document.get("displayTimeUnit", "ms") in ("ms", "ns")
    assert isinstance(document.get("otherData", {}), dict)
    for event in document["traceEvents"]:
        _check(event)
    complete = [event for event in document["traceEvents"] if event["ph"] == "X"]
    _check_nesting(complete)
    return complete


def _no_number(text: str) -> None:
    raise AssertionError(f"{text} is not JSON")


def _check(event: dict[str, Any]) -> None:
    assert event["ph"] in PHASES
    assert isinstance(event["name"], str)
    assert type(event["pid"]) is int
    assert isinstance(event.get("args", {}), dict)
    if event["ph"] == "M":
        value = event["args"][METADATA[event["name"]]]
        assert isinstance(value, int if event["name"].endswith("sort_index") else str)
        assert type(event.get("tid", 0)) is int
        return
    assert type(event["tid"]) is int
    assert all(isinstance(event[name], int | float) and math.isfinite(event[name]) for name in ("ts", "dur"))
    assert event["dur"] >= 0
    assert isinstance(event["cat"], str)
    assert all(part and part == part.strip() for part in event["cat"].split(","))
    json.dumps(event["args"], allow_nan=False)


def _check_nesting(complete: list[dict[str, Any]]) -> None:
    """Check that events of a thread are nested or disjoint; otherwise viewers drop some."""
    threads: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for event in complete:
        start = round(event["ts"] * 1000)
        threads[event["pid"], event["tid"]].append((start, -(start + round(event["dur"] * 1000))))
    for spans in threads.values():
        ends: list[int] = []
        for start, negative_end in sorted(spans):
            while ends and ends[-1] <= start:
                ends.pop()
            assert not ends or -negative_end <= ends[-1], "calls of a thread overlap"
            ends.append(-negative_end)
